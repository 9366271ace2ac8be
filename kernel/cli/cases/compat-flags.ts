import type { Flags } from '#contract';
import type { Binding } from '../../cases/index.ts';
import { readDuration } from '../../config/index.ts';
import { type Arguments, UsageError } from '../arguments.ts';
import { configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { parseHeader } from '../header-flag.ts';

/** Flags of `sluice compat`. */
export const compatFlags = {
  config: configFlag,
  against: {
    type: 'string',
    value: 'URL',
    otherwise: 'required, except to write a configuration only',
    about:
      'Address of the other gateway: KrakenD, or another version of Sluice. Only send requests to your own servers.',
  },
  'write-config': {
    type: 'string',
    value: 'FILE',
    otherwise: 'nothing is written: the other gateway must already call the mocked backends',
    about:
      'Write the configuration for the other gateway, in JSON: the same one, with the addresses of the mocked backends and the port of URL.',
  },
  backends: {
    type: 'string',
    value: 'HOST:PORT',
    default: '127.0.0.1:0',
    about:
      'Address to serve the mocked backends at. Each backend has a port of its own, from PORT on; 0 chooses free ports.',
  },
  advertise: {
    type: 'string',
    value: 'HOST',
    otherwise: 'the host of --backends',
    about: 'Host name by which the other gateway reaches the mocked backends, for example host.docker.internal.',
  },
  wait: { type: 'string', value: 'TIME', default: '60s', about: 'Time to wait until the other gateway responds.' },
  timeout: { type: 'string', value: 'TIME', default: '10s', about: 'Time limit of each request.' },
  tests: {
    type: 'string',
    multiple: true,
    value: 'PATH',
    otherwise: 'requests are generated',
    about: 'File or folder of sluice test to take requests and mocked servers from. Can be repeated.',
  },
  har: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    otherwise: 'requests are generated',
    about: 'HAR file to take requests from. The calls of backends that sluice record wrote respond. Can be repeated.',
  },
  openapi: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    otherwise: 'requests are generated',
    about: 'OpenAPI document to take requests from: examples, or values generated from schemas. Can be repeated.',
  },
  seed: {
    type: 'string',
    value: 'NUMBER',
    otherwise: 'random',
    about: 'Seed of generated values, to repeat a comparison.',
  },
  header: {
    type: 'string',
    short: 'H',
    multiple: true,
    value: "'NAME: VALUE'",
    otherwise: 'none',
    about: 'Header of every request, for example credentials. Can be repeated.',
  },
  'ignore-header': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    otherwise: 'none',
    about: 'Header that is not compared, in responses and in backend requests. Can be repeated.',
  },
  accept: {
    type: 'string',
    value: 'FILE',
    otherwise: 'no difference is accepted',
    about: 'File with accepted differences, one per line, as the text format prints them after "accept:".',
  },
  plugins: pluginsFlag,
  format: {
    type: 'string',
    value: 'FORMAT',
    default: 'text',
    about: 'Output format: text, json, junit or github (annotations).',
  },
} as const satisfies Flags;

export type CompatValues = Arguments<typeof compatFlags>['values'];

/** Parsed values of the flags. */
export interface CompatSettings {
  readonly binding: Binding;
  readonly waitMs: number;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Parses the values of flags. @throws UsageError. */
export function readSettings(values: CompatValues): CompatSettings {
  const [, host, port] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(values.backends) ?? [];
  if (!host || Number(port) > 65535) throw new UsageError(`not a host and port: --backends ${values.backends}`);
  return {
    binding: { host, port: Number(port), advertised: values.advertise ?? host },
    waitMs: timeOf('wait', values.wait),
    timeoutMs: timeOf('timeout', values.timeout),
    headers: Object.fromEntries((values.header ?? []).map(parseHeader)),
  };
}

function timeOf(flag: string, text: string): number {
  const ms = readDuration(text);
  if (ms === undefined || ms <= 0) throw new UsageError(`not a time such as 30s: --${flag} ${text}`);
  return ms;
}
