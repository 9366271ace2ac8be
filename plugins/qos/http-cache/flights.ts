import type { Call } from '#contract';

/** How a fetch that others wait for has ended. */
export type Landing = 'kept' | 'not kept' | 'failed' | 'cancelled';

/** How long it is remembered that the answer of an address is not kept, in milliseconds. */
const REMEMBERED_MS = 5_000;
/** Addresses of which that is remembered. */
const MAX_REMEMBERED = 500;

/** Longest wait for the fetch of another request, in milliseconds; never more than half of what a request has left. */
const MAX_WAIT_MS = 5_000;

/** A fetch under way, and those who wait for what comes of it. */
class Flight {
  #waiting: ((landing: Landing) => void)[] = [];

  /**
   * Resolves with how it ended, with `cancelled` when the call of whoever waits is given up, and with `failed` when it takes so
   * long that whoever waits had better ask for itself.
   */
  wait(call: Call): Promise<Landing> {
    return new Promise((resolve) => {
      const go = (landing: Landing): void => {
        clearTimeout(timer);
        cancellation.off();
        resolve(landing);
      };
      const timer = setTimeout(go, Math.min(MAX_WAIT_MS, Math.max(call.remainingMs / 2, 0)), 'failed');
      const cancellation = call.onCancel(() => {
        clearTimeout(timer);
        resolve('cancelled');
      });
      this.#waiting.push(go);
    });
  }

  land(landing: Landing): void {
    for (const go of this.#waiting.splice(0)) go(landing);
  }
}

/**
 * Of several requests for the same address one asks the backend, and the others wait. For answers that are not kept nobody
 * waits: they would come one after another.
 */
export class Flights {
  readonly #flying = new Map<string, Flight>();
  readonly #unkept = new Map<string, number>();

  /** The fetch to wait for; undefined when there is none, or none worth waiting for. @param now milliseconds since 1970. */
  waitFor(key: string, now: number): Flight | undefined {
    const until = this.#unkept.get(key);
    if (until !== undefined && now < until) return undefined;
    return this.#flying.get(key);
  }

  isFlying(key: string): boolean {
    return this.#flying.has(key);
  }

  /** Begins a fetch that others may wait for. @returns ends it, once; null when there is one already. */
  begin(key: string): ((landing: Landing, now: number) => void) | null {
    if (this.#flying.has(key)) return null;
    const flight = new Flight();
    this.#flying.set(key, flight);
    return (landing, now) => {
      if (this.#flying.get(key) !== flight) return;
      this.#flying.delete(key);
      if (landing === 'kept') this.#unkept.delete(key);
      else if (landing === 'not kept') this.#remember(key, now + REMEMBERED_MS);
      flight.land(landing);
    };
  }

  #remember(key: string, until: number): void {
    this.#unkept.delete(key);
    this.#unkept.set(key, until);
    for (const oldest of this.#unkept.keys()) {
      if (this.#unkept.size <= MAX_REMEMBERED) return;
      this.#unkept.delete(oldest);
    }
  }
}
