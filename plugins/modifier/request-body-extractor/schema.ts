import type { Infer } from '#contract';

const operation = {
  type: 'object',
  required: ['type', 'strategy', 'expression', 'target', 'on_conflict'],
  properties: {
    type: {
      type: 'string',
      enum: ['header', 'query_string'],
      description: 'Target type: a header or a query parameter.',
      examples: ['header'],
    },
    strategy: {
      type: 'string',
      enum: ['dotnotation', 'jmespath'],
      description: 'Expression language: dotted object keys or JMESPath.',
      examples: ['dotnotation'],
    },
    expression: {
      type: 'string',
      minLength: 1,
      description: 'Expression that selects the value in the body.',
      examples: ['user.id'],
    },
    target: {
      type: 'string',
      minLength: 1,
      description: 'Name of the header or query parameter.',
      examples: ['X-User'],
    },
    on_conflict: {
      type: 'string',
      enum: ['skip', 'replace', 'append'],
      description: 'Handling of a target that already has values: keep them, replace them, or append the new value.',
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
      description: 'Copy operations, in execution order.',
      examples: [[user]],
    },
  },
} as const;

export type ExtractorConfig = Infer<typeof schema>;
export type OperationConfig = ExtractorConfig['operations'][number];
