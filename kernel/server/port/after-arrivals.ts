/**
 * Calls a function once everything that has already arrived on open sockets has been read: the event loop reads sockets
 * between two immediates. A connection that is closed before then can have a request in its receive buffer, which would
 * be lost.
 */
export function afterArrivals(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
