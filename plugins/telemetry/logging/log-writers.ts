import { definePort, type LogLevel, type Port } from '#contract';

/** A component that writes the application log to a place of its own. */
export interface LogWriter {
  /** Says where it reports that its destination cannot be reached: whatever else is written still is. */
  reportTo(report: Report): void;
}

export type Report = (level: Extract<LogLevel, 'INFO' | 'ERROR'>, text: string) => void;

/** What writes the application log besides `telemetry/logging` itself. */
export const logWriters: Port<LogWriter> = definePort('log writers');

/** What others have to know of `telemetry/logging`. */
export interface ApplicationLog {
  readonly prefix: string;
}

export const applicationLog: Port<ApplicationLog> = definePort('application log');
