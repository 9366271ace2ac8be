import type { Infer, Schema } from '#contract';
import { jsonTypes } from './shape.ts';

const typeName = { type: 'string', enum: jsonTypes } as const satisfies Schema;

const inner = (description: string) =>
  ({ type: 'recursive', name: 'contractBody', schema: () => bodySchema, description }) as const satisfies Schema;

/** The keywords of JSON Schema that a contract can use. */
const bodySchema: Schema = {
  type: 'object',
  description: 'JSON Schema of a value. Keys that it does not list are allowed.',
  properties: {
    type: {
      anyOf: [typeName, { type: 'array', items: typeName, minItems: 1 }],
      description: 'JSON type, or several. Default: any type.',
    },
    properties: { type: 'object', values: inner('Schema of the value of a key.'), description: 'Known keys.' },
    required: { type: 'array', items: { type: 'string' }, description: 'Keys that are always present.' },
    additionalProperties: inner('Schema of the values of all other keys, if the keys are data, as in a map by ID.'),
    items: inner('Schema of the items of an array.'),
    format: { type: 'string', minLength: 1, description: 'Format of a string.', examples: ['date-time'] },
    enum: { type: 'array', items: { type: 'any' }, minItems: 1, description: 'All values.' },
  },
};

/** A contract: what clients of an endpoint receive for a method. */
export const contractSchema = {
  type: 'object',
  title: 'Contract of an endpoint',
  description: 'Statuses, content types and bodies that clients of an endpoint receive, without values.',
  properties: {
    endpoint: { type: 'string', minLength: 1, description: 'Path of the endpoint, as in the configuration.' },
    method: { type: 'string', minLength: 1, description: 'HTTP method of the requests.' },
    responses: {
      type: 'object',
      minProperties: 1,
      description: 'Responses by status code.',
      published: { propertyNames: { pattern: '^[1-5]\\d\\d$' } },
      values: {
        type: 'object',
        properties: {
          content_type: {
            anyOf: [
              { type: 'string', minLength: 1 },
              { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
            ],
            description: 'Media type without parameters, or several. Default: none, for responses without a body.',
          },
          samples: {
            type: 'integer',
            minimum: 1,
            description: 'Number of responses that the schema was inferred from.',
          },
          schema: { ...inner('JSON Schema of a JSON body.') },
        },
        required: ['samples'],
      },
    },
  },
  required: ['endpoint', 'method', 'responses'],
} as const satisfies Schema;

export type ContractData = Infer<typeof contractSchema>;
