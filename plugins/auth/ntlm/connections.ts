import type { Call, CallError } from '#contract';

/**
 * The connections of one backend and account, each for one exchange at a time. They outlive configurations. An answer that
 * its client reads slowly takes a connection, but not a place among those that wait for the backend.
 */
export class Connections {
  readonly #idle: number[];
  readonly #waiting = new Set<(at: number) => void>();
  readonly #read = new Set<number>();
  /** Requests that may wait for the backend besides those that do. */
  #places: number;

  /** @param count of connections. @param places most requests that wait for the backend at a time. */
  constructor(count: number, places: number) {
    this.#idle = Array.from({ length: count }, (_, index) => count - 1 - index);
    this.#places = places;
  }

  /** The one that was used last, which is authenticated most likely. Waits no longer than the call lasts. */
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

  /** The backend has answered and the client reads: another request may be sent over another connection. */
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
