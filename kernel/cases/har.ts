import { statSync } from 'node:fs';
import { ConfigError, type Data, type Infer, type Schema } from '#contract';
import { compileSchema, decodeText, parseJson } from '../config/index.ts';
import { ConfigErrors, fileErrorReason } from '../contract/internal.ts';
import { readRegularFile } from '../values/regular-file.ts';

/** Maximum size of a recording, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Other fields of a HAR file are irrelevant here. */
const open = { values: { type: 'any' } } as const;

const headers = {
  type: 'array',
  default: [],
  items: {
    type: 'object',
    ...open,
    properties: { name: { type: 'string' }, value: { type: 'string', pattern: '^[^\\r\\n\\0]*$' } },
    required: ['name', 'value'],
  },
} as const satisfies Schema;

const harSchema = {
  type: 'object',
  ...open,
  properties: {
    log: {
      type: 'object',
      ...open,
      properties: {
        entries: {
          type: 'array',
          items: {
            type: 'object',
            ...open,
            properties: {
              startedDateTime: { type: 'string', default: '' },
              request: {
                type: 'object',
                ...open,
                properties: {
                  method: { type: 'string' },
                  url: { type: 'string' },
                  headers,
                  postData: {
                    type: 'object',
                    ...open,
                    properties: {
                      text: { type: 'string', default: '' },
                      encoding: { type: 'string', enum: ['base64', ''] },
                    },
                  },
                },
                required: ['method', 'url'],
              },
              response: {
                type: 'object',
                ...open,
                properties: {
                  status: { type: 'integer', minimum: 0, maximum: 599 },
                  headers,
                  content: {
                    type: 'object',
                    ...open,
                    default: {},
                    properties: { text: { type: 'string' }, encoding: { type: 'string', enum: ['base64', ''] } },
                  },
                },
                required: ['status'],
              },
              // Additional properties that telemetry/recorder writes.
              _sluice: {
                type: 'object',
                ...open,
                properties: {
                  id: { type: 'string', default: '' },
                  endpoint: { type: 'any' },
                  omitted_calls: { type: 'integer', minimum: 0 },
                  backend: { type: 'integer', minimum: 0 },
                  omitted: {
                    type: 'object',
                    ...open,
                    properties: { request: { type: 'string' }, response: { type: 'string' } },
                  },
                },
              },
            },
            required: ['request', 'response'],
          },
        },
      },
      required: ['entries'],
    },
  },
  required: ['log'],
} as const satisfies Schema;

/** An entry of a recording: a request and its response. */
export type Recorded = Infer<typeof harSchema>['log']['entries'][number];

/** Value that telemetry/recorder writes in place of a credential. */
export const MASKED = '***';

/** Values of each recorded header, by lower-case name. */
export function headersOf(pairs: Recorded['request']['headers']): Map<string, string[]> {
  const grouped = Map.groupBy(pairs, ({ name }) => name.toLowerCase());
  return new Map([...grouped].map(([name, all]) => [name, all.map(({ value }) => value)]));
}

/** Path and query of a recorded URL. */
export function targetOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/#.*$/s, '') || '/';
}

/** Bytes of a recorded body. */
export function bodyOf({ text = '', encoding }: Recorded['response']['content']): Buffer {
  return Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
}

/**
 * Reads the entries of a HAR file.
 * @param pointer of the path, for errors. @throws ConfigError TEST_RECORDING.
 */
export function readHar(path: string, pointer: string): readonly Recorded[] {
  const refused = (reason: string, cause?: unknown) =>
    new ConfigError('TEST_RECORDING', pointer, `cannot read the recording ${path}: ${reason}`, { cause });
  let data: Data;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error(`it exceeds ${MAX_BYTES / 1024 / 1024} MiB`);
    data = parseJson(decodeText(readRegularFile(path), path), path);
  } catch (error) {
    throw refused(error instanceof ConfigErrors ? error.errors[0]!.message : fileErrorReason(error), error);
  }
  return entriesOf(data, refused);
}

/** Reads the entries of the text of a HAR file. @throws ConfigError TEST_RECORDING. */
export function parseHar(text: string): readonly Recorded[] {
  return entriesOf(parseJson(text, 'traffic.har'), (reason) => new ConfigError('TEST_RECORDING', '', reason));
}

function entriesOf(data: Data, refused: (reason: string) => ConfigError): readonly Recorded[] {
  const { value, errors } = compileSchema(harSchema)(data, '');
  if (errors.length > 0) throw refused(`${errors[0]!.message} (${errors[0]!.pointer})`);
  return (value as Infer<typeof harSchema>).log.entries;
}
