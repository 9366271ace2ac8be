import type { Call } from '#contract';

/** Outcome of a fetch that other requests wait for. */
export type Landing = 'kept' | 'not kept' | 'failed' | 'cancelled';

/** Time for which the cache remembers that a variant's response is not stored, in milliseconds. */
const REMEMBERED_MS = 5_000;
/** Maximum number of variants that are remembered because their responses are not stored. */
const MAX_REMEMBERED = 500;

/**
 * Maximum time to wait for another request's fetch before calling the backend as well, in milliseconds; never more than
 * half of the request's remaining time.
 */
export const MAX_WAIT_MS = 5_000;

/** A fetch in progress. */
export class Flight {
  readonly #end = Promise.withResolvers<Landing>();

  /** Resolves with the outcome of the fetch. */
  get landed(): Promise<Landing> {
    return this.#end.promise;
  }

  /** Resolves with the outcome of the fetch, with `cancelled` when the waiting call is canceled, or with `late` after the maximum wait. */
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

/** Variants whose responses were recently not stored. Requests for them do not wait for one another, because they would be served one by one. */
export class Unkept {
  readonly #until = new Map<string, number>();

  /** @param now milliseconds since 1970. */
  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    // A time in the future is ignored: the clock was set back, which would extend it.
    return until !== undefined && now < until && until <= now + REMEMBERED_MS;
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

/** Coalesces requests: one request per variant calls the backend, and concurrent requests for that variant wait for its response if it can be stored. */
export class Flights {
  readonly unkept = new Unkept();
  readonly #flying = new Map<string, Flight>();
  /** Fetches of other processes that requests of this one wait for. */
  readonly #elsewhere = new Map<string, Set<Flight>>();

  /** The fetch in progress for a variant. @param name see `variantName`. */
  flying(name: string): Flight | undefined {
    return this.#flying.get(name);
  }

  /** Starts a fetch that other requests may wait for. @returns a function that ends it, once; null when one is already in progress. */
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

  /** Follows another process's fetch of an address, until `forget`. */
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

  /** Reports the end of another process's fetch. */
  landedElsewhere(key: string, landing: Landing): void {
    for (const flight of this.#elsewhere.get(key) ?? []) flight.land(landing);
  }
}
