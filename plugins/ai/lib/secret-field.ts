import type { Schema } from '#contract';

/** Schema of an API key or token that is sent in a header. */
export const secretField = {
  type: 'string',
  minLength: 1,
  pattern: '^[\\x21-\\x7e]*$',
  secret: true,
} as const satisfies Schema;
