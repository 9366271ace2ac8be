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

export const schema = {
  type: 'object',
  minProperties: 1,
  examples: [
    { add: { 'X-Served-By': ['edge', 'gateway'] } },
    {
      replace: { 'Cache-Control': ['no-store'] },
      rename: { 'X-Old': 'X-New' },
      delete: ['X-Gateway'],
    },
  ],
  properties: {
    add: values('Headers and the values that are added to those they have.', { 'X-Served-By': ['gateway'] }),
    replace: values('Headers and the values that they have instead of their own; they are there in any case.', {
      'Cache-Control': ['no-store'],
    }),
    rename: {
      type: 'object',
      published: { propertyNames },
      values: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      description: 'Headers and their new names. What stood under the new name is overwritten.',
      examples: [{ 'X-Old': 'X-New' }],
    },
    delete: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      description: 'Headers that no response has, whatever the other fields say.',
      examples: [['X-Gateway', 'X-Gateway-Completed']],
    },
  },
} as const;

export type HeaderRules = Infer<typeof schema>;
