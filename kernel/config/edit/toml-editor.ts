import { createRequire } from 'node:module';
import { type Data, type DataObject, isObject, printJson } from '#contract';
import type { TextRange } from '../syntax/position.ts';
import { type TomlPlace, tomlPlaces } from '../syntax/toml/places.ts';
import type { CreateEditor } from './editor.ts';
import { fitsOneLine, type InlineStyle, indentAt, indentUnit, printInline } from './editor.ts';

const style: InlineStyle = { scalar: printScalar, key: (name) => printName(name, ''), colon: ' = ' };

/** Edits TOML. A key is renamed in all headers and dotted names that contain it; a table under headers is not a single value. */
export const tomlEditor: CreateEditor = (text) => {
  const { root } = tomlPlaces(text);
  const find = (steps: readonly string[]) =>
    steps.reduce<TomlPlace | undefined>((place, step) => place?.child(step), root);
  const printValue = (value: Data, { start, end }: TextRange) => {
    if (hasNull(value)) return undefined;
    const literal = text.slice(start, end);
    if (typeof value === 'string') return printText(value, literal);
    const inline = printInline(value, style);
    if (!Array.isArray(value) || fitsOneLine(inline, literal)) return inline;
    const indent = indentAt(text, start);
    const lines = value.map((item) => `${indent}${indentUnit(text)}${printInline(item, style)},\n`);
    return `[\n${lines.join('')}${indent}]`;
  };
  return {
    keys: (steps) => find(steps)?.keys ?? [],
    value(steps) {
      const place = find(steps);
      return place?.kind === 'value' ? place.value : undefined;
    },
    printKey: printName,
    printBefore(name, value, offset) {
      const entry = `${printName(name, '')} = ${printInline(value, style)}`;
      const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
      const before = text.slice(lineStart, offset);
      return before.trim() === '' ? `${entry}\n${before}` : `${entry}, `;
    },
    layout(steps) {
      const kind = find(steps)?.kind;
      return kind === 'value' ? 'commas' : kind === 'tables' ? 'headers' : 'lines';
    },
    header: (steps) => find(steps)?.value,
    printEntry(name, value, sibling) {
      const printed = printValue(value, sibling);
      return name === null || printed === undefined ? printed : `${printName(name, '')} = ${printed}`;
    },
    printTable: (name, value) => printTables({ [name]: [value] }),
    printValue,
  };
};

function printScalar(value: Data): string {
  return typeof value === 'string' ? printText(value, '') : printJson(value);
}

function printName(name: string, literal: string): string {
  const isBare = !/^['"]/.test(literal) && /^[\w-]+$/.test(name);
  return isBare ? name : printText(name, literal);
}

function printText(content: string, literal: string): string {
  return literal.startsWith("'") && !/['\p{Cc}]/u.test(content) ? `'${content}'` : printJson(content);
}

/** Prints tables under headers. */
function printTables(data: DataObject): string {
  const { stringify } = createRequire(import.meta.url)('smol-toml') as typeof import('smol-toml');
  return stringify(data as Record<string, never>).trim();
}

/** TOML has no null. */
function hasNull(value: Data): boolean {
  if (Array.isArray(value)) return value.some(hasNull);
  return isObject(value) ? Object.values(value).some(hasNull) : value === null;
}
