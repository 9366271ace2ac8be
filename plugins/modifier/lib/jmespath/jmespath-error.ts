/** An error in an expression, with its position. */
export class JmespathError extends Error {
  /** Suggested replacement. */
  readonly hint: string | undefined;
  /** Position in the expression, in UTF-16 units; the end is exclusive. */
  readonly within: { readonly start: number; readonly end: number } | undefined;

  constructor(message: string, where: { hint?: string; within?: { start: number; end: number } } = {}) {
    super(message);
    this.hint = where.hint;
    this.within = where.within;
  }
}
