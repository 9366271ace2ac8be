import { createRequire } from 'node:module';
import type { TomlError } from 'smol-toml';
import { type Data, type DataObject, setKey } from '#contract';
import { joinPointer, parsePointer } from '../../../values/pointer.ts';
import { finderOf } from '../position.ts';
import type { LiteralStyle } from '../string-literal.ts';
import { type Format, syntaxFault, type TextFault } from '../text-format.ts';
import { tomlPlaces } from './places.ts';
import { tomlFault } from './words.ts';

type Toml = typeof import('smol-toml');

/** TOML 1.0. Dates become strings; integers keep their digits. */
export const toml: Format = {
  parse(text) {
    const { parse, TomlError } = createRequire(import.meta.url)('smol-toml') as Toml;
    try {
      const parsed = parse(text, { integersAsBigInt: true });
      return { data: toData(parsed), faults: notFinite(parsed, text) };
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      return { data: undefined, faults: faultsOf(error, text) };
    }
  },
  finder: (text) => finderOf(tomlPlaces(text).root),
  literalStyle(source) {
    const [, style] = styles.find(([opening]) => source.startsWith(opening)) ?? [];
    return style?.(source);
  },
};

const escapeSequence = /\\(?:U[\da-fA-F]{8}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[ \t]*\r?\n[ \t\r\n]*|[\s\S])/y;

const styles: readonly (readonly [opening: string, style: (source: string) => LiteralStyle])[] = [
  ['"""', (source) => ({ ...long(source), escape: escapeSequence })],
  ["'''", (source) => long(source)],
  ['"', () => ({ open: 1, close: 1, escape: escapeSequence })],
  ["'", () => ({ open: 1, close: 1 })],
];

/** A multi-line string. A line break right after its opening quotes is not part of the value. */
function long(source: string): LiteralStyle {
  return { open: /^...\r?\n?/.exec(source)![0].length, close: 3 };
}

function toData(value: unknown): Data {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
  }
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toData);
  if (typeof value !== 'object' || value === null) return value as Data;
  const object: DataObject = {};
  for (const [key, inner] of Object.entries(value)) setKey(object, key, toData(inner));
  return object;
}

/** Errors for numbers that JSON does not have. */
function notFinite(parsed: unknown, text: string): TextFault[] {
  const results: [pointer: string, value: number][] = [];
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value === 'number' && !Number.isFinite(value)) results.push([pointer, value]);
    if (typeof value !== 'object' || value === null || value instanceof Date) return;
    for (const [key, inner] of Object.entries(value)) visit(inner, joinPointer(pointer, key));
  };
  visit(parsed, '');
  if (results.length === 0) return [];
  const find = toml.finder(text);
  return results.map(([pointer, value]) => ({
    ...syntaxFault(`${value} is not a JSON number`, find(parsePointer(pointer), 'value') ?? { start: 0, end: 0 }),
    pointer,
  }));
}

/** The parser stops at the first error; duplicate keys are reported with both positions. */
function faultsOf(error: TomlError, text: string): TextFault[] {
  const reason = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '');
  if (reason.includes('excessively nested')) throw new RangeError(reason);
  if (reason.startsWith('trying to redefine')) {
    const { duplicates } = tomlPlaces(text);
    if (duplicates.length > 0) return duplicates;
  }
  return [tomlFault(reason, text, offsetOf(text, error.line, error.column))];
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let current = 1; current < line; current++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}
