import { escapeControls, findNear } from '#contract';
import { compileVerb, isVerb } from './go-verb.ts';

/** Returns the value of a variable for a record; undefined and the empty text mean no value. */
export type Read<R> = (record: R) => string | number | undefined;

/** A variable of a pattern, with its format applied. */
export type Variable<R> =
  | {
      readonly read: Read<R> /** Marks a value, such as a terminal color, that is printed unescaped and never missing. */;
      readonly raw?: true;
    }
  | { /** Constant text, the same for every record; may be empty. */ readonly text: string };

/** Variables available to a pattern. */
export interface Vocabulary<R> {
  /** All variable names, for the hint about an unknown one. */
  readonly names: readonly string[];
  /**
   * @param format the part after the colon; empty for none.
   * @returns undefined for an unknown variable. @throws PatternError for an invalid format.
   */
  readonly find: (name: string, format: string) => Variable<R> | undefined;
}

/** An error in a pattern. */
export class PatternError extends Error {
  /** Position in the pattern; the end is exclusive. */
  readonly within: { readonly start: number; readonly end: number } | undefined;
  readonly hint: string | undefined;

  constructor(message: string, within?: { readonly start: number; readonly end: number }, hint?: string) {
    super(within === undefined ? message : `${message} at column ${within.start + 1}`);
    this.within = within;
    this.hint = hint;
  }
}

/**
 * Compiles a pattern: `%{name}` and `%{name:format}` are variables, the rest is text. Values cannot break the line:
 * control characters are escaped, and between double quotes of the pattern also quotes and backslashes, so that a JSON
 * pattern always produces valid JSON.
 * @param marker printed for a variable without a value.
 * @throws PatternError for an unknown or unterminated variable or an invalid format.
 */
export function compilePattern<R>(pattern: string, vocabulary: Vocabulary<R>, marker: string): (record: R) => string {
  const { texts, cells } = parse(pattern, vocabulary, marker);
  const [first = ''] = texts;
  return (record) => {
    let line = first;
    for (let at = 0; at < cells.length; at++) line += cells[at]!(record) + texts[at + 1]!;
    return line;
  };
}

/** Returns the names of the variables in a pattern, without formats. */
export function variablesOf(pattern: string): string[] {
  return Array.from(pattern.matchAll(/%\{([^}]*)\}/g), ([, inner = '']) => splitFormat(inner).name);
}

/** Constant texts of a pattern and the variables between them: one more text than variables. */
interface Parsed<R> {
  readonly texts: string[];
  readonly cells: ((record: R) => string)[];
}

function parse<R>(pattern: string, vocabulary: Vocabulary<R>, marker: string): Parsed<R> {
  const texts: string[] = [];
  const cells: ((record: R) => string)[] = [];
  let text = '';
  let end = 0;
  let quoted = false;
  for (let start = pattern.indexOf('%{'); start >= 0; start = pattern.indexOf('%{', end)) {
    const close = pattern.indexOf('}', start);
    if (close < 0) throw new PatternError('unterminated %{', { start, end: pattern.length });
    const literal = pattern.slice(end, start);
    text += literal;
    quoted = quoted !== (literal.split('"').length % 2 === 0);
    const inner = pattern.slice(start + 2, close);
    end = close + 1;
    const variable = resolve(inner, vocabulary, start);
    if ('text' in variable) {
      text += quoted ? escapeQuoted(variable.text) : escapeControls(variable.text);
      continue;
    }
    texts.push(text);
    text = '';
    cells.push(variable.raw ? (variable.read as (record: R) => string) : cell(variable.read, quoted, marker));
  }
  texts.push(text + pattern.slice(end));
  return { texts, cells };
}

/** @param start offset of the variable in the pattern. */
function resolve<R>(inner: string, vocabulary: Vocabulary<R>, start: number): Variable<R> {
  const within = { start, end: start + inner.length + 3 };
  const { name, format } = splitFormat(inner);
  let variable: Variable<R> | undefined;
  try {
    variable = vocabulary.find(name, format);
  } catch (error) {
    if (error instanceof PatternError) throw new PatternError(error.message, within);
    throw error;
  }
  if (!variable) {
    const near = findNear(name, vocabulary.names);
    const hint = near ? `did you mean %{${near.name}}?` : `use one of ${vocabulary.names.join(', ')}`;
    throw new PatternError(`unknown variable %{${inner}}`, within, hint);
  }
  return variable;
}

/** Names of claims and parameters may contain colons: for these, the suffix is a format only if it parses as one. */
function splitFormat(inner: string): { name: string; format: string } {
  const dotted = /^[A-Za-z]+\./.test(inner);
  const colon = dotted ? inner.lastIndexOf(':') : inner.indexOf(':');
  if (colon < 0 || (dotted && !isVerb(inner.slice(colon + 1)))) return { name: inner, format: '' };
  return { name: inner.slice(0, colon), format: inner.slice(colon + 1) };
}

function cell<R>(read: Read<R>, quoted: boolean, marker: string): (record: R) => string {
  const harmless = quoted ? escapeQuoted : escapeControls;
  return (record) => {
    const value = read(record);
    if (value === undefined || value === '') return marker;
    return typeof value === 'number' ? `${value}` : harmless(value);
  };
}

/** Escapes a text for a JSON string, including the control characters that JSON permits. */
function escapeQuoted(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return text;
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\x7f-\x9f\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * A variable that takes a Go verb.
 * @param initial the default verb. @throws PatternError if the pattern's verb is invalid.
 */
export function printed<R>(read: Read<R>, format: string, initial = ''): Variable<R> {
  const verb = format === '' ? initial : format;
  if (verb === '') return { read };
  const print = compileVerb(verb);
  if (!print) throw new PatternError(`unknown format ":${format}"`);
  return {
    read: (record) => {
      const value = read(record);
      return value === undefined || value === '' ? undefined : print(value);
    },
  };
}
