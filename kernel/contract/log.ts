/** Log levels, from `DEBUG` (lowest) to `CRITICAL` (highest). */
export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** A text, or a function that creates it and is only called if the line is written. */
export type LogMessage = string | (() => string);

/** Writes to the application log. Never blocks and never throws. */
export interface Log {
  debug(message: LogMessage): void;
  info(message: LogMessage): void;
  warning(message: LogMessage): void;
  error(message: LogMessage): void;
  critical(message: LogMessage): void;
  /** A log with a prefix before every message, for example `[ENDPOINT: /path]`. */
  at(prefix: string): Log;
}

/** A log that discards everything. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warning() {},
  error() {},
  critical() {},
  at: () => silentLog,
};
