import type { Infer, Schema } from '#contract';
import { headers, mocks, text } from './schema.ts';

/** A spec of KrakenD: one request, and the expected response. */
export const specSchema = {
  type: 'object',
  title: 'End-to-end spec',
  description: 'Request and expected response, in the form of KrakenD.',
  properties: {
    in: {
      type: 'object',
      description: 'Request of the client.',
      properties: {
        url: { type: 'string', minLength: 1, description: 'URL. Its host is sent as `Host`, not called.' },
        method: { type: 'string', default: 'GET', minLength: 1, description: 'Method.' },
        header: { ...headers, default: {} },
        body: { type: 'any', description: 'Body: text, or a value that is sent as JSON. Default: no body.' },
      },
      required: ['url'],
    },
    out: {
      type: 'object',
      description: 'Expected response.',
      properties: {
        status_code: { type: 'integer', minimum: 100, maximum: 599, description: 'Status code. Default: not checked.' },
        header: {
          type: 'object',
          default: {},
          values: { anyOf: [text, { type: 'array', items: text, minItems: 1 }] },
          description: 'All values of each header. An empty value also accepts its absence.',
        },
        body: { type: 'any', description: 'Exact body: text, or JSON. Default: not checked.' },
        schema: { type: 'object', description: 'JSON Schema, draft 07, of the body. Default: not checked.' },
      },
    },
    backends: mocks,
  },
  required: ['in', 'out'],
} as const satisfies Schema;

export type SpecData = Infer<typeof specSchema>;
