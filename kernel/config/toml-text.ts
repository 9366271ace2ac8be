import { createRequire } from 'node:module';
import { type Data, type DataObject, setKey } from '#contract';
import { escapePointer } from './pointer.ts';
import type { Finder, Stretch } from './position.ts';
import type { Format } from './text-format.ts';

type Toml = typeof import('smol-toml');

/** TOML 1.0. Dates become strings; integers keep their digits. */
export const toml: Format = {
  parse(text) {
    const { parse, TomlError } = createRequire(import.meta.url)('smol-toml') as Toml;
    try {
      return { data: toData(parse(text, { integersAsBigInt: true })), faults: [], hadComments: false };
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const start = offsetOf(text, error.line, error.column);
      const message = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '');
      throw Object.assign(new SyntaxError(message, { cause: error }), { stretch: { start, end: start } });
    }
  },
  finder: tomlFinder,
};

function toData(value: unknown): Data {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new SyntaxError(`${value} is no JSON number`);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toData);
  if (typeof value !== 'object' || value === null) return value as Data;
  const object: DataObject = {};
  for (const [key, inner] of Object.entries(value)) setKey(object, key, toData(inner));
  return object;
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let current = 1; current < line; current++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}

const header = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/;
const assignment = /^(\s*)((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)(\s*=\s*)(.*)$/;
const keyPart = /[\w-]+|"([^"]*)"|'([^']*)'/g;

/** Finds tables and the keys written one to a line; what stands inside an inline value is found as that value. */
function tomlFinder(text: string): Finder {
  const keys = new Map<string, Stretch>();
  const values = new Map<string, Stretch>();
  const lengths = new Map<string, number>();
  let table = '';
  let offset = 0;

  /** The pointer of a dotted name; steps through lists lead to their last item. */
  const walk = (base: string, parts: readonly string[]): string =>
    parts.reduce((pointer, part) => {
      const inner = `${pointer}/${escapePointer(part)}`;
      const length = lengths.get(inner);
      return length === undefined ? inner : `${inner}/${length - 1}`;
    }, base);

  for (const line of text.split('\n')) {
    const stretch = { start: offset + (line.length - line.trimStart().length), end: offset + line.trimEnd().length };
    const opened = header.exec(line);
    const assigned = opened ? null : assignment.exec(line);
    if (opened) {
      const parts = namesOf(opened[2]!);
      const list = walk('', parts.slice(0, -1)) + '/' + escapePointer(parts.at(-1)!);
      if (opened[1] === '[[') lengths.set(list, (lengths.get(list) ?? 0) + 1);
      table = walk('', parts);
      for (const pointer of [list, table]) {
        if (keys.has(pointer)) continue;
        keys.set(pointer, stretch);
        values.set(pointer, stretch);
      }
    } else if (assigned) {
      const [, indent, name, equals, value] = assigned as unknown as [string, string, string, string, string];
      const pointer = walk(table, namesOf(name));
      const start = offset + indent.length;
      keys.set(pointer, { start, end: start + name.length });
      const from = start + name.length + equals.length;
      values.set(pointer, { start: from, end: from + value.trimEnd().length });
    }
    offset += line.length + 1;
  }
  return (steps, part) => {
    if (steps.length === 0) return { start: 0, end: text.length };
    for (let length = steps.length; length > 0; length--) {
      const pointer = steps
        .slice(0, length)
        .map((step) => '/' + escapePointer(step))
        .join('');
      const found = (part === 'key' && length === steps.length ? keys : values).get(pointer);
      if (found) return found;
    }
    return undefined;
  };
}

function namesOf(name: string): string[] {
  return Array.from(name.matchAll(keyPart), ([bare, basic, literal]) => basic ?? literal ?? bare);
}
