import type { Infer, Schema } from '#contract';
import { kindNames, kinds } from './kinds.ts';

export const schema = {
  type: 'object',
  title: 'Redaction of personal data',
  examples: [
    {},
    { kinds: ['email', 'card'], patterns: [{ name: 'employee', pattern: '\\bE-\\d{6}\\b' }], restore: false },
  ],
  properties: {
    kinds: {
      type: 'array',
      items: { type: 'string', enum: kindNames },
      uniqueItems: true,
      description: `Kinds of personal data to replace. ${kinds.map(({ name, finds }) => `\`${name}\`: ${finds}`).join(' ')} Default: all.`,
      examples: [['email', 'phone']],
    },
    patterns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'pattern'],
        properties: {
          name: {
            type: 'string',
            pattern: '^[a-z][a-z0-9_]{0,23}$',
            description: 'Name of the kind. In uppercase, it is part of the placeholder: `[EMPLOYEE_1]`.',
            examples: ['employee'],
          },
          pattern: {
            type: 'string',
            minLength: 1,
            description: 'Expression in RE2 syntax. Each match is replaced as a whole.',
            examples: ['\\bE-\\d{6}\\b'],
          },
        },
      },
      description: 'Additional kinds of data, which are replaced first.',
      default: [],
      examples: [[{ name: 'employee', pattern: '\\bE-\\d{6}\\b' }]],
    },
    restore: {
      type: 'boolean',
      description:
        'Replaces placeholders in the response by the values of the same request, in streams too. Responses that the backend compresses, and binary ones, stay as they are.',
      default: true,
    },
  },
} as const satisfies Schema;

export type RedactionConfig = Infer<typeof schema>;
