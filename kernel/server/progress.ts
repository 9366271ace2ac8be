/** How much a client has taken of what was written for it. */
export interface Taken {
  /** Bytes are waiting for the client. */
  readonly waits: boolean;
  /** Two numbers, of which one changes whenever the client takes something. */
  readonly bytes: number;
  readonly rest: number;
}

/** Tells how long a client has taken nothing of what waits for it. */
export class Progress {
  #bytes = -1;
  #rest = -1;
  #since = 0;

  /**
   * Looks again.
   * @param now monotonic, in milliseconds.
   * @returns time since the client was last seen to take something, in milliseconds; 0 where nothing waits.
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

/** Longest pause between two looks, in milliseconds. */
const LONGEST_PAUSE_MS = 5000;

/** Pause between two looks, so that a stall is noticed at most a quarter of its limit late. */
export function pauseOf(limitMs: number): number {
  return Math.min(Math.ceil(limitMs / 4), LONGEST_PAUSE_MS);
}
