import { escapeControls, type Logging, type LogLevel, type LogLine, type LogOutput, type LogSinks } from '#contract';
import type { LogSettings } from './log.ts';
import { secondStamp } from './timestamp.ts';

/** What all plugins of one configuration say about logs, as one. */
export interface JoinedLogging extends Pick<Logging, 'accessSink'> {
  /** Who writes the access log, in order; nobody for the built-in line. */
  readonly access: readonly NonNullable<Logging['access']>[];
  readonly application: LogSettings;
  /** False when no plugin said anything about the application log: the kernel's own way is used. */
  readonly configured: boolean;
}

/** Joins what plugins attached, in their order. @param defaultLevel where none of them names one. */
export function joinLogging(
  attached: readonly Logging[],
  sinks: LogSinks,
  defaultLevel: LogLevel = 'INFO',
): JoinedLogging {
  let level: Logging['level'];
  let format: Logging['format'];
  const access: NonNullable<Logging['access']>[] = [];
  let accessSink: Logging['accessSink'];
  let outputs: LogOutput[] | undefined;
  for (const logging of attached) {
    level ??= logging.level;
    format ??= logging.format;
    if (logging.access) access.push(logging.access);
    accessSink ??= logging.accessSink;
    if (logging.outputs) outputs = [...(outputs ?? []), ...logging.outputs];
  }
  const chosen = outputs ?? [{ sink: sinks.stdout, format: defaultFormat }];
  const reformatted = format;
  return {
    application: {
      level: level ?? defaultLevel,
      outputs: reformatted
        ? chosen.map((output) => (output.fixed ? output : { ...output, format: reformatted }))
        : chosen,
    },
    configured: level !== undefined || outputs !== undefined,
    access,
    ...(accessSink && { accessSink }),
  };
}

const stamp = secondStamp(' ');

/** The line of a gateway without logging component: `yyyy/mm/dd hh:mm:ss GATEWAY LEVEL: message`. */
function defaultFormat(line: LogLine): string {
  return `${stamp(line.time)} GATEWAY ${line.level}: ${escapeControls(line.message)}\n`;
}
