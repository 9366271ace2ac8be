import type { Finder, Mend, TextRange } from './position.ts';
import type { LiteralStyle } from './string-literal.ts';

/** A mistake in a text. */
export interface TextFault {
  readonly code: 'CONFIG_SYNTAX' | 'CONFIG_DUPLICATE_KEY';
  /** Empty where the text is too broken to tell. */
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly range: TextRange;
  /** What would make it good without a choice. */
  readonly mend?: Mend | undefined;
  /** Other places that have a part in it. */
  readonly related?: readonly { readonly message: string; readonly range: TextRange }[];
}

/** What a text says. */
export interface Parsed {
  /** Not to be used when there are faults. */
  readonly data: unknown;
  readonly faults: readonly TextFault[];
  /** The first comment, where the format knows none. */
  readonly comment?: TextRange;
}

/** One way to write a configuration. */
export interface Format {
  /** @throws RangeError when the text is nested too deeply. */
  parse(text: string): Parsed;
  finder(text: string): Finder;
  /** How a string literal of this format is written; undefined for what is no string literal. */
  literalStyle(source: string): LiteralStyle | undefined;
}

/** A key that stands twice, placed at the second one. */
export function duplicateKey(key: string, pointer: string, range: TextRange, first: TextRange): TextFault {
  return {
    code: 'CONFIG_DUPLICATE_KEY',
    pointer,
    range,
    message: `duplicate key '${key}'`,
    related: [{ message: 'first defined here', range: first }],
  };
}

/** A place where the text is not what its format asks for. @param mend what to write in the place of the range. */
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
