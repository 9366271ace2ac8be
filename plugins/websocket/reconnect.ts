import type { Log } from '#contract';
import { type BackoffStrategy, backOff } from '../services/backoff.ts';

/** A connection that was open for less, in milliseconds, is not made again at once. */
const SETTLED_MS = 1000;

/** How a lost connection is made again. */
export interface RetrySettings {
  readonly strategy: BackoffStrategy;
  /** Attempts in a row; 0 or less for no limit. */
  readonly maxRetries: number;
}

/**
 * Attempts to connect, one after another until one succeeds. Those of a connection that is lost as soon as it is there go on
 * counting.
 */
export class Attempts {
  readonly #settings: RetrySettings;
  #made = 0;
  #openedAt = 0;

  constructor(settings: RetrySettings) {
    this.#settings = settings;
  }

  /** There is a connection. */
  succeeded(): void {
    this.#openedAt = performance.now();
  }

  /** Whatever was lost before is forgotten. */
  reset(): void {
    this.#made = 0;
  }

  /**
   * @param name that messages give the connection. @param attempt throws where it fails.
   * @returns null once it is given up, or the signal is aborted.
   */
  async run<T>(name: string, attempt: () => Promise<T>, log: () => Log, signal: AbortSignal): Promise<T | null> {
    const { strategy, maxRetries } = this.#settings;
    if (performance.now() - this.#openedAt >= SETTLED_MS) this.#made = 0;
    while (!signal.aborted) {
      if (maxRetries > 0 && this.#made >= maxRetries) {
        log().critical(`${name}: abandoned after ${maxRetries} attempt${maxRetries === 1 ? '' : 's'}`);
        return null;
      }
      await backOff(strategy, this.#made++, signal);
      if (signal.aborted) break;
      try {
        return await attempt();
      } catch (error) {
        if (!signal.aborted) log().error(`${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
    return null;
  }
}
