import type { Call, CallError } from '#contract';

/**
 * Pool of connections for one backend and account. Each connection handles one exchange at a time. Pools survive
 * reloads. A response that its client reads slowly occupies a connection, but does not count as a request waiting for
 * the backend.
 */
export class Connections {
  readonly #idle: number[];
  readonly #waiting = new Set<(at: number) => void>();
  readonly #read = new Set<number>();
  /** Number of additional requests that may wait for the backend. */
  #places: number;

  /** @param count number of connections. @param places maximum number of requests waiting for the backend at a time. */
  constructor(count: number, places: number) {
    this.#idle = Array.from({ length: count }, (_, index) => count - 1 - index);
    this.#places = places;
  }

  /**
   * Takes the most recently used connection, which is most likely to be authenticated. Waits for a free one, at most
   * until the call ends.
   */
  take(call: Call): number | Promise<number | CallError> {
    if (this.#idle.length > 0 && this.#places > 0) return this.#occupy();
    return new Promise((resolve) => {
      const take = (freed: number): void => {
        cancellation.off();
        resolve(freed);
      };
      this.#waiting.add(take);
      const cancellation = call.onCancel((reason) => {
        this.#waiting.delete(take);
        resolve(reason as CallError);
      });
    });
  }

  /**
   * Marks a connection whose response is still being read, so that another request can be sent over another connection.
   */
  answered(at: number): void {
    this.#read.add(at);
    this.#places++;
    this.#handOn();
  }

  release(at: number): void {
    if (!this.#read.delete(at)) this.#places++;
    this.#idle.push(at);
    this.#handOn();
  }

  #handOn(): void {
    const [next] = this.#waiting;
    if (!next || this.#idle.length === 0 || this.#places === 0) return;
    this.#waiting.delete(next);
    next(this.#occupy());
  }

  #occupy(): number {
    this.#places--;
    return this.#idle.pop()!;
  }
}
