import { httpDate } from '../../shared/http-headers/date.ts';

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

/** Milliseconds of a `Retry-After` header, which contains seconds or a date; 0 if it is absent or invalid. */
export function retryAfterMs(value: string | undefined, now: number): number {
  if (value === undefined) return 0;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const at = httpDate(text);
  return at > now ? at - now : 0;
}
