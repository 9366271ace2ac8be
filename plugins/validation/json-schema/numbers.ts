import { type Data, printJson } from '#contract';
import type { Findings, Path } from './findings.ts';
import type { NumberRules, Numeric, SchemaReader } from './node.ts';

/** Value: `0.<digits>` times ten to the power of `magnitude`. Zero has no digits. */
interface Decimal {
  readonly negative: boolean;
  /** Without leading and trailing zeros. */
  readonly digits: string;
  readonly magnitude: number;
}

/** Below zero, zero or above zero, as `a` is less than, equal to or greater than `b`. Never rounds. */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  const left = toDecimal(a);
  const right = toDecimal(b);
  const signs = sign(left) - sign(right);
  if (signs !== 0) return signs;
  return left.negative ? compareSizes(right, left) : compareSizes(left, right);
}

/** True for a number without a fraction, however it is written: `1.0` and `1e3` are whole. */
export function isWhole(value: Numeric): boolean {
  if (typeof value === 'number') return Number.isInteger(value);
  const { digits, magnitude } = toDecimal(value);
  return digits.length <= magnitude || digits === '';
}

/** True when `value` is a whole number of times `unit`, in decimal arithmetic. @param unit greater than zero. */
export function isMultiple(value: Numeric, unit: Numeric): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(unit)) return (value as number) % (unit as number) === 0;
  const left = toDecimal(value);
  const right = toDecimal(unit);
  if (left.digits === '') return true;
  const shift = left.magnitude - left.digits.length - (right.magnitude - right.digits.length);
  // Digits end in no zero, so a value with more decimal places than the unit cannot be a multiple of it.
  if (shift < 0) return false;
  const modulus = BigInt(right.digits);
  return (remainder(left.digits, modulus) * powerOfTen(shift, modulus)) % modulus === 0n;
}

/** Digits that are turned into a `bigint` at once: of millions that would take more than linear time. */
const CHUNK = 256;

function remainder(digits: string, modulus: bigint): bigint {
  let result = 0n;
  for (let at = 0; at < digits.length; at += CHUNK) {
    const chunk = digits.slice(at, at + CHUNK);
    result = (result * 10n ** BigInt(chunk.length) + BigInt(chunk)) % modulus;
  }
  return result;
}

/** A text that is the same for equal numbers and different for others. */
export function numberKey(value: Numeric): string {
  if (typeof value === 'number') return String(value);
  const near = Number(value.rawJSON);
  if (Number.isFinite(near) && compareNumbers(near, value) === 0) return String(near);
  const { negative, digits, magnitude } = toDecimal(value);
  return `${negative ? '-' : ''}.${digits}e${magnitude}`;
}

function sign(value: Decimal): number {
  return value.digits === '' ? 0 : value.negative ? -1 : 1;
}

function compareSizes(a: Decimal, b: Decimal): number {
  if (a.magnitude !== b.magnitude) return a.magnitude - b.magnitude;
  return a.digits < b.digits ? -1 : a.digits > b.digits ? 1 : 0;
}

/** Ten to a power, modulo: exponents may be far too large to be written out. */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let result = 1n % modulus;
  let square = 10n % modulus;
  for (let rest = BigInt(exponent); rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Cut by position: a regular expression may run out of stack on millions of digits. */
function toDecimal(value: Numeric): Decimal {
  const text = typeof value === 'number' ? String(value) : value.rawJSON;
  const negative = text.startsWith('-');
  const power = Math.max(text.indexOf('e'), text.indexOf('E'));
  const mantissa = text.slice(negative ? 1 : 0, power < 0 ? undefined : power);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const exponent = power < 0 ? '0' : text.slice(power + 1);
  const all = whole + fraction;
  // Loops, since a regular expression for trailing zeros takes quadratic time on digits that hold many.
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === ZERO) start += 1;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === ZERO) end -= 1;
  return { negative, digits: all.slice(start, end), magnitude: whole.length - start + clamp(exponent) };
}

const ZERO = 48;

/** Exponents nobody can tell apart any more are all the same. */
function clamp(exponent: string): number {
  return Math.max(-EXPONENT_LIMIT, Math.min(EXPONENT_LIMIT, Number(exponent)));
}

const EXPONENT_LIMIT = 1e15;

/** Reads both forms of the exclusive limits: a number of their own, or the word that `minimum` or `maximum` is one. */
export function readNumberRules(reader: SchemaReader): NumberRules | null {
  const multipleOf = numeric(reader.get('multipleOf'));
  const [minimum, exclusiveMinimum] = readLimit(reader, 'minimum', 'exclusiveMinimum');
  const [maximum, exclusiveMaximum] = readLimit(reader, 'maximum', 'exclusiveMaximum');
  const rules = { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum };
  return Object.values(rules).every((rule) => rule === null) ? null : rules;
}

function readLimit(reader: SchemaReader, inclusive: string, exclusive: string): [Numeric | null, Numeric | null] {
  const limit = numeric(reader.get(inclusive));
  const mark = reader.get(exclusive);
  if (typeof mark !== 'boolean') return [limit, numeric(mark)];
  if (!mark) return [limit, null];
  if (limit === null) throw reader.fault(`must stand beside ${inclusive}`, exclusive);
  return [null, limit];
}

function numeric(value: Data | undefined): Numeric | null {
  return value === undefined ? null : (value as Numeric);
}

export function checkNumber(rules: NumberRules, value: Numeric, path: Path | null, findings: Findings): void {
  const { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum } = rules;
  if (multipleOf !== null && !isMultiple(value, multipleOf)) {
    findings.add(path, `Must be a multiple of ${printJson(multipleOf)}`);
  }
  if (maximum !== null && compareNumbers(value, maximum) > 0) {
    findings.add(path, `Must be less than or equal to ${printJson(maximum)}`);
  }
  if (exclusiveMaximum !== null && compareNumbers(value, exclusiveMaximum) >= 0) {
    findings.add(path, `Must be less than ${printJson(exclusiveMaximum)}`);
  }
  if (minimum !== null && compareNumbers(value, minimum) < 0) {
    findings.add(path, `Must be greater than or equal to ${printJson(minimum)}`);
  }
  if (exclusiveMinimum !== null && compareNumbers(value, exclusiveMinimum) <= 0) {
    findings.add(path, `Must be greater than ${printJson(exclusiveMinimum)}`);
  }
}

/** True for every number, exact ones included. */
export function isNumeric(value: Data): value is Numeric {
  return typeof value === 'number' || JSON.isRawJSON(value);
}
