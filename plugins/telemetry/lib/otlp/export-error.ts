/** Error for telemetry that the collector did not accept. */
export class ExportError extends Error {
  /** Whether the same request may be sent again. */
  readonly isTransient: boolean;

  constructor(message: string, isTransient: boolean) {
    super(message);
    this.isTransient = isTransient;
  }
}
