import type { Infer, Schema } from '#contract';

const strategy = {
  type: 'string',
  enum: ['header', 'cookie', 'claim'],
  description: 'Part of the client request that is compared: a header, a cookie, or a claim of the validated token.',
} as const satisfies Schema;

const key = {
  type: 'string',
  minLength: 1,
  description: 'Name of the header or cookie, or dotted path of the claim.',
  examples: ['X-Canary'],
} as const satisfies Schema;

export const schema = {
  type: 'object',
  title: 'Traffic splitting',
  examples: [
    {
      variants: [
        { name: 'stable', backends: [0], weight: 90 },
        { name: 'canary', backends: [1], weight: 10, match: { strategy: 'header', key: 'X-Canary', value: 'always' } },
      ],
      sticky: { strategy: 'cookie', key: 'session' },
    },
  ],
  required: ['variants'],
  properties: {
    variants: {
      type: 'array',
      minItems: 2,
      maxItems: 16,
      description:
        'Variants. Each request gets one of them. A new variant takes its share from the first one: list the stable version first, and append new variants at the end.',
      items: {
        type: 'object',
        required: ['name', 'backends'],
        properties: {
          name: {
            type: 'string',
            pattern: '^[A-Za-z0-9_.-]{1,64}$',
            description: 'Name of the variant in metrics and in `explain`.',
            examples: ['canary'],
          },
          backends: {
            type: 'array',
            items: { type: 'integer', minimum: 0, maximum: 1000 },
            minItems: 1,
            uniqueItems: true,
            description:
              "Backends of the variant, as positions in the endpoint's list of backends, starting at 0. Backends that belong to no variant are always called.",
            examples: [[1]],
          },
          weight: {
            type: 'number',
            minimum: 0,
            maximum: 1_000_000,
            description:
              'Share of the requests, relative to the weights of the other variants, in steps of 0.01 %. With 0, only requests that satisfy `match` get the variant.',
            default: 0,
            examples: [10],
          },
          match: {
            type: 'object',
            description:
              'Requests that always get this variant, regardless of weights. The first variant that matches applies. Default: none.',
            required: ['strategy', 'key'],
            properties: {
              strategy,
              key,
              value: {
                type: 'string',
                description: 'Value to match exactly. Default: any value.',
                examples: ['always'],
              },
            },
            examples: [{ strategy: 'header', key: 'X-Canary', value: 'always' }],
          },
        },
      },
      examples: [
        [
          { name: 'stable', backends: [0], weight: 90 },
          { name: 'canary', backends: [1], weight: 10 },
        ],
      ],
    },
    sticky: {
      type: 'object',
      description:
        'Assigns each caller the same variant every time, in every gateway and after restarts, by a hash of the value that identifies the caller. When the weights change, only as many callers get another variant as the new shares require. Requests without the value are split at random. Default: each request is split at random.',
      required: ['strategy'],
      properties: {
        strategy: {
          type: 'string',
          enum: ['header', 'cookie', 'claim', 'ip'],
          description: 'Identity of a caller: a header, a cookie, a claim of the validated token, or the client IP.',
        },
        key: {
          ...key,
          description:
            'Name of the header or cookie, or dotted path of the claim. Required unless the strategy is `ip`.',
          examples: ['X-User'],
        },
      },
      examples: [{ strategy: 'header', key: 'X-User' }],
    },
    seed: {
      type: 'string',
      description:
        'Seed of the hash, which makes the assignment of callers independent of other splits. By default, a caller who gets the second variant at one endpoint also gets it at all other endpoints with the same weights.',
      default: '',
      examples: ['checkout-test'],
    },
  },
} as const satisfies Schema;

export type SplitConfig = Infer<typeof schema>;

export type VariantConfig = SplitConfig['variants'][number];
