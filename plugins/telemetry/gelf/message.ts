import { hostname } from 'node:os';
import type { LogFormat, LogLevel } from '#contract';
import { severities } from '../logging/syslog.ts';

/** A line of the application log as a GELF 1.1 message, in one line of JSON. */
export function gelfFormat(): LogFormat {
  const print = gelfPrinter();
  return ({ message, level, time }) => print(message, level, time);
}

/** Writes a text as a GELF 1.1 message: its first line is the short one, all of it the full one where there are more. */
export function gelfPrinter(): (text: string, level: LogLevel, time: number) => string {
  const host = hostname();
  return (text, level, time) => {
    const whole = text.trimEnd();
    const lineEnd = whole.indexOf('\n');
    const message = {
      version: '1.1',
      host,
      short_message: lineEnd < 0 ? whole : whole.slice(0, lineEnd),
      ...(lineEnd >= 0 && { full_message: whole }),
      timestamp: time / 1000,
      level: severities[level],
    };
    return `${JSON.stringify(message)}\n`;
  };
}
