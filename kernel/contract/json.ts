import type { Data } from './data.ts';

/** A number that `JSON.parse` could change: 16 or more digits, or an exponent. Inside strings it may find too much. */
const suspicious = /(?:^|[\s:,[])-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;

/** Digits that every number of JavaScript's keeps. */
const SAFE_DIGITS = 15;

const SMALLEST_NORMAL = 2 ** -1022;

/** True when a JSON number keeps its value as a JavaScript number. Linear in the length of the text. */
function isSafe(source: string, value: number): boolean {
  if (Number.isSafeInteger(value) && String(value) === source) return true;
  if (!Number.isFinite(value)) return false;
  const digits = significantDigits(source);
  if (digits === 0) return true;
  return digits <= SAFE_DIGITS && Math.abs(value) >= SMALLEST_NORMAL;
}

/** Digits between the first and the last that is not zero, both included; 0 for a zero. */
function significantDigits(source: string): number {
  let seen = 0;
  let significant = 0;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 101 || code === 69) break;
    if (code < 48 || code > 57) continue;
    if (seen === 0 && code === 48) continue;
    seen++;
    if (code !== 48) significant = seen;
  }
  return significant;
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
