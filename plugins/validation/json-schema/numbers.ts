import { type Data, printJson } from '#contract';
import { compareNumbers, type Numeric, toDecimal } from '../../shared/values/exact-values.ts';
import type { Findings, Path } from './findings.ts';
import type { NumberRules, SchemaReader } from './node.ts';

/** Returns whether `value` is an integer multiple of `unit`, in decimal arithmetic. @param unit greater than zero. */
export function isMultiple(value: Numeric, unit: Numeric): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(unit)) return (value as number) % (unit as number) === 0;
  const left = toDecimal(value);
  const right = toDecimal(unit);
  if (left.digits === '') return true;
  const shift = left.magnitude - left.digits.length - (right.magnitude - right.digits.length);
  // The value has more decimal places than the unit, so it cannot be a multiple of it: trailing zeros are already
  // removed.
  if (shift < 0) return false;
  const modulus = BigInt(right.digits);
  return (remainder(left.digits, modulus) * powerOfTen(shift, modulus)) % modulus === 0n;
}

/** Number of digits converted to a `bigint` at once: converting millions would take more than linear time. */
const CHUNK = 256;

function remainder(digits: string, modulus: bigint): bigint {
  let result = 0n;
  for (let at = 0; at < digits.length; at += CHUNK) {
    const chunk = digits.slice(at, at + CHUNK);
    result = (result * 10n ** BigInt(chunk.length) + BigInt(chunk)) % modulus;
  }
  return result;
}

/** Returns a text that is the same for equal numbers and different for others. */
export function numberKey(value: Numeric): string {
  if (typeof value === 'number') return String(value);
  const near = Number(value.rawJSON);
  if (Number.isFinite(near) && compareNumbers(near, value) === 0) return String(near);
  const { negative, digits, magnitude } = toDecimal(value);
  return `${negative ? '-' : ''}.${digits}e${magnitude}`;
}

/** Returns a power of ten, modulo `modulus`: exponents may be far too large to be written out. */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let result = 1n % modulus;
  let square = 10n % modulus;
  for (let rest = BigInt(exponent); rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Reads both forms of exclusive limits: a number of their own, or a boolean next to `minimum` or `maximum`. */
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
  if (limit === null) throw reader.fault(`requires ${inclusive}`, exclusive);
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
