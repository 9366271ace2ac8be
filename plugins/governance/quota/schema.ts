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

const budget = {
  type: 'object',
  description:
    'Counts tokens of language models (`ai/llm`) instead of requests. Each request reserves the most that it can use before the call; afterwards, the reservation is replaced with the usage that the model reports, so that parallel requests cannot exceed the limit together. A request whose reservation does not fit is rejected with 429. Cannot be combined with `weight_key`.',
  examples: [{ unit: 'total', max_output_tokens: 500 }],
  properties: {
    unit: {
      type: 'string',
      enum: ['total', 'input', 'output', 'cost'],
      description:
        'Counted amount: tokens, or their cost. The cost is calculated with the `price` of the model, or with the `price` of this object if the model has none. Limits of the quota are in the same unit.',
      default: 'total',
    },
    max_output_tokens: {
      type: 'integer',
      minimum: 1,
      description:
        'Maximum number of output tokens of a request. A request can set less with `max_tokens`, `max_completion_tokens` or `max_output_tokens` in its body. Models without an `input_template` are limited to the reserved number.',
      default: 1024,
    },
    bytes_per_token: {
      type: 'number',
      minimum: 1,
      description:
        'Bytes of the request body for which one input token is reserved. With 1, a body of text never has more tokens than reserved; English text has about 4 bytes per token.',
      default: 1,
    },
    price: {
      type: 'object',
      description:
        'Prices of a million tokens, used for reservations and for models without a `price` of their own. Use the highest price of the models. Required for the unit `cost`.',
      required: ['input', 'output'],
      examples: [{ input: 1, output: 5 }],
      properties: {
        input: { type: 'number', minimum: 0, description: 'Price of a million input tokens.' },
        output: { type: 'number', minimum: 0, description: 'Price of a million output tokens.' },
      },
    },
  },
} as const satisfies Schema;

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
  examples: [byPlan, { ...byPlan, weight_key: 'usage.total_tokens' }, { ...byPlan, token_budget: { unit: 'output' } }],
  required,
  properties: { ...fields, ...weight, token_budget: budget },
} as const satisfies Schema;

export type QuotaUseConfig = Infer<typeof schema>;
export type BudgetConfig = NonNullable<QuotaUseConfig['token_budget']>;
export type TierConfig = QuotaUseConfig['tiers'][number];
