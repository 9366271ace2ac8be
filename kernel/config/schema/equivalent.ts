import type { Data } from '#contract';
import { readDuration } from './duration.ts';

/**
 * Value that was certainly meant by one of the wrong type: 8080 for `"8080"`, a list for its only entry, `"48h"` for
 * `"2 days"`.
 * @param items type of the entries if a list is expected.
 * @returns undefined if no value is practically certain.
 */
export function equivalent(type: string, value: unknown, items?: string): Data | undefined {
  if (type === 'duration' && value === 0) return '0s';
  return typeof value === 'string' ? readers[type]?.(value, items) : undefined;
}

const readers: Readonly<Record<string, (text: string, items?: string) => Data | undefined>> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined),
  number: (text) => (/^-?\d{1,15}(?:\.\d{1,6})?$/.test(text) ? Number(text) : undefined),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  // A text with a comma or a space may contain several entries, so it is not wrapped as a single one.
  array: (text, items) => (items === 'string' && /^[^,;\s]+$/.test(text) ? [text] : undefined),
  duration: meantDuration,
};

const UNITS: readonly (readonly [words: RegExp, unit: string, factor: number])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/, 'ms', 1],
  [/^(?:s|secs?|seconds?)$/, 's', 1],
  [/^(?:m|mins?|minutes?)$/, 'm', 1],
  [/^(?:h|hrs?|hours?)$/, 'h', 1],
  [/^(?:d|days?)$/, 'h', 24],
];

function meantDuration(text: string): string | undefined {
  const plain = text.trim().toLowerCase();
  if (readDuration(plain) !== undefined) return plain;
  if (plain === '0') return '0s';
  const [, digits, word] = /^(\d{1,9}(?:[.,]\d{1,3})?)\s*([a-z]+)$/.exec(plain) ?? [];
  const unit = word && UNITS.find(([words]) => words.test(word));
  if (!unit || !digits) return undefined;
  const meant = `${Number(digits.replace(',', '.')) * unit[2]}${unit[1]}`;
  return readDuration(meant) === undefined ? undefined : meant;
}

/** Range of a text at which parsing as a duration fails; the end is exclusive. */
export function durationSlip(text: string): { readonly start: number; readonly end: number } {
  const [read] = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h)(?![a-z]))*/i.exec(text)!;
  return { start: read.length === text.length ? 0 : read.length, end: text.length };
}
