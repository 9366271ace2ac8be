import type { Run } from '../run.ts';
import { isList, isRawNumber, Struct, sortedKeys, TypedInteger, type Value, valueAt } from '../value.ts';

/** Output of `{{ value }}`. */
export function output(value: Value, run: Run): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '<no value>' : textOf(value, run);
}

/** Formats a value as text like Go's `%v`: `map[a:1 b:2]`, `[1 2]`, `<nil>`. */
export function textOf(value: Value, run: Run): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return run.numbers === 'go' ? shortFloat(value) : jsonNumber(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'undefined':
      return '<nil>';
    default:
      return value === null ? '<nil>' : objectText(value, run);
  }
}

function objectText(value: Exclude<Value, null | undefined>, run: Run): string {
  run.budget.spend(1);
  if (value instanceof TypedInteger || value instanceof Struct) return value.toString();
  if (isRawNumber(value)) return run.numbers === 'go' ? shortFloat(Number(value.rawJSON)) : value.rawJSON;
  const isOfList = isList(value);
  let text = isOfList ? '[' : 'map[';
  const keys = isOfList ? value.keys() : sortedKeys(value as never);
  let isFirst = true;
  for (const key of keys) {
    if (!isFirst) text += ' ';
    isFirst = false;
    const item = isOfList ? value[key as number] : valueAt(value as never, key as string);
    const written = textOf(item, run);
    text += isOfList ? written : `${key}:${written}`;
    run.budget.claim(written.length);
  }
  return `${text}]`;
}

function jsonNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Formats a number like Go's `%v`: with an exponent of at least two digits below 1e-04 and from 1e+06. */
export function shortFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  return power < -4 || power >= 6 ? `${mantissa}e${goExponent(power)}` : decimal(value);
}

/** Formats an exponent: `+06`, `-10`. */
export function goExponent(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Formats a number with all digits, without an exponent. */
export function decimal(value: number): string {
  const text = String(value);
  const [, sign, whole, fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text)!;
  if (exponent === undefined) return text;
  const power = Number(exponent);
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction}${'0'.repeat(power - fraction.length)}`;
}
