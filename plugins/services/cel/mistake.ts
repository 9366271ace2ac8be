import type { ConfigErrorOptions } from '#contract';

/** A mistake in an expression; the message is a clause for whoever wrote it. */
export class CelMistake extends Error {
  readonly code: string;
  /** What to write instead. */
  readonly hint: ConfigErrorOptions['hint'];
  /** Where in the expression, when that is known. */
  readonly within: ConfigErrorOptions['within'];

  constructor(code: string, message: string, { hint, within }: Pick<ConfigErrorOptions, 'hint' | 'within'> = {}) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.within = within;
  }
}
