import { scheduler } from '../../../contract/internal.ts';
import type { TextRange } from '../position.ts';

/** Range of the list of endpoints in a JSON text, between its brackets, with the range of each endpoint, by position. */
export interface EndpointRanges extends TextRange {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);
const QUOTE = 0x22;
const COMMA = 0x2c;

/**
 * Finds the endpoints in the text of a JSON object without comments; null if the list is missing. For any other text,
 * the result is null or arbitrary ranges. Works in short slices.
 */
export async function findEndpoints(text: string): Promise<EndpointRanges | null> {
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const end = endOfString(text, at);
    const key = text.slice(at + 1, end - 1);
    // The value begins after the colon.
    at = skipSpace(text, skipSpace(text, end) + 1);
    if (key === 'endpoints') {
      if (text[at] !== '[') return null;
      const starts: number[] = [];
      const ends: number[] = [];
      const start = at + 1;
      for (at = skipSpace(text, start); text[at] !== ']'; at = afterComma(text, at)) {
        starts.push(at);
        const end = endOfValue(text, at);
        if (end === at) return null;
        at = end;
        ends.push(at);
        if (scheduler.due) await scheduler.yield();
      }
      return { start, end: at, starts: Float64Array.from(starts), ends: Float64Array.from(ends) };
    }
    at = afterComma(text, endOfValue(text, at));
  }
  return null;
}

/**
 * Items of a list, in a range of its text that begins and ends between two items; arbitrary ranges for a text that is
 * not a list.
 */
export function* itemsIn(text: string, { start, end }: TextRange): Generator<TextRange, void, undefined> {
  for (let at = afterComma(text, start); at < end; ) {
    const item = { start: at, end: endOfValue(text, at) };
    yield item;
    at = Math.max(afterComma(text, item.end), at + 1);
  }
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** Offset after white space and an optional comma. */
function afterComma(text: string, start: number): number {
  const at = skipSpace(text, start);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

/** Offset after a value; the end of the text if the value is not closed. */
function endOfValue(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start);
  if (!OPENING.has(text.charCodeAt(start))) {
    let at = start;
    while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at++;
    return at;
  }
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if (CLOSING.has(code) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Offset after the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
}
