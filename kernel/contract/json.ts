import type { Data } from './data.ts';

/** A number that `JSON.parse` could change has 16 or more digits in a row (a dot may stand between) or an exponent. */
const suspicious = /\d[\d.]{15}|\d[eE]/;

const significantDigits = /^-?0*\.?0*([\d.]*)/;

/** True when a JSON number keeps its value as a JavaScript number. */
function isSafe(source: string, value: number): boolean {
  if (Number.isSafeInteger(value) && !source.includes('.') && !/[eE]/.test(source)) return true;
  if (!Number.isFinite(value)) return false;
  if (value === 0) return /^-?[0.]+(?:[eE].*)?$/.test(source);
  const digits = significantDigits.exec(source)?.[1]?.replace('.', '').replace(/0+$/, '') ?? '';
  return digits.length <= 15 && Math.abs(value) >= Number.MIN_VALUE * 2 ** 52;
}

/**
 * Parses JSON without changing a number: those that JavaScript cannot hold become `RawNumber`s (decision 7). The slow
 * way is taken only for texts in which a cheap scan finds a number that long.
 * @throws SyntaxError as `JSON.parse` does.
 */
export function parseExact(text: string): Data {
  if (!suspicious.test(text)) return JSON.parse(text) as Data;
  return JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' && !isSafe(context.source!, value) ? JSON.rawJSON(context.source!) : value,
  ) as Data;
}

/** Prints data as compact JSON; exact numbers keep their digits. */
export function printJson(data: Data): string {
  return JSON.stringify(data);
}
