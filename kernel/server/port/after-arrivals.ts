/**
 * Calls back once everything that has arrived on open sockets has been read: the event loop polls between two
 * immediates. A connection that is closed before then can have a request in its receive buffer, which would be lost.
 */
export function afterArrivals(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
