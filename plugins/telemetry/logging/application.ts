import { basename } from 'node:path';
import type { LogFormat, LogLevel, LogLine } from '#contract';
import { compileLayout } from './go-time.ts';
import { compilePattern, printed, type Variable, type Vocabulary } from './pattern.ts';

const bold = '\x1b[1m';
const reset = '\x1b[0m';

const colours: Readonly<Record<LogLevel, string>> = {
  DEBUG: '\x1b[36m',
  INFO: '',
  WARNING: '\x1b[33m',
  ERROR: '\x1b[31m',
  CRITICAL: '\x1b[35m',
};

const defaultPattern = '%{time:2006/01/02 - 15:04:05.000} %{color}▶ %{level}%{color:reset} %{message}';
const logstashPattern =
  '{"@timestamp":"%{time:2006-01-02T15:04:05.000+00:00}","@version":1,"level":"%{level}","message":"%{message}","module":"%{module}"}';

/** Pattern of the format `json`, with one field for each piece of information. */
const jsonPattern =
  '{"time":"%{time:2006-01-02T15:04:05.000Z07:00}","level":"%{level}","prefix":"%{prefix}","component":"%{component}","message":"%{text}"}';

/** Settings of an output: whether it prints colors, and whether its times are in UTC. */
interface Surroundings {
  readonly colour: boolean;
  readonly utc?: true;
  /** Value of `%{prefix}`, for the formats that support it. */
  readonly prefix?: string;
}

/** Format `<prefix> yyyy/mm/dd - hh:mm:ss.mmm ▶ LEVEL message`. */
export function defaultFormat(prefix: string, colour: boolean): LogFormat {
  const text = prefix === '' ? '' : `${prefix} `;
  return compile(defaultPattern, { colour }, text);
}

/** Format with one JSON object per line, time in UTC. */
export function logstashFormat(): LogFormat {
  return compile(logstashPattern, { colour: false, utc: true });
}

/** Format with one JSON object per line and the component's prefixes in fields separate from the message. */
export function jsonFormat(prefix: string): LogFormat {
  return compile(jsonPattern, { colour: false, prefix });
}

/** Format with the operator's own pattern; adds a line break if the pattern has none. @throws PatternError */
export function customFormat(pattern: string, colour: boolean): LogFormat {
  return compile(pattern.endsWith('\n') ? pattern.slice(0, -1) : pattern, { colour });
}

/** Format `LEVEL > message`, without a line break. */
export function syslogText(): LogFormat {
  return compilePattern('%{level} > %{message}', vocabulary({ colour: false }), '');
}

function compile(pattern: string, surroundings: Surroundings, prefix = ''): LogFormat {
  const print = compilePattern(pattern, vocabulary(surroundings), '');
  return (line) => `${prefix}${print(line)}\n`;
}

const names = 'id pid time level program message component text module color'.split(' ');

function vocabulary({ colour, utc, prefix }: Surroundings): Vocabulary<LogLine> {
  const find: Vocabulary<LogLine>['find'] = (name, format) => {
    switch (name) {
      case 'id':
        return printed((line) => line.id, format);
      case 'pid':
        return printed(() => process.pid, format);
      case 'time': {
        const print = compileLayout(format === '' ? '2006-01-02T15:04:05.999Z07:00' : format, utc);
        return { read: (line) => print(line.time) };
      }
      case 'level':
        return printed((line) => line.level, format);
      case 'program':
        return printed(() => basename(process.argv[1] ?? process.title), format);
      case 'message':
        return printed((line) => line.message, format);
      case 'component':
        return printed((line) => line.component, format);
      case 'text':
        return printed((line) => line.text, format);
      case 'prefix':
        return prefix === undefined ? undefined : { text: prefix };
      case 'module':
        return printed(() => 'GATEWAY', format);
      case 'color':
        return coloured(format, colour);
      default:
        return undefined;
    }
  };
  return { names: prefix === undefined ? names : [...names, 'prefix'], find };
}

function coloured(format: string, colour: boolean): Variable<LogLine> | undefined {
  if (format !== '' && format !== 'bold' && format !== 'reset') return undefined;
  if (!colour) return { text: '' };
  if (format === 'reset') return { read: () => reset, raw: true };
  if (format === 'bold') return { read: (line) => bold + colours[line.level], raw: true };
  return { read: (line) => colours[line.level], raw: true };
}
