import type { ConfigErrorOptions } from '#contract';

/** An error in an expression. The message is a clause for the author of the expression. */
export class CelError extends Error {
  readonly code: string;
  /** Suggested replacement. */
  readonly hint: ConfigErrorOptions['hint'];
  /** Position in the expression, if known. */
  readonly within: ConfigErrorOptions['within'];

  constructor(code: string, message: string, { hint, within }: Pick<ConfigErrorOptions, 'hint' | 'within'> = {}) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.within = within;
  }
}
