import type { Call, CallError } from '#contract';

/** The connections of one backend and account, each for one exchange at a time. They outlive configurations. */
export class Connections {
  readonly #idle: number[];
  readonly #waiting = new Set<(at: number) => void>();

  constructor(count: number) {
    this.#idle = Array.from({ length: count }, (_, index) => count - 1 - index);
  }

  /** The one that was used last, which is authenticated most likely. Waits no longer than the call lasts. */
  take(call: Call): number | Promise<number | CallError> {
    const at = this.#idle.pop();
    if (at !== undefined) return at;
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

  release(at: number): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#idle.push(at);
      return;
    }
    this.#waiting.delete(next);
    next(at);
  }
}
