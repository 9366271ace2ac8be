import { httpDate } from '../http-headers/date.ts';

/** Milliseconds of a `Retry-After` header, which contains seconds or a date; 0 if it is absent or invalid. */
export function retryAfterMs(value: string | undefined, now: number): number {
  if (value === undefined) return 0;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const at = httpDate(text);
  return at > now ? at - now : 0;
}
