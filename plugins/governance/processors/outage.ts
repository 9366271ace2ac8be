import type { Log } from '#contract';

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** Schedule of retries after a failure. */
export class Outage {
  readonly #most: number;
  readonly #doubles: boolean;
  readonly #log: Log;
  #failures = 0;
  #nextAt = Number.NEGATIVE_INFINITY;

  /** @param most maximum number of attempts after the first failure; 0 for unlimited attempts without a pause. */
  constructor(most: number, strategy: 'exponential' | 'linear', log: Log) {
    this.#most = most;
    this.#doubles = strategy === 'exponential';
    this.#log = log;
  }

  /** Whether an attempt may be made now; a caller that gets true must make it. @param now monotonic clock, in milliseconds. */
  mayTry(now: number): boolean {
    if (this.#most === 0 || this.#failures === 0) return true;
    if (this.#failures > this.#most || now < this.#nextAt) return false;
    // Prevents further attempts until the outcome of this one is known.
    this.#nextAt = Number.POSITIVE_INFINITY;
    return true;
  }

  succeeded(): void {
    if (this.#failures <= this.#most) this.#failures = 0;
  }

  /**
   * Records an attempt that ended without revealing the state of the server, for example because its client
   * disconnected. The next caller makes another attempt.
   */
  abandoned(now: number): void {
    if (this.#nextAt === Number.POSITIVE_INFINITY) this.#nextAt = now;
  }

  failed(now: number): void {
    if (this.#most === 0 || (now < this.#nextAt && this.#nextAt !== Number.POSITIVE_INFINITY)) return;
    this.#failures++;
    this.#nextAt = now + Math.min(FIRST_MS * (this.#doubles ? 2 ** Math.min(this.#failures - 1, 10) : 1), LONGEST_MS);
    if (this.#failures === this.#most + 1) {
      this.#log.error(`requests are not counted until a reload: ${this.#most} attempts failed`);
    }
  }
}
