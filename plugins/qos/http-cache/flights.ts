import type { Call } from '#contract';

/** How a fetch that others wait for has ended. */
export type Landing = 'kept' | 'not kept' | 'failed' | 'cancelled';

/** How long it is remembered that the answer of an address is not kept, in milliseconds. */
const REMEMBERED_MS = 5_000;
/** Addresses of which that is remembered. */
const MAX_REMEMBERED = 500;

/** Longest wait for the fetch of another request, in milliseconds; never more than half of what a request has left. */
export const MAX_WAIT_MS = 5_000;

/** A fetch under way, and those who wait for what comes of it. */
export class Flight {
  #waiting: ((landing: Landing) => void)[] = [];
  #landing: Landing | null = null;

  /**
   * Resolves with how it ended, with `cancelled` when the call of whoever waits is given up, and with `failed` when it takes so
   * long that whoever waits had better ask for itself.
   */
  wait(call: Call): Promise<Landing> {
    if (this.#landing !== null) return Promise.resolve(this.#landing);
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
    this.#landing ??= landing;
    for (const go of this.#waiting.splice(0)) go(landing);
  }
}

/** Addresses whose answers were not kept a moment ago: to wait for one another's would make requests go one by one. */
export class Unkept {
  readonly #until = new Map<string, number>();

  /** @param now milliseconds since 1970. */
  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    return until !== undefined && now < until;
  }

  /** @param now milliseconds since 1970. */
  note(key: string, landing: Landing, now: number): void {
    if (landing === 'kept' || landing === 'not kept') this.#until.delete(key);
    if (landing !== 'not kept') return;
    this.#until.set(key, now + REMEMBERED_MS);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= MAX_REMEMBERED) return;
      this.#until.delete(oldest);
    }
  }
}

/**
 * Of several requests for the same address one asks the backend, and the others wait. For answers that are not kept nobody
 * waits.
 */
export class Flights {
  readonly unkept = new Unkept();
  readonly #flying = new Map<string, Flight>();
  /** Fetches of other processes that somebody here waits for. */
  readonly #elsewhere = new Map<string, Flight>();

  /** The fetch under way for an address. */
  flying(key: string): Flight | undefined {
    return this.#flying.get(key);
  }

  /** Begins a fetch that others may wait for. @returns ends it, once; null when there is one already. */
  begin(key: string): ((landing: Landing, now: number) => void) | null {
    if (this.#flying.has(key)) return null;
    const flight = new Flight();
    this.#flying.set(key, flight);
    return (landing, now) => {
      if (this.#flying.get(key) !== flight) return;
      this.#flying.delete(key);
      this.unkept.note(key, landing, now);
      flight.land(landing);
    };
  }

  /** From now on it is heard how the fetch of another process for that address ends; until `forget`. */
  expect(key: string): Flight {
    const flight = new Flight();
    this.#elsewhere.set(key, flight);
    return flight;
  }

  forget(key: string, flight: Flight): void {
    if (this.#elsewhere.get(key) === flight) this.#elsewhere.delete(key);
  }

  /** The fetch of another process has ended. */
  landedElsewhere(key: string, landing: Landing): void {
    this.#elsewhere.get(key)?.land(landing);
  }
}
