import type { Schema } from '#contract';

/** Pattern of an AWS region name: it becomes a label of host names and part of what is signed. */
export const REGION_PATTERN = '^[A-Za-z0-9-]+$';

/** Field with the region of a service. */
export const regionField = {
  type: 'string',
  pattern: REGION_PATTERN,
  examples: ['eu-west-1'],
} as const satisfies Omit<Extract<Schema, { type: 'string' }>, 'description'>;

/** Field with the role that the gateway assumes. */
export const roleField = {
  type: 'string',
  minLength: 1,
  description: 'ARN of an IAM role to assume through STS, for one hour at a time. Default: none.',
  examples: ['arn:aws:iam::123456789012:role/reader'],
} as const satisfies Schema;
