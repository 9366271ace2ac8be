import { CallError, type ConfigErrorOptions } from './errors.ts';

/**
 * A regular expression in the syntax of RE2, as Go's `regexp` has it: no lookaround, no backreferences, and whatever the
 * text, a match takes time in proportion to it. It searches: without `^` and `$` it matches anywhere in a text.
 */
export interface Pattern {
  /** The expression as it is written. */
  readonly source: string;
  /** Matches somewhere in the text. @throws PatternLimit for a text that is too long for it. */
  test(text: string): boolean;
  /** Matches the text as a whole. @throws PatternLimit for a text that is too long for it. */
  testWhole(text: string): boolean;
  /**
   * Prepares the replacement of every match. In the template `$1` and `${1}` stand for a group, `$name` and `${name}` for
   * a named one, `$0` for the match and `$$` for a dollar; a group that is none or did not match stands for nothing, and
   * a name is as long as it can be: `$1x` is the group `1x`.
   * @returns what puts the replacements into a text; it throws PatternLimit when that is too long, takes too long, or becomes too
   *   long.
   */
  replacer(template: string): (text: string) => string;
  /** Differs for different expressions. */
  toString(): string;
}

/** Compiles regular expressions, equal ones once. Not for texts of clients: to compile takes up to a second. */
export interface Patterns {
  /** @throws PatternError for an expression that cannot be used. */
  compile(source: string): Pattern;
}

/** An expression that cannot be used; the message is a clause for whoever wrote it. */
export class PatternError extends Error {
  /** What to write instead. */
  readonly hint: ConfigErrorOptions['hint'];
  /** Where in the expression, when that is known. */
  readonly within: ConfigErrorOptions['within'];

  constructor(message: string, { hint, within, cause }: Pick<ConfigErrorOptions, 'hint' | 'within' | 'cause'> = {}) {
    super(message, { cause });
    this.hint = hint;
    this.within = within;
  }
}

/** A text that would hold the process for too long: whether the expression matches it is not known. */
export class PatternLimit extends CallError {
  constructor(source: string) {
    super('PATTERN_LIMIT', `a text is too long for the pattern '${source}'`);
  }
}
