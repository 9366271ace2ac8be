import type { Data, RawNumber } from './data.ts';
import { parseHolding } from './exact-json.ts';

/** Minimum length of a run of digits, with or without a decimal point, that JavaScript may not represent exactly. */
const LONG = 16;

/**
 * Patterns of an exponent that may exceed the range: the exponent alone, and with its number. Only matches are examined
 * further.
 */
const longExponent = /[eE][+-]?\d{3}/;
const longExponentOfNumber = /(?:^|[\s:,[])-?\d[\d.]*[eE][+-]?\d{3}/;

/** True if a JSON text may contain a number that `JSON.parse` would change. Digits inside strings may also match. */
export function mayLoseDigits(text: string): boolean {
  return hasLongDigits(text) || (longExponent.test(text) && longExponentOfNumber.test(text));
}

/** Examines only every sixteenth character, which finds every run of that length. */
function hasLongDigits(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigitOrDot(text.charCodeAt(at))) continue;
    let digits = 0;
    let from = at;
    while (from > 0 && isDigitOrDot(text.charCodeAt(from - 1))) from--;
    for (at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (!isDigitOrDot(code)) break;
      if (code !== 46) digits++;
    }
    if (digits >= LONG) return true;
  }
  return false;
}

function isDigitOrDot(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46;
}

/** Maximum number of digits that a JavaScript number always preserves. */
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

/** Number of digits from the first to the last nonzero one; 0 for zero. */
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

function exact(source: string): number | RawNumber {
  const value = Number(source);
  return isSafe(source, value) ? value : JSON.rawJSON(source);
}

/**
 * Parses JSON without changing any number: those that JavaScript cannot represent become `RawNumber`s. The slower
 * parser is used only for texts in which a quick scan finds a number that long.
 * @throws SyntaxError as `JSON.parse` does.
 */
export function parseExact(text: string): Data {
  if (!mayLoseDigits(text)) return JSON.parse(text) as Data;
  return parseHolding(text, exact);
}

/** Prints data as compact JSON; exact numbers keep their digits. */
export function printJson(data: Data): string {
  return JSON.stringify(data);
}
