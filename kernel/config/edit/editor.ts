import { type Data, isObject } from '#contract';
import type { TextRange } from '../syntax/position.ts';

/** Knows where the literals of one text stand and how its format writes others in their place. */
export interface Editor {
  /** Every literal of the key at the end of a path; none when it is written nowhere. */
  keys(steps: readonly string[]): readonly TextRange[];
  /** The literal of a value; undefined when the value is not one range of the text. */
  value(steps: readonly string[]): TextRange | undefined;
  /** A key, quoted like the literal it replaces. */
  printKey(name: string, literal: string): string;
  /** A value in the layout of the one it replaces; undefined when the format has no literal for it. */
  printValue(value: Data, position: TextRange): string | undefined;
  /** How the entries of the object or list at the end of a path are written. */
  layout(steps: readonly string[]): Layout;
  /** An entry of a list or object in the layout of the sibling at a range, without what parts them. */
  printEntry(name: string | null, value: Data, sibling: TextRange): string | undefined;
  /** Range of a table's header. Only for formats with table headers. */
  header?(steps: readonly string[]): TextRange | undefined;
  /** Prints a table of a list with its header. Only for formats with table headers. */
  printTable?(name: string, value: Data): string;
  /** A key with its value, and what parts it from the key it is written in front of. */
  printBefore(name: string, value: Data, offset: number): string;
}

/** With commas within brackets; one after another on lines of their own; under headers, as tables of TOML. */
export type Layout = 'commas' | 'lines' | 'headers';

/** @param text a text of the format, known to be valid. */
export type CreateEditor = (text: string) => Editor;

/** Values longer than this, in characters, get a line for every entry. */
const MAX_INLINE = 100;

/** The white space the line of an offset begins with. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))![0];
}

/** What parts a key from the one before it, as before this one: a new line where it begins one, else a space. */
export function gapBefore(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  return lineStart > 0 && before.trim() === '' ? `\n${before}` : ' ';
}

/** The white space one level of a text is indented by; two spaces where none is. */
export function indentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

/** True when a value is to be written on one line, in the place of this literal. */
export function fitsOneLine(printed: string, literal: string): boolean {
  return !literal.includes('\n') && printed.length <= MAX_INLINE;
}

/** How a format writes data on one line. */
export interface InlineStyle {
  readonly scalar: (value: Data) => string;
  readonly key: (name: string) => string;
  /** Between key and value. */
  readonly colon: string;
}

/** Data on one line: `["a", "b"]`, `{"a": 1}`. */
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
