import { randomInt } from 'node:crypto';
import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';
import { textOf } from '../print/print.ts';
import type { Run } from '../run.ts';
import { int64, integerOf, isRawNumber, numberOf, type Value } from '../value.ts';
import { addDecimal, divideDecimal, multiplyDecimal } from './decimal.ts';

/** Arithmetic functions. Values other than numbers, and texts that do not contain a number, count as 0. */
export const numberFunctions: Functions = {
  add: fn('any...', (...values) => int64(values.reduce((sum: bigint, value) => sum + toInteger(value), 0n))),
  add1: fn('any', (value) => int64(toInteger(value) + 1n)),
  sub: fn('any any', (one, other) => int64(toInteger(one) - toInteger(other))),
  mul: fn('any any...', (first, ...rest) =>
    int64(rest.reduce((product: bigint, value) => BigInt.asIntN(64, product * toInteger(value)), toInteger(first))),
  ),
  div: fn('any any', (one, other) => int64(toInteger(one) / divisor(other))),
  mod: fn('any any', (one, other) => int64(toInteger(one) % divisor(other))),
  max: fn('any any...', (...values) => int64(largest(values.map(toInteger)))),
  biggest: fn('any any...', (...values) => int64(largest(values.map(toInteger)))),
  min: fn('any any...', (...values) => int64(-largest(values.map((value) => -toInteger(value))))),
  addf: fn('any...', (...values) => values.reduce((sum: number, value) => addDecimal(sum, toFloat(value)), 0)),
  add1f: fn('any', (value) => addDecimal(toFloat(value), 1)),
  subf: fn('any any...', (first, ...rest) =>
    rest.reduce((left: number, value) => addDecimal(left, -toFloat(value)), toFloat(first)),
  ),
  mulf: fn('any any...', (first, ...rest) =>
    rest.reduce((product: number, value) => multiplyDecimal(product, toFloat(value)), toFloat(first)),
  ),
  divf: fn('any any...', (first, ...rest) =>
    rest.reduce((left: number, value) => {
      const by = toFloat(value);
      if (by === 0) throw new Failure('division by zero');
      return divideDecimal(left, by);
    }, toFloat(first)),
  ),
  maxf: fn('any any...', (...values) => values.map(toFloat).reduce((one, other) => Math.max(one, other))),
  minf: fn('any any...', (...values) => values.map(toFloat).reduce((one, other) => Math.min(one, other))),
  floor: fn('any', (value) => Math.floor(toFloat(value))),
  ceil: fn('any', (value) => Math.ceil(toFloat(value))),
  round: fn('any int any...', round),
  int: fn('any', toInteger),
  int64: fn('any', (value) => int64(toInteger(value))),
  float64: fn('any', toFloat),
  atoi: fn('string', (text) => (/^[+-]?\d+$/.test(text) ? inRange(BigInt(text.replace(/^\+/, ''))) : 0n)),
  toDecimal: bounded('any', (run, value) => {
    const text = textOf(value, run);
    const digits = text.replace(/^[-+]/, '');
    const octal = /^[0-7]+$/.test(digits) && digits.length < 30 ? BigInt(`0o${digits}`) : 0n;
    return int64(text.startsWith('-') ? -octal : octal);
  }),
  randInt: fn('int int', (from, to) => {
    if (from >= to) throw new Failure(`no integer lies between ${from} (inclusive) and ${to} (exclusive)`);
    return BigInt(randomInt(from, to));
  }),
  until: bounded('int', (run, end) => integers(run, 0, end, end < 0 ? -1 : 1)),
  untilStep: bounded('int int int', integers),
  seq: bounded('int...', (run, ...limits) => sequence(run, limits).join(' ')),
};

/** Converts any value to an integer as Sprig does: fractions are truncated. */
export function toInteger(value: Value): bigint {
  if (typeof value === 'string') return integerOfText(value.replace(/\.0*$/, ''));
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (isRawNumber(value) && /^-?\d+$/.test(value.rawJSON)) return inRange(BigInt(value.rawJSON));
  return integerOf(value) ?? truncated(numberOf(value) ?? 0);
}

function truncated(value: number): bigint {
  return Number.isFinite(value) ? inRange(BigInt(Math.trunc(value))) : 0n;
}

function integerOfText(text: string): bigint {
  const [, sign, digits] = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d+)$/.exec(text) ?? [];
  if (digits === undefined || digits.length > 70) return 0n;
  if (/^0\d*[89]/.test(digits)) return 0n;
  const value = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const signed = sign === '-' ? -value : value;
  return BigInt.asIntN(64, signed) === signed ? signed : 0n;
}

/** Clamps an integer to 64 bits. */
function inRange(value: bigint): bigint {
  const limit = 1n << 63n;
  return value >= limit ? limit - 1n : value < -limit ? -limit : value;
}

/** Converts any value to a number as Sprig does. */
export function toFloat(value: Value): number {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return numberOf(value) ?? 0;
  return /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(value) ? Number(value) : 0;
}

function divisor(value: Value): bigint {
  const integer = toInteger(value);
  if (integer === 0n) throw new Failure('division by zero');
  return integer;
}

function largest(values: readonly bigint[]): bigint {
  return values.reduce((one, other) => (other > one ? other : one));
}

function round(value: Value, places: number, ...[threshold = 0.5]: Value[]): number {
  const scale = 10 ** places;
  const digits = scale * toFloat(value);
  const rounded = digits - Math.trunc(digits) >= toFloat(threshold) ? Math.ceil(digits) : Math.floor(digits);
  return rounded / scale;
}

function integers(run: Run, start: number, end: number, step: number): bigint[] {
  if (step === 0 || end === start || end > start !== step > 0) return [];
  const count = Math.ceil((end - start) / step);
  run.budget.spend(count);
  return Array.from({ length: count }, (_, index) => BigInt(start + index * step));
}

/** Implements `seq END`, `seq START END` and `seq START STEP END`; both ends are included. */
function sequence(run: Run, limits: readonly number[]): bigint[] {
  if (limits.length === 0 || limits.length > 3) return [];
  const [start, end] = limits.length === 1 ? [1, limits[0]!] : [limits[0]!, limits.at(-1)!];
  const direction = end < start ? -1 : 1;
  const step = limits.length === 3 ? limits[1]! : direction;
  return step > 0 === direction > 0 ? integers(run, start, end + direction, step) : [];
}
