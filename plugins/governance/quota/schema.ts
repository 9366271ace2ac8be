import type { Infer, Schema } from '#contract';
import { strategies } from '../../services/client-identity.ts';
import { tierFields, tierKeySchema } from '../../services/tiers.ts';

const fields = {
  quota_name: {
    type: 'string',
    description: 'A quota that "governance/processors" at the root declares.',
    examples: ['public'],
  },
  tier_key: tierKeySchema,
  tiers: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['rule_name'],
      properties: {
        rule_name: { type: 'string', description: 'A rule of the quota.', examples: ['gold'] },
        ...tierFields,
        strategy: {
          type: 'string',
          enum: strategies,
          description: 'How callers are told apart: by a header, their address or a path variable.',
          default: 'header',
        },
        key: {
          type: 'string',
          description:
            'Name of the header, or of the path variable; for ip, optionally a header that carries the address.',
          default: '',
          examples: ['X-User'],
        },
        comment: { type: 'string', description: 'Note for readers of the configuration. It has no effect.' },
      },
    },
    description: 'The plans, in order: the first that the header is of holds.',
  },
  on_unmatched_tier_allow: {
    type: 'boolean',
    description: 'Callers of no tier pass uncounted; else they are refused with 400.',
    default: false,
  },
  disable_quota_headers: {
    type: 'boolean',
    description: 'Clients are not told what they may use: X-Quota-Limit, X-Quota-Remaining, Retry-After.',
    default: false,
  },
} as const satisfies Record<string, Schema>;

const weight = {
  weight_key: {
    type: 'string',
    minLength: 1,
    description:
      'Field, as a path with dots, or header of the response whose number is used up instead of 1; it is counted after the response, which may use more than is left. Of a stream, every message that has it; `usage` is what its model has used.',
    examples: ['usage.total_tokens'],
  },
  weight_strategy: {
    type: 'string',
    enum: ['body', 'header'],
    description: 'Where weight_key is: body for data, header where bytes pass (no-op).',
    default: 'body',
  },
} as const satisfies Record<string, Schema>;

const required = ['quota_name', 'tier_key', 'tiers'] as const;
const byPlan = {
  quota_name: 'public',
  tier_key: 'X-Plan',
  tiers: [
    { rule_name: 'gold', tier_value: 'gold', key: 'X-User' },
    { rule_name: 'free', tier_value_as: '*', strategy: 'ip' },
  ],
};

const atRoot = 'at the root every request counts as 1';

/** At the root, where a weight is accepted and ignored. */
export const serviceSchema = {
  type: 'object',
  title: 'Quota of the service',
  examples: [byPlan],
  required,
  properties: {
    ...fields,
    weight_key: { ...weight.weight_key, unused: { because: atRoot } },
    weight_strategy: { ...weight.weight_strategy, unused: { because: atRoot } },
  },
} as const satisfies Schema;

export const schema = {
  type: 'object',
  title: 'Quota',
  examples: [byPlan, { ...byPlan, weight_key: 'usage.total_tokens' }],
  required,
  properties: { ...fields, ...weight },
} as const satisfies Schema;

export type QuotaUseConfig = Infer<typeof schema>;
export type TierConfig = QuotaUseConfig['tiers'][number];
