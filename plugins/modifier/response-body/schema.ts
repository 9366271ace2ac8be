import type { Infer } from '#contract';

const field = {
  type: 'string',
  minLength: 1,
  description: 'Dotted path of the texts: * stands for every item or value, a number for the item at that position.',
  examples: ['user.name', 'items.*.title'],
} as const;

const replace = {
  type: 'string',
  description: 'What takes the place of it; empty to remove it.',
  examples: ['***'],
} as const;

const oneField = (description: string) =>
  ({ type: 'object', required: ['field'], description, properties: { field } }) as const;

const modifier = {
  type: 'object',
  minProperties: 1,
  properties: {
    regexp: {
      type: 'object',
      required: ['field', 'find', 'replace'],
      description: 'Replaces every match of a regular expression.',
      properties: {
        field,
        find: { type: 'string', description: 'Regular expression (RE2).', examples: ['^.*(\\d{4})$'] },
        replace: {
          type: 'string',
          description:
            'What takes the place of a match: $1 and $name stand for groups, in braces where a letter or digit follows, $$ for a dollar.',
          examples: ['XXXX-$1'],
        },
      },
    },
    literal: {
      type: 'object',
      required: ['field', 'find', 'replace'],
      description: 'Replaces a text wherever it stands.',
      properties: {
        field,
        find: { type: 'string', minLength: 1, description: 'Text, in this very case.', examples: [' items left'] },
        replace,
      },
    },
    trim: {
      type: 'object',
      required: ['field', 'find'],
      description: 'Removes characters from both ends.',
      properties: {
        field,
        find: { type: 'string', minLength: 1, description: 'All characters that are removed.', examples: [' \t'] },
      },
    },
    lower: oneField('Writes a text in lower case.'),
    upper: oneField('Writes a text in upper case.'),
  },
} as const;

export const modifiersSchema = {
  type: 'object',
  properties: {
    modifiers: {
      type: 'array',
      items: modifier,
      description: 'Changes of texts, in order; those of one item in the order regexp, literal, trim, lower, upper.',
      default: [],
      examples: [[{ trim: { field: 'user.name', find: ' ' } }]],
    },
  },
} as const;

export type ModifiersConfig = Infer<typeof modifiersSchema>;
export type ModifierConfig = ModifiersConfig['modifiers'][number];
