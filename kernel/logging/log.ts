import winston from 'winston';
import type { Log, LogFormat, LogLevel, LogLine, LogMessage, LogOutput, LogSink } from '#contract';

/** Settings of the application log. Without outputs, nothing is written. */
export interface LogSettings {
  readonly level: LogLevel;
  readonly outputs: readonly LogOutput[];
}

/** The application log of the process. Logs created by `at` follow every change of level and settings. */
export interface ApplicationLog extends Log {
  /** Minimum level; lines below it are not created. May be set at any time. */
  level: LogLevel;
  /** Replaces level, formats and destinations, as on a reload. */
  configure(settings: LogSettings): void;
}

/** Numbers of the levels for winston, where the most important level has the lowest number. */
const levels: Readonly<Record<LogLevel, number>> = { CRITICAL: 0, ERROR: 1, WARNING: 2, INFO: 3, DEBUG: 4 };

const MESSAGE = Symbol.for('message');

/** State shared by the logs of one process. */
interface Core {
  /** Highest number of `levels` that is written; negative without outputs. */
  verbosity: number;
  write(level: LogLevel, component: string, message: LogMessage): void;
}

/**
 * Creates the application log: one winston logger whose transports are the outputs. A line below the level costs one
 * comparison: its message is not built and winston is not called.
 * @param mask hides secrets in a line. Default: lines are written as they are.
 */
export function createLog(settings: LogSettings, mask = (text: string) => text): ApplicationLog {
  const logger = winston.createLogger({ levels, format: unchanged, transports: [] });
  let { level } = settings;
  let count = 0;
  const core: Core = {
    verbosity: -1,
    write(lineLevel, component, message) {
      count += 1;
      const text = mask(typeof message === 'string' ? message : made(message));
      const whole = component === '' ? text : `${component} ${text}`;
      logger.log({ id: count, time: Date.now(), level: lineLevel, component, text, message: whole });
    },
  };
  const setLevel = (next: LogLevel): void => {
    level = next;
    logger.level = next;
    core.verbosity = logger.transports.length > 0 ? levels[next] : -1;
  };
  const configure = ({ level: next, outputs }: LogSettings): void => {
    logger.configure({ levels, level: next, format: unchanged, transports: outputs.map(toTransport) });
    setLevel(next);
  };
  configure(settings);
  return Object.defineProperty(Object.assign(new LogAt(core, ''), { configure }), 'level', {
    get: () => level,
    set: setLevel,
    enumerable: true,
  }) as unknown as ApplicationLog;
}

/** One log per prefix. It contains only the prefix, so that creating it is cheap. */
class LogAt implements Log {
  readonly #core: Core;
  readonly #prefix: string;

  constructor(core: Core, prefix: string) {
    this.#core = core;
    this.#prefix = prefix;
  }

  debug(message: LogMessage): void {
    if (this.#core.verbosity >= 4) this.#write('DEBUG', message);
  }

  info(message: LogMessage): void {
    if (this.#core.verbosity >= 3) this.#write('INFO', message);
  }

  warning(message: LogMessage): void {
    if (this.#core.verbosity >= 2) this.#write('WARNING', message);
  }

  error(message: LogMessage): void {
    if (this.#core.verbosity >= 1) this.#write('ERROR', message);
  }

  critical(message: LogMessage): void {
    if (this.#core.verbosity >= 0) this.#write('CRITICAL', message);
  }

  at(more: string): Log {
    return new LogAt(this.#core, this.#prefix + more);
  }

  #write(level: LogLevel, message: LogMessage): void {
    this.#core.write(level, this.#prefix, message);
  }
}

function made(message: () => string): string {
  try {
    return message();
  } catch (error) {
    return `message could not be formatted: ${error}`;
  }
}

const unchanged = winston.format((info) => info)();

/** Base class of winston's transports, exported under a name that its type declarations omit. */
const { Transport } = winston as unknown as { Transport: new (options: object) => Transport };

type Transport = winston.Logger['transports'][number];

/** Adapts an output to a winston transport: the format of the output produces the text, its sink receives it. */
function toTransport({ format, sink }: LogOutput): Transport {
  return new Transport({ format: toFormat(format), log: toSink(sink) });
}

function toFormat(format: LogFormat): winston.Logform.Format {
  return winston.format((info) => {
    info[MESSAGE] = format(info as unknown as LogLine);
    return info;
  })();
}

function toSink(sink: LogSink): (info: LogLine & { [MESSAGE]: string }, next: () => void) => void {
  return (info, next) => {
    sink.write(info[MESSAGE], info.level);
    next();
  };
}
