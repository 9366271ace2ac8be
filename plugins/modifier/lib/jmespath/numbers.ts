import type { Data } from '#contract';
import { compareNumbers, isNumeric, isWhole, type Numeric } from '../../../shared/values/exact-values.ts';

/** Maximum length of numbers in exact arithmetic, in digits; longer ones use JavaScript numbers. */
const MAX_DIGITS = 1000;

/** Compares two values: the result is negative, zero or positive. @param a and `b` are both numbers, or both strings, which are compared by code point. */
export function order(a: Data, b: Data): number {
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  return compareTexts(a as string, b as string);
}

/**
 * Texts are compared by code point; JavaScript compares code units, so characters outside the basic plane would come
 * too early.
 */
function compareTexts(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

const surrogate = /[\ud800-\udfff]/;

export function absolute(value: Numeric): Numeric {
  if (typeof value === 'number') return Math.abs(value);
  return value.rawJSON.startsWith('-') ? JSON.rawJSON(value.rawJSON.slice(1)) : value;
}

export function roundUp(value: Numeric): Numeric {
  return isWhole(value) ? value : Math.ceil(toDouble(value));
}

export function roundDown(value: Numeric): Numeric {
  return isWhole(value) ? value : Math.floor(toDouble(value));
}

/** Returns the sum; whole numbers are added exactly. */
export function total(values: readonly Numeric[]): Numeric {
  const sum = values.reduce<number>((so, value) => so + toDouble(value), 0);
  if (Number.isSafeInteger(sum) && values.every((value) => typeof value === 'number')) return sum;
  return values.every(isPlainInteger)
    ? fromBigInt(values.reduce<bigint>((so, value) => so + toBigInt(value), 0n))
    : sum;
}

/** Returns the mean; null for an empty list. */
export function mean(values: readonly Numeric[]): Numeric | null {
  return values.length === 0 ? null : toDouble(total(values)) / values.length;
}

function toDouble(value: Numeric): number {
  return typeof value === 'number' ? value : Number(value.rawJSON);
}

function isPlainInteger(value: Numeric): boolean {
  if (typeof value === 'number') return Number.isInteger(value);
  return value.rawJSON.length <= MAX_DIGITS && /^-?\d+$/.test(value.rawJSON);
}

function toBigInt(value: Numeric): bigint {
  return BigInt(typeof value === 'number' ? value : value.rawJSON);
}

function fromBigInt(value: bigint): Numeric {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : JSON.rawJSON(String(value));
}
