import type { Infer, Schema } from '#contract';
import { failureField } from '../../clients/redis/on-failure.ts';
import { units } from '../quota/windows.ts';

const atOnce = { because: 'a rejection is cached immediately' } as const;

export const schema = {
  type: 'object',
  title: 'Quotas',
  examples: [
    {
      quotas: [
        {
          name: 'public',
          connection_name: 'counters',
          rules: [
            {
              name: 'gold',
              limits: [
                { amount: 10_000, unit: 'day' },
                { amount: 100_000, unit: 'month' },
              ],
            },
            { name: 'free', limits: [{ amount: 100, unit: 'day' }] },
          ],
          rejecter_cache: { N: 10_000, P: 1e-6 },
        },
      ],
    },
  ],
  required: ['quotas'],
  properties: {
    quotas: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'rules'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            description: 'Quota name that governance/quota refers to. Part of the Redis keys.',
          },
          connection_name: {
            type: 'string',
            description:
              'Name of a connection declared in "redis" at the root. Default: usage is counted in the memory of the gateway, for all its workers together, and is lost when it stops.',
            examples: ['counters'],
          },
          rules: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name', 'limits'],
              properties: {
                name: {
                  type: 'string',
                  minLength: 1,
                  description: 'Rule name, referenced by the rule_name of a tier.',
                },
                limits: {
                  type: 'array',
                  minItems: 1,
                  items: {
                    type: 'object',
                    required: ['amount', 'unit'],
                    properties: {
                      amount: { type: 'number', minimum: 0, description: 'Maximum usage per window.' },
                      unit: {
                        type: 'string',
                        enum: units,
                        description: 'Length of the window: a calendar unit in UTC. Weeks start on Monday.',
                      },
                    },
                  },
                  description: 'Limits. All of them apply.',
                },
              },
            },
            description: 'Rules: named sets of usage limits, to which tiers refer.',
          },
          hash_keys: {
            type: 'boolean',
            description:
              "Stores a digest of the caller's identifier in Redis keys. Long identifiers are always hashed.",
            default: false,
          },
          on_failure_allow: failureField,
          on_failure_max_retries: {
            type: 'integer',
            minimum: 0,
            description:
              'Maximum number of retries after a Redis failure, with a pause before each. Requests are not counted during these pauses; after the last retry, no request is counted until a reload. 0 retries with every request, without a pause.',
            default: 0,
          },
          on_failure_backoff_strategy: {
            type: 'string',
            enum: ['exponential', 'linear'],
            description:
              'Backoff strategy between retries. `linear`: every pause is 1s. `exponential`: the pause starts at 1s and doubles with each retry, up to 1 minute.',
            default: 'exponential',
          },
          rejecter_cache: {
            type: 'object',
            required: ['N', 'P'],
            properties: {
              N: {
                type: 'integer',
                minimum: 1,
                description:
                  'Maximum number of remembered callers, up to 100000. Each takes about 300 bytes. The oldest is forgotten first.',
              },
              P: {
                type: 'number',
                minimum: 0,
                maximum: 1,
                description:
                  'Accepted false positive rate. Required for compatibility; without effect, because the gateway never rejects a wrong caller.',
              },
              hash_name: {
                type: 'string',
                enum: ['optimal', 'default'],
                description: 'Hash functions for callers.',
                unused: { because: 'callers are cached by their names, without hashing' },
              },
              cleanup_interval: {
                type: 'duration',
                description:
                  'Interval after which all callers are forgotten. Each one is also forgotten when its window ends.',
                default: '30m',
              },
            },
            description:
              'Cache of rejected callers: callers that have used up their quota are rejected without a request to Redis. Default: disabled.',
          },
          deny_queue_flush_interval: {
            type: 'duration',
            description: 'Maximum delay before a rejection is added to the cache.',
            examples: ['1s'],
            unused: atOnce,
          },
          deny_queue_flush_threshold: {
            type: 'integer',
            description: 'Batch size: number of rejections to collect before they are added to the cache.',
            unused: atOnce,
          },
          deny_queue_size: {
            type: 'integer',
            description: 'Maximum number of rejections that wait to be added to the cache.',
            unused: atOnce,
          },
        },
      },
      description: 'Quotas that endpoints can refer to.',
    },
  },
} as const satisfies Schema;

export type ProcessorsConfig = Infer<typeof schema>;
export type QuotaConfig = ProcessorsConfig['quotas'][number];
export type LimitConfig = QuotaConfig['rules'][number]['limits'][number];
