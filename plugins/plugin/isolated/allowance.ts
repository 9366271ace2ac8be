/** Rate limit: a number of events per second. */
export class Allowance {
  readonly #most: number;
  #since = Number.NEGATIVE_INFINITY;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns the number of events rejected before this one; null if this one is rejected. */
  take(): number | null {
    const now = performance.now();
    if (now - this.#since < 1000) return ++this.#used > this.#most ? null : 0;
    const refused = Math.max(0, this.#used - this.#most);
    this.#since = now;
    this.#used = 1;
    return refused;
  }
}
