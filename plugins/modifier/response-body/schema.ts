import type { Infer } from '#contract';

const field = {
  type: 'string',
  minLength: 1,
  description:
    'Dotted path of the strings to modify. `*` matches every item or value, a number the item at that index.',
  examples: ['user.name', 'items.*.title'],
} as const;

const replace = {
  type: 'string',
  description: 'Replacement text. If empty, the match is removed.',
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
      description: 'Replaces all matches of a regular expression.',
      properties: {
        field,
        find: { type: 'string', description: 'Regular expression (RE2).', examples: ['^.*(\\d{4})$'] },
        replace: {
          type: 'string',
          description:
            'Replacement text. `$1` and `$name` insert groups (in braces if a letter or digit follows), `$$` inserts a dollar sign.',
          examples: ['XXXX-$1'],
        },
      },
    },
    literal: {
      type: 'object',
      required: ['field', 'find', 'replace'],
      description: 'Replaces all occurrences of a text.',
      properties: {
        field,
        find: {
          type: 'string',
          minLength: 1,
          description: 'Text to find (case-sensitive).',
          examples: [' items left'],
        },
        replace,
      },
    },
    trim: {
      type: 'object',
      required: ['field', 'find'],
      description: 'Removes characters from both ends of a string.',
      properties: {
        field,
        find: { type: 'string', minLength: 1, description: 'Characters to remove.', examples: [' \t'] },
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
      description:
        'Modifiers, in execution order. Operations within one item run in the order regexp, literal, trim, lower, upper.',
      default: [],
      examples: [[{ trim: { field: 'user.name', find: ' ' } }]],
    },
  },
} as const;

export type ModifiersConfig = Infer<typeof modifiersSchema>;
export type ModifierConfig = ModifiersConfig['modifiers'][number];
