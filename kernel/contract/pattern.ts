import { CallError, type ConfigErrorOptions } from './errors.ts';

/**
 * A regular expression in RE2 syntax, as in Go's `regexp`: no lookaround, no backreferences, and matching time linear
 * in the length of the text. Without `^` and `$` it matches anywhere in a text.
 */
export interface Pattern {
  /** The expression as written. */
  readonly source: string;
  /** True if it matches anywhere in the text. @throws PatternLimit for a text that is too long for it. */
  test(text: string): boolean;
  /** True if it matches the whole text. @throws PatternLimit for a text that is too long for it. */
  testWhole(text: string): boolean;
  /**
   * Prepares the replacement of every match. In the template `$1` and `${1}` stand for a group, `$name` and `${name}` for
   * a named one, `$0` for the match and `$$` for a dollar; a group that is none or did not match stands for nothing, and
   * a name is as long as it can be: `$1x` is the group `1x`.
   * @returns what puts the replacements into a text; it throws PatternLimit when that is too long, takes too long, or becomes too
   *   long.
   */
  replacer(template: string): (text: string) => string;
  /** Unique for each expression. */
  toString(): string;
}

/** Compiles regular expressions and caches equal ones. Not for input of clients: compilation takes up to a second. */
export interface Patterns {
  /** @throws PatternError for an invalid expression. */
  compile(source: string): Pattern;
}

/** An invalid expression. The message is a clause for its author. */
export class PatternError extends Error {
  /** Correction, in words. */
  readonly hint: ConfigErrorOptions['hint'];
  /** Range in the expression, if known. */
  readonly within: ConfigErrorOptions['within'];

  constructor(message: string, { hint, within, cause }: Pick<ConfigErrorOptions, 'hint' | 'within' | 'cause'> = {}) {
    super(message, { cause });
    this.hint = hint;
    this.within = within;
  }
}

/** The text is too long to be matched in acceptable time; the result is unknown. */
export class PatternLimit extends CallError {
  constructor(source: string) {
    super('PATTERN_LIMIT', `a text is too long for the pattern '${source}'`);
  }
}
