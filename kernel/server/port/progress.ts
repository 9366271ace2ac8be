/** Progress of a client in reading the data that was written. */
export interface Taken {
  /** Whether bytes are waiting for the client. */
  readonly waits: boolean;
  /** Two counters; at least one changes whenever the client reads. */
  readonly bytes: number;
  readonly rest: number;
}

/** Measures for how long a client has not read pending data. */
export class Progress {
  #bytes = -1;
  #rest = -1;
  #since = 0;

  /**
   * Updates the measurement.
   * @param now monotonic, in milliseconds.
   * @returns time since the client was last seen to read, in milliseconds; 0 when no data is pending.
   */
  stalledMs({ waits, bytes, rest }: Taken, now: number): number {
    if (!waits || bytes !== this.#bytes || rest !== this.#rest) {
      this.#bytes = waits ? bytes : -1;
      this.#rest = rest;
      this.#since = now;
      return 0;
    }
    return now - this.#since;
  }
}

/** Maximum interval between two checks, in milliseconds. */
const LONGEST_PAUSE_MS = 5000;

/** Interval between two checks: a stall is noticed at most a quarter of its limit late. */
export function pauseOf(limitMs: number): number {
  return Math.min(Math.ceil(limitMs / 4), LONGEST_PAUSE_MS);
}
