import type { Infer, Schema } from '#contract';
import { units } from '../../services/quotas/windows.ts';
import { failureField } from '../../services/redis/on-failure.ts';

const atOnce = { because: 'a refusal is remembered at once' } as const;

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
        required: ['name', 'connection_name', 'rules'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            description: 'By which "governance/quota" names it; a piece of its keys.',
          },
          connection_name: { type: 'string', description: 'A connection that "redis" at the root declares.' },
          rules: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name', 'limits'],
              properties: {
                name: { type: 'string', minLength: 1, description: 'The plan.' },
                limits: {
                  type: 'array',
                  minItems: 1,
                  items: {
                    type: 'object',
                    required: ['amount', 'unit'],
                    properties: {
                      amount: { type: 'number', minimum: 0, description: 'What may be used in one window.' },
                      unit: {
                        type: 'string',
                        enum: units,
                        description: 'The window, by the calendar in UTC; a week begins on Monday.',
                      },
                    },
                  },
                  description: 'All of them hold.',
                },
              },
            },
            description: 'What the callers of each plan may use.',
          },
          hash_keys: {
            type: 'boolean',
            description: 'Keys in Redis have a digest of who a caller is. That of a long name is kept in any case.',
            default: false,
          },
          on_failure_allow: failureField,
          on_failure_max_retries: {
            type: 'integer',
            minimum: 0,
            description:
              'Attempts after a failure, with a wait before each, in which requests are not counted; after the last one nothing is counted until a reload. 0 for as many as there are requests, without a wait.',
            default: 0,
          },
          on_failure_backoff_strategy: {
            type: 'string',
            enum: ['exponential', 'linear'],
            description: 'The wait before an attempt: 1s, with exponential doubled each time, at most 1m.',
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
                  'Callers remembered at most, never more than 100000; each takes some 300 bytes. Beyond it the oldest is forgotten.',
              },
              P: {
                type: 'number',
                minimum: 0,
                maximum: 1,
                description:
                  'How probable it may be that somebody else is refused for one of them. It never happens, which every P allows.',
              },
              hash_name: {
                type: 'string',
                enum: ['optimal', 'default'],
                description: 'How callers are hashed.',
                unused: { because: 'callers are remembered by their names, and nothing is hashed' },
              },
              cleanup_interval: {
                type: 'duration',
                description: 'After which all are forgotten; each is when its window is over.',
                default: '30m',
              },
            },
            description:
              'Callers that have used everything up are refused without asking Redis. Default: they are not.',
          },
          deny_queue_flush_interval: {
            type: 'duration',
            description: 'Longest time until a refusal is remembered.',
            examples: ['1s'],
            unused: atOnce,
          },
          deny_queue_flush_threshold: {
            type: 'integer',
            description: 'How many refusals are remembered together.',
            unused: atOnce,
          },
          deny_queue_size: {
            type: 'integer',
            description: 'How many refusals may wait until they are remembered.',
            unused: atOnce,
          },
        },
      },
      description: 'What may be used, by whom.',
    },
  },
} as const satisfies Schema;

export type ProcessorsConfig = Infer<typeof schema>;
export type QuotaConfig = ProcessorsConfig['quotas'][number];
export type LimitConfig = QuotaConfig['rules'][number]['limits'][number];
