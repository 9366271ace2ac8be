import type { Log } from '#contract';
import { type BackoffStrategy, backOff } from '../shared/retries/backoff.ts';

/** Minimum lifetime of a connection, in milliseconds; one that was lost earlier is not reopened immediately. */
const SETTLED_MS = 1000;

/** Settings for reconnecting. */
export interface RetrySettings {
  readonly strategy: BackoffStrategy;
  /** Maximum consecutive attempts; 0 or less for no limit. */
  readonly maxRetries: number;
}

/**
 * Consecutive attempts to connect, until one succeeds. A connection that is lost right after it was opened counts as
 * another failed attempt.
 */
export class Attempts {
  readonly #settings: RetrySettings;
  #made = 0;
  #openedAt = 0;

  constructor(settings: RetrySettings) {
    this.#settings = settings;
  }

  /** Records that a connection was opened. */
  succeeded(): void {
    this.#openedAt = performance.now();
  }

  /** Resets the count of attempts. */
  reset(): void {
    this.#made = 0;
  }

  /**
   * @param name name of the connection in messages. @param attempt throws on failure.
   * @returns null once the maximum number of attempts has failed, or the signal is aborted.
   */
  async run<T>(name: string, attempt: () => Promise<T>, log: () => Log, signal: AbortSignal): Promise<T | null> {
    const { strategy, maxRetries } = this.#settings;
    if (performance.now() - this.#openedAt >= SETTLED_MS) this.#made = 0;
    while (!signal.aborted) {
      if (maxRetries > 0 && this.#made >= maxRetries) {
        log().critical(`${name}: not reconnected after ${maxRetries} attempt${maxRetries === 1 ? '' : 's'}`);
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
