import { escapeControls, type Logging, type LogLevel, type LogLine, type LogOutput, type LogSinks } from '#contract';
import type { LogSettings } from './log.ts';
import { secondStamp } from './timestamp.ts';

/** The log settings of all plugins of one configuration, combined. */
export interface JoinedLogging extends Pick<Logging, 'accessSink'> {
  /** Writers of the access log, in order; empty for the built-in line. */
  readonly access: readonly NonNullable<Logging['access']>[];
  readonly application: LogSettings;
  /** True when neither a plugin nor the owner of the process requested a log: no built-in access line is written. */
  readonly silent: boolean;
  /** False when no plugin configured the application log: the kernel's default is used. */
  readonly configured: boolean;
}

/** Log settings for configurations in which no plugin sets them. */
export interface DefaultLogging {
  readonly level: LogLevel;
  /** Write neither the application log nor the access log. */
  readonly silent: boolean;
}

/** Combines the log hooks of plugins, in their order. */
export function joinLogging(
  attached: readonly Logging[],
  sinks: LogSinks,
  defaults: DefaultLogging = { level: 'INFO', silent: false },
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
  const configured = level !== undefined || outputs !== undefined;
  const silent = defaults.silent && !configured;
  const chosen = outputs ?? (silent ? [] : [{ sink: sinks.stdout, format: defaultFormat }]);
  const reformatted = format;
  return {
    application: {
      level: level ?? defaults.level,
      outputs: reformatted
        ? chosen.map((output) => (output.fixed ? output : { ...output, format: reformatted }))
        : chosen,
    },
    configured,
    silent,
    access,
    ...(accessSink && { accessSink }),
  };
}

const stamp = secondStamp(' ');

/** Formats a line for gateways without a logging component: `yyyy/mm/dd hh:mm:ss GATEWAY LEVEL: message`. */
function defaultFormat(line: LogLine): string {
  return `${stamp(line.time)} GATEWAY ${line.level}: ${escapeControls(line.message)}\n`;
}
