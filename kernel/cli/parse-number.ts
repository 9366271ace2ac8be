import { UsageError } from './usage-error.ts';

/** A whole number above 0, as an argument. @param name what it is, for the message. @throws UsageError. */
export function parseCount(text: string, name: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || !Number.isSafeInteger(count)) throw new UsageError(`not ${name}: ${text}`);
  return count;
}

/** A number from 0 on, as an argument. @throws UsageError. */
export function parseAmount(text: string, name: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new UsageError(`not ${name}: ${text}`);
  return Number(text);
}
