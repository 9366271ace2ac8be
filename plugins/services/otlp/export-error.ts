/** The collector did not take what was sent. */
export class ExportError extends Error {
  /** The same may be sent again. */
  readonly isTransient: boolean;

  constructor(message: string, isTransient: boolean) {
    super(message);
    this.isTransient = isTransient;
  }
}
