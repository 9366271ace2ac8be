import type { Call } from '#contract';

/** How a fetch that others wait for has ended. */
export type Landing = 'kept' | 'not kept' | 'failed' | 'cancelled';

/** How long it is remembered that the answer of a variant is not kept, in milliseconds. */
const REMEMBERED_MS = 5_000;
/** Variants of which that is remembered. */
const MAX_REMEMBERED = 500;

/**
 * Longest wait for the fetch of another request before a request also asks the backend itself, in milliseconds; never more than
 * half of the time that the request has left.
 */
export const MAX_WAIT_MS = 5_000;

/** A fetch under way. */
export class Flight {
  readonly #end = Promise.withResolvers<Landing>();

  /** Resolves with how the fetch ended. */
  get landed(): Promise<Landing> {
    return this.#end.promise;
  }

  /** Resolves with how the fetch ended, with `cancelled` when the waiting call is, and with `late` after the longest wait. */
  wait(call: Call): Promise<Landing | 'late'> {
    return new Promise((resolve) => {
      const settle = (landing: Landing | 'late'): void => {
        clearTimeout(timer);
        cancellation?.off();
        resolve(landing);
      };
      const timer = setTimeout(settle, Math.min(MAX_WAIT_MS, Math.max(call.remainingMs / 2, 0)), 'late');
      let cancellation: { off(): void } | null = null;
      cancellation = call.onCancel(() => settle('cancelled'));
      this.landed.then(settle);
    });
  }

  land(landing: Landing): void {
    this.#end.resolve(landing);
  }
}

/** Variants whose answers were not kept a moment ago: requests that waited for one another would be served one by one. */
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

/** Of several requests for the same variant one asks the backend, and the others wait, unless the answer is not kept. */
export class Flights {
  readonly unkept = new Unkept();
  readonly #flying = new Map<string, Flight>();
  /** Fetches of other processes that requests of this one wait for. */
  readonly #elsewhere = new Map<string, Set<Flight>>();

  /** The fetch under way for a variant. @param name see `variantName`. */
  flying(name: string): Flight | undefined {
    return this.#flying.get(name);
  }

  /** Begins a fetch that others may wait for. @returns ends it, once; null when there is one already. */
  begin(name: string): ((landing: Landing, now: number) => void) | null {
    if (this.#flying.has(name)) return null;
    const flight = new Flight();
    this.#flying.set(name, flight);
    return (landing, now) => {
      if (this.#flying.get(name) !== flight) return;
      this.#flying.delete(name);
      this.unkept.note(name, landing, now);
      flight.land(landing);
    };
  }

  /** Follows how the fetch of another process for that address ends, until `forget`. */
  expect(key: string): Flight {
    const flight = new Flight();
    const expected = this.#elsewhere.get(key);
    if (expected) expected.add(flight);
    else this.#elsewhere.set(key, new Set([flight]));
    return flight;
  }

  forget(key: string, flight: Flight): void {
    const expected = this.#elsewhere.get(key);
    expected?.delete(flight);
    if (expected?.size === 0) this.#elsewhere.delete(key);
  }

  /** The fetch of another process has ended. */
  landedElsewhere(key: string, landing: Landing): void {
    for (const flight of this.#elsewhere.get(key) ?? []) flight.land(landing);
  }
}
