/** Limits of random pauses, in milliseconds. */
export interface PauseLimits {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Pause before a retry, in milliseconds: random, so that retries of many requests do not coincide.
 * @param retry number of the retry, from 1. @param random from 0 up to 1, exclusive.
 */
export function pauseMs({ baseMs, maxMs }: PauseLimits, retry: number, random: () => number = Math.random): number {
  return random() * Math.min(maxMs, baseMs * 2 ** (retry - 1));
}

/**
 * Milliseconds of a server's `grpc-retry-pushback-ms`. Infinite for a negative or invalid value, which means that the
 * call must not be retried.
 */
export function pushbackMs(value: string): number {
  return /^\d{1,10}$/.test(value) ? Number(value) : Number.POSITIVE_INFINITY;
}
