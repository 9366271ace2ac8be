/** `DEBUG` is the lowest level, `CRITICAL` the highest. */
export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** A text, or a function that makes it: called only when the line is really written. */
export type LogMessage = string | (() => string);

/** Writes lines of the application log. Never blocks and never throws. */
export interface Log {
  debug(message: LogMessage): void;
  info(message: LogMessage): void;
  warning(message: LogMessage): void;
  error(message: LogMessage): void;
  critical(message: LogMessage): void;
  /** A log that puts a prefix, as in `[ENDPOINT: /path]`, before every message. */
  at(prefix: string): Log;
}

/** A log that drops everything. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warning() {},
  error() {},
  critical() {},
  at: () => silentLog,
};
