import { CallError, type ConfigErrorOptions } from './errors.ts';

/**
 * A regular expression in RE2 syntax, as in Go's `regexp`: no lookaround, no backreferences, and matching time linear
 * in the length of the text. Without `^` and `$` it matches anywhere in a text.
 */
export interface Pattern {
  /** The expression as written. */
  readonly source: string;
  /** True if the expression matches anywhere in the text. @throws PatternLimit for a text that is too long for the expression. */
  test(text: string): boolean;
  /** True if the expression matches the whole text. @throws PatternLimit for a text that is too long for the expression. */
  testWhole(text: string): boolean;
  /**
   * Prepares the replacement of every match. In the template, `$1` and `${1}` insert a group, `$name` and `${name}` a
   * named group, `$0` the match and `$$` a dollar sign. Groups that do not exist or did not match insert nothing. Names
   * are as long as possible: `$1x` is the group `1x`.
   * @returns a function that replaces the matches in a text; it throws PatternLimit if the text or the result is too long, or if
   *   matching takes too long.
   */
  replacer(template: string): (text: string) => string;
  /** Text of the expression, which is different for different expressions. */
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
    super('PATTERN_LIMIT', `a text is too long to be matched against the pattern '${source}'`);
  }
}
