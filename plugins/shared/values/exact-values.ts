import { type Data, isObject, type RawNumber } from '#contract';

/** A number, or the digits of a number that JavaScript cannot represent. */
export type Numeric = number | RawNumber;

/** Whether a value is a number, including exact ones. */
export function isNumeric(value: Data): value is Numeric {
  return typeof value === 'number' || JSON.isRawJSON(value);
}

/** Compares JSON values: numbers by value, objects regardless of key order. */
export function equals(a: Data, b: Data): boolean {
  if (a === b) return true;
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equals(item, b[index]!));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equals(a[key]!, b[key]!));
}

/** Decimal value: `0.<digits>` times ten to the power of `magnitude`. Zero has no digits. */
export interface Decimal {
  readonly negative: boolean;
  /** Digits without leading and trailing zeros. */
  readonly digits: string;
  readonly magnitude: number;
}

/** Returns a number below zero, zero or above zero if `a` is less than, equal to or greater than `b`. Never rounds. */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  const left = toDecimal(a);
  const right = toDecimal(b);
  const signs = sign(left) - sign(right);
  if (signs !== 0) return signs;
  return left.negative ? compareSizes(right, left) : compareSizes(left, right);
}

/** Whether a number has no fraction, in any notation: `1.0` and `1e3` are whole. */
export function isWhole(value: Numeric): boolean {
  if (typeof value === 'number') return Number.isInteger(value);
  const { digits, magnitude } = toDecimal(value);
  return digits.length <= magnitude || digits === '';
}

function sign(value: Decimal): number {
  return value.digits === '' ? 0 : value.negative ? -1 : 1;
}

function compareSizes(a: Decimal, b: Decimal): number {
  if (a.magnitude !== b.magnitude) return a.magnitude - b.magnitude;
  return a.digits < b.digits ? -1 : a.digits > b.digits ? 1 : 0;
}

/** Splits by position, because a regular expression may run out of stack on millions of digits. */
export function toDecimal(value: Numeric): Decimal {
  const text = typeof value === 'number' ? String(value) : value.rawJSON;
  const negative = text.startsWith('-');
  const power = Math.max(text.indexOf('e'), text.indexOf('E'));
  const mantissa = text.slice(negative ? 1 : 0, power < 0 ? undefined : power);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const exponent = power < 0 ? '0' : text.slice(power + 1);
  const all = whole + fraction;
  // Uses loops, because a regular expression for trailing zeros takes quadratic time on digits with many zeros.
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === ZERO) start += 1;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === ZERO) end -= 1;
  return { negative, digits: all.slice(start, end), magnitude: whole.length - start + clamp(exponent) };
}

const ZERO = 48;

/** Limits an exponent, because numbers beyond any distinguishable magnitude are treated as equal. */
function clamp(exponent: string): number {
  return Math.max(-EXPONENT_LIMIT, Math.min(EXPONENT_LIMIT, Number(exponent)));
}

const EXPONENT_LIMIT = 1e15;
