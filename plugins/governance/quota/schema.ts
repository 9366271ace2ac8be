import type { Infer, Schema } from '#contract';
import { strategies } from '../../shared/callers/client-identity.ts';
import { tierFields, tierKeySchema } from '../../shared/callers/tiers.ts';

const fields = {
  quota_name: {
    type: 'string',
    description: 'Name of a quota declared in governance/processors at the root.',
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
        rule_name: {
          type: 'string',
          description: "Name of the quota's rule that applies to the tier.",
          examples: ['gold'],
        },
        ...tierFields,
        strategy: {
          type: 'string',
          enum: strategies,
          description: "Identification of callers: by a header, the client's IP address or a path parameter.",
          default: 'header',
        },
        key: {
          type: 'string',
          description: 'Name of the header or path parameter. For `ip`, optionally a header that carries the address.',
          default: '',
          examples: ['X-User'],
        },
        comment: { type: 'string', description: 'Note for readers of the configuration. It has no effect.' },
      },
    },
    description: 'Tiers, evaluated in order; the first match applies.',
  },
  on_unmatched_tier_allow: {
    type: 'boolean',
    description: 'Accepts callers that match no tier without counting them. If disabled, they are rejected with 400.',
    default: false,
  },
  disable_quota_headers: {
    type: 'boolean',
    description: 'Omits the response headers X-Quota-Limit, X-Quota-Remaining and Retry-After.',
    default: false,
  },
} as const satisfies Record<string, Schema>;

const weight = {
  weight_key: {
    type: 'string',
    minLength: 1,
    description:
      'Response field (dotted path) or response header that contains the number to count instead of 1. It is counted after the response, so usage can exceed the limit. In streams, the number of every message that has the field is counted; the field `usage` contains the token usage of a model.',
    examples: ['usage.total_tokens'],
  },
  weight_strategy: {
    type: 'string',
    enum: ['body', 'header'],
    description: 'Location of weight_key: `body` for decoded data, `header` for responses with no-op.',
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

const atRoot = 'at the root, every request counts as 1';

/** Schema for the root, where a weight is accepted and ignored. */
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
