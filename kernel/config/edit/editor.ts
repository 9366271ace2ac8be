import { type Data, isObject } from '#contract';
import type { TextRange } from '../syntax/position.ts';

/** Locates the literals of one text and prints replacements in its format. */
export interface Editor {
  /** All literals of the key at the end of a path; empty if the key is not written anywhere. */
  keys(steps: readonly string[]): readonly TextRange[];
  /** Literal of a value; undefined if the value is not a single range of the text. */
  value(steps: readonly string[]): TextRange | undefined;
  /** Prints a key, quoted like the literal that it replaces. */
  printKey(name: string, literal: string): string;
  /** Prints a value in the layout of the one that it replaces; undefined if the format has no literal for it. */
  printValue(value: Data, position: TextRange): string | undefined;
  /** Layout of the entries of the object or list at the end of a path. */
  layout(steps: readonly string[]): Layout;
  /** Prints an entry of a list or object in the layout of the sibling at a range, without separators. */
  printEntry(name: string | null, value: Data, sibling: TextRange): string | undefined;
  /** Range of a table's header. Only for formats with table headers. */
  header?(steps: readonly string[]): TextRange | undefined;
  /** Prints a table of a list with its header. Only for formats with table headers. */
  printTable?(name: string, value: Data): string;
  /** Prints a key with its value, followed by the separator before the key at the offset. */
  printBefore(name: string, value: Data, offset: number): string;
}

/** Layout of entries: separated by commas within brackets, each on a line of its own, or as TOML tables under headers. */
export type Layout = 'commas' | 'lines' | 'headers';

/** @param text valid text in the format. */
export type CreateEditor = (text: string) => Editor;

/** Maximum length of a value on one line, in characters; longer values are printed one entry per line. */
const MAX_INLINE = 100;

/** Leading white space of the line at an offset. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))![0];
}

/** Separator between a new key and the key at the offset: a line break if that key starts its line, otherwise a space. */
export function gapBefore(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  return lineStart > 0 && before.trim() === '' ? `\n${before}` : ' ';
}

/** White space per indentation level of a text. Default: two spaces. */
export function indentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

/** True if a value is printed on one line in place of this literal. */
export function fitsOneLine(printed: string, literal: string): boolean {
  return !literal.includes('\n') && printed.length <= MAX_INLINE;
}

/** Separators of a format for data on one line. */
export interface InlineStyle {
  readonly scalar: (value: Data) => string;
  readonly key: (name: string) => string;
  /** Separator between key and value. */
  readonly colon: string;
}

/** Prints data on one line: `["a", "b"]`, `{"a": 1}`. */
export function printInline(value: Data, style: InlineStyle): string {
  const print = (inner: Data): string => {
    if (Array.isArray(inner)) return `[${inner.map(print).join(', ')}]`;
    if (!isObject(inner)) return style.scalar(inner);
    return `{${Object.entries(inner)
      .map(([key, item]) => style.key(key) + style.colon + print(item))
      .join(', ')}}`;
  };
  return print(value);
}
