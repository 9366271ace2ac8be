import type { Finder, Mend, TextRange } from './position.ts';
import type { LiteralStyle } from './string-literal.ts';

/** An error in a text. */
export interface TextFault {
  readonly code: 'CONFIG_SYNTAX' | 'CONFIG_DUPLICATE_KEY';
  /** JSON pointer of the value with the error; empty if the text is too malformed to determine it. */
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly range: TextRange;
  /** Correction of the error, if only one correction is possible. */
  readonly mend?: Mend | undefined;
  /** Further positions that contribute to the error, each with a message. */
  readonly related?: readonly { readonly message: string; readonly range: TextRange }[];
}

/** Result of parsing a text. */
export interface Parsed {
  /** Must not be used if there are faults. */
  readonly data: unknown;
  readonly faults: readonly TextFault[];
  /** The first comment, if the format does not allow comments. */
  readonly comment?: TextRange;
}

/** A configuration format. */
export interface Format {
  /** @throws RangeError if the text is nested too deeply. */
  parse(text: string): Parsed;
  finder(text: string): Finder;
  /** Syntax of a string literal in this format; undefined if it is not a string literal. */
  literalStyle(source: string): LiteralStyle | undefined;
}

/** Error for a duplicate key, placed at its second occurrence. */
export function duplicateKey(key: string, pointer: string, range: TextRange, first: TextRange): TextFault {
  return {
    code: 'CONFIG_DUPLICATE_KEY',
    pointer,
    range,
    message: `duplicate key '${key}'`,
    related: [{ message: 'first defined here', range: first }],
  };
}

/** Syntax error in a text. @param mend replacement for the range. */
export function syntaxFault(message: string, range: TextRange, hint?: string, mend?: string): TextFault {
  const { start, end } = range;
  return {
    code: 'CONFIG_SYNTAX',
    pointer: '',
    message,
    range,
    hint,
    mend: mend === undefined ? mend : { start, end, text: mend },
  };
}
