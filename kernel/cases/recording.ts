import { statSync } from 'node:fs';
import { ConfigError, type Data, type Infer, isHopByHop, type SandboxResponse, type Schema } from '#contract';
import { compileSchema, decodeText, parseJson } from '../config/index.ts';
import { ConfigErrors, fileErrorReason } from '../contract/internal.ts';
import { readRegularFile } from '../values/regular-file.ts';
import type { Mock } from './mock.ts';

/** Maximum size of a recording, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Other fields of a HAR file are irrelevant here. */
const open = { values: { type: 'any' } } as const;

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
              request: {
                type: 'object',
                ...open,
                properties: { method: { type: 'string' }, url: { type: 'string' } },
                required: ['method', 'url'],
              },
              response: {
                type: 'object',
                ...open,
                properties: {
                  status: { type: 'integer', minimum: 0, maximum: 599 },
                  headers: {
                    type: 'array',
                    default: [],
                    items: {
                      type: 'object',
                      ...open,
                      properties: { name: { type: 'string' }, value: { type: 'string', pattern: '^[^\\r\\n\\0]*$' } },
                      required: ['name', 'value'],
                    },
                  },
                  content: {
                    type: 'object',
                    ...open,
                    default: {},
                    properties: { text: { type: 'string' }, encoding: { type: 'string', enum: ['base64', ''] } },
                  },
                },
                required: ['status'],
              },
              // Written by telemetry/recorder.
              _sluice: {
                type: 'object',
                ...open,
                properties: {
                  backend: { type: 'integer', minimum: 0 },
                  omitted: { type: 'object', ...open, properties: { response: { type: 'string' } } },
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

type Recorded = Infer<typeof harSchema>['log']['entries'][number];

/**
 * Reads the requests of a HAR file as mocks: one for each method and URL, with the responses in order of recording.
 * Entries without a response, whose status is 0, are lost connections. Times are not repeated. Of the entries that
 * telemetry/recorder wrote, those of clients and those whose response was omitted are skipped, and masked values of a
 * query match any value.
 * @param pointer of the path, for errors. @throws ConfigError TEST_RECORDING.
 */
export function readRecording(path: string, pointer: string): Mock[] {
  const responses = new Map<string, SandboxResponse[]>();
  for (const { request, response, _sluice: link } of entriesOf(path, pointer)) {
    if (link && (link.backend === undefined || link.omitted?.response !== undefined)) continue;
    const key = `${request.method.toUpperCase()} ${request.url.replace(/#.*$/s, '')}`;
    const known = responses.get(key);
    if (known) known.push(toResponse(response));
    else responses.set(key, [toResponse(response)]);
  }
  return [...responses].map(([key, recorded]) => ({
    name: key,
    matches: matcherOf(key),
    responses: recorded,
  }));
}

/** Value that telemetry/recorder writes in place of a credential. */
const MASKED = '=***';

function matcherOf(key: string): Mock['matches'] {
  if (!key.includes(MASKED)) return ({ method, url }) => `${method} ${url}` === key;
  const expected = key.split(/[?&]/);
  return ({ method, url }) => {
    const parts = `${method} ${url}`.split(/[?&]/);
    return parts.length === expected.length && parts.every((part, at) => isMasked(part, expected[at]!));
  };
}

function isMasked(part: string, expected: string): boolean {
  return expected.endsWith(MASKED) ? part.startsWith(expected.slice(0, 1 - MASKED.length)) : part === expected;
}

function entriesOf(path: string, pointer: string): readonly Recorded[] {
  const refused = (reason: string, cause?: unknown) =>
    new ConfigError('TEST_RECORDING', pointer, `cannot read the recording ${path}: ${reason}`, { cause });
  let data: Data;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error(`it exceeds ${MAX_BYTES / 1024 / 1024} MiB`);
    data = parseJson(decodeText(readRegularFile(path), path), path);
  } catch (error) {
    throw refused(error instanceof ConfigErrors ? error.errors[0]!.message : fileErrorReason(error), error);
  }
  const { value, errors } = compileSchema(harSchema)(data, '');
  if (errors.length > 0) throw refused(`${errors[0]!.message} (${errors[0]!.pointer})`);
  return (value as Infer<typeof harSchema>).log.entries;
}

/** HAR files contain decoded bodies, so that their length and coding on the wire are not those of the text. */
const ofWire: ReadonlySet<string> = new Set(['content-length', 'content-encoding']);

function toResponse({ status, headers, content: { text = '', encoding } }: Recorded['response']): SandboxResponse {
  const body = Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
  const kept = headers.filter(({ name }) => !isHopByHop(name.toLowerCase()) && !ofWire.has(name.toLowerCase()));
  const list = kept.flatMap(({ name, value }) => [name, value]);
  if (status < 200) return { status: 200, headers: [], body: Buffer.alloc(0), delayMs: 0, failure: 'reset' };
  if (status !== 204 && status !== 304) list.push('Content-Length', String(body.length));
  return { status, headers: list, body, delayMs: 0 };
}
