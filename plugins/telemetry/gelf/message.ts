import { hostname } from 'node:os';
import type { LogFormat, LogLevel } from '#contract';
import { severities } from '../logging/syslog.ts';

/** Formats a line of the application log as a GELF 1.1 message, in one line of JSON. */
export function gelfFormat(): LogFormat {
  const print = gelfPrinter();
  return ({ message, level, time }) => print(message, level, time);
}

/** Formats a text as a GELF 1.1 message: the first line is `short_message`; a text of several lines is also sent whole as `full_message`. */
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
