import { definePort, type LogLevel, type Port } from '#contract';

/** A component that writes the application log to a destination of its own. */
export interface LogWriter {
  /** Sets the function with which the writer reports an unreachable destination to the other outputs. */
  reportTo(report: Report): void;
}

export type Report = (level: Extract<LogLevel, 'INFO' | 'ERROR'>, text: string) => void;

/** Writers of the application log in addition to `telemetry/logging`. */
export const logWriters: Port<LogWriter> = definePort('log writers');

/** Properties of `telemetry/logging` that other components need. */
export interface ApplicationLog {
  readonly prefix: string;
}

export const applicationLog: Port<ApplicationLog> = definePort('application log');
