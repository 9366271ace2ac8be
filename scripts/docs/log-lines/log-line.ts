/** A line of the application log. `…` marks the variable parts. */
export interface LogLine {
  readonly level: 'CRITICAL' | 'ERROR' | 'WARNING' | 'INFO';
  readonly text: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Remedy of a line that reports a good state. */
export const none = 'Nothing to do.';

export type LogAreas = Readonly<Record<string, readonly LogLine[]>>;
