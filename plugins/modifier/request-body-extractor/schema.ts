import type { Infer } from '#contract';

const operation = {
  type: 'object',
  required: ['type', 'strategy', 'expression', 'target', 'on_conflict'],
  properties: {
    type: {
      type: 'string',
      enum: ['header', 'query_string'],
      description: 'Where the value goes: a header or a query parameter.',
      examples: ['header'],
    },
    strategy: {
      type: 'string',
      enum: ['dotnotation', 'jmespath'],
      description: 'How the expression is read: as the keys of nested objects, or as JMESPath.',
      examples: ['dotnotation'],
    },
    expression: {
      type: 'string',
      minLength: 1,
      description: 'Which value of the body.',
      examples: ['user.id'],
    },
    target: {
      type: 'string',
      minLength: 1,
      description: 'Name of the header or parameter.',
      examples: ['X-User'],
    },
    on_conflict: {
      type: 'string',
      enum: ['skip', 'replace', 'append'],
      description: 'What becomes of values that the target has already: they stay alone, go, or get one more.',
      examples: ['replace'],
    },
  },
} as const;

const user = {
  type: 'header',
  strategy: 'dotnotation',
  expression: 'user.id',
  target: 'X-User',
  on_conflict: 'replace',
};
const tag = { type: 'query_string', strategy: 'jmespath', expression: 'tags[0]', target: 'tag', on_conflict: 'append' };

export const schema = {
  type: 'object',
  required: ['operations'],
  examples: [{ operations: [user] }, { operations: [user, tag] }],
  properties: {
    operations: {
      type: 'array',
      minItems: 1,
      items: operation,
      description: 'What is copied, in order.',
      examples: [[user]],
    },
  },
} as const;

export type ExtractorConfig = Infer<typeof schema>;
export type OperationConfig = ExtractorConfig['operations'][number];
