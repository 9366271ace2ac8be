import { HEADER_NAME_PATTERN, type Infer } from '#contract';

const propertyNames = { pattern: HEADER_NAME_PATTERN } as const;

const values = (description: string, example: { readonly [name: string]: readonly string[] }) =>
  ({
    type: 'object',
    published: { propertyNames },
    values: { type: 'array', items: { type: 'string' }, minItems: 1 },
    description,
    examples: [example],
  }) as const;

/** Schema of a field that names a header. */
const filled = (field: string, isList: boolean) => ({
  required: [field],
  properties: { [field]: isList ? { type: 'array', minItems: 1 } : { type: 'object', minProperties: 1 } },
});

export const schema = {
  type: 'object',
  minProperties: 1,
  published: {
    allOf: [
      { anyOf: [filled('add', false), filled('replace', false), filled('rename', false), filled('delete', true)] },
    ],
  },
  examples: [
    { add: { 'X-Served-By': ['edge', 'gateway'] } },
    {
      replace: { 'Cache-Control': ['no-store'] },
      rename: { 'X-Old': 'X-New' },
      delete: ['X-Gateway'],
    },
  ],
  properties: {
    add: values('Headers with values to add to existing ones.', { 'X-Served-By': ['gateway'] }),
    replace: values('Headers to set, replacing existing values.', {
      'Cache-Control': ['no-store'],
    }),
    rename: {
      type: 'object',
      published: { propertyNames },
      values: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      description: 'Mapping of current to new header names. Existing headers with the new name are overwritten.',
      examples: [{ 'X-Old': 'X-New' }],
    },
    delete: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      description: 'Headers to remove from every response, regardless of the other fields.',
      examples: [['X-Gateway', 'X-Gateway-Completed']],
    },
  },
} as const;

export type HeaderRules = Infer<typeof schema>;
