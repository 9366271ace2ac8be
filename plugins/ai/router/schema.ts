import { type Infer, pipeSchema, type Schema } from '#contract';

/** A timeout longer than any endpoint's, so that the timeout of the endpoint limits a response. */
export const UNBOUNDED = '24h';

/** Output encodings that pass each message of a provider's stream to the client as it arrives. */
export const streamEncodings: ReadonlySet<unknown> = new Set(['streaming', 'sse', 'eventstream', 'ndjson']);

/** Statuses of a provider after which the next one is tried. */
const failures = [401, 403, 404, 408, 429, 500, 502, 503, 504, 529];

const providerName = (description: string) =>
  ({ type: 'string', minLength: 1, description, examples: ['fast-chat'] }) as const satisfies Schema;

const failover = (description: string) =>
  ({
    anyOf: [
      providerName('Name of a provider.'),
      {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
        uniqueItems: true,
        description: 'Names of providers, tried in this order.',
      },
    ],
    description,
    examples: ['careful'],
  }) as const satisfies Schema;

export const strategies = ['order', 'weight', 'cost', 'latency', 'availability'] as const;
export type Strategy = (typeof strategies)[number];

/** A route. The nested routes have the same form. */
export interface RouteConfig {
  readonly gates?: readonly string[];
  readonly provider?: string;
  readonly classifier?: string;
  readonly providers?: readonly string[];
  readonly strategy?: Strategy;
  readonly weights?: { readonly [provider: string]: number };
  readonly failover?: string | readonly string[];
  readonly routes?: readonly RouteConfig[];
}

const nested = {
  type: 'recursive',
  name: 'aiRoute',
  schema: (): Schema => route,
  description: 'A route.',
} as const satisfies Schema;

const route: Schema = {
  type: 'object',
  title: 'Route',
  examples: [{ gates: ['premium'], provider: 'careful' }],
  description: 'A rule that selects providers for the requests that pass its gates.',
  properties: {
    gates: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        'Names of gates of `ai/classifiers` that must all pass. A route without gates matches every request.',
      examples: [['premium']],
    },
    provider: providerName('Name of the provider that the route selects.'),
    providers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      description:
        'Names of providers from which `classifier` chooses one. Without a classifier, they are tried in the order of `strategy`.',
      examples: [['fast-chat', 'careful']],
    },
    classifier: {
      type: 'string',
      minLength: 1,
      description: 'Name of a classifier of `ai/classifiers` that chooses one of `providers`.',
      examples: ['smart'],
    },
    strategy: {
      type: 'string',
      enum: strategies,
      description:
        'Order in which `providers` are tried. `order`: as listed. `weight`: random, by `weights`. `cost`: by the sum of the prices of input and output, unknown prices last. `latency`: by the average time until a response begins, measured again after a minute without requests. `availability`: by the share of recent failures. Providers that failed recently come last. Default: order.',
      examples: ['latency'],
    },
    weights: {
      type: 'object',
      values: { type: 'number', exclusiveMinimum: 0, description: 'Weight of a provider. Default: 1.' },
      description: 'Weights of providers for the strategy `weight`, by name. Default: 1 each.',
      examples: [{ 'fast-chat': 9, careful: 1 }],
    },
    failover: failover(
      'Provider that is called, or providers that are tried in order, when the route cannot serve the request: no provider that it selects answers, or its classifier cannot choose. Cannot be combined with `routes`. Default: `failover` of the router.',
    ),
    routes: {
      type: 'array',
      items: nested,
      minItems: 1,
      description:
        'Nested routes, evaluated in order if the gates pass. If none of them matches, the providers of this route are used; without any, the next route is evaluated.',
    },
  },
};

const target = {
  ...pipeSchema(
    {
      provider: providerName('Name of the provider.'),
      output_encoding: {
        type: 'string',
        enum: ['json', 'streaming', 'sse', 'eventstream', 'ndjson'],
        description: 'Output encoding. Default: the output encoding of the endpoint if that streams, otherwise json.',
        default: 'json',
      },
      timeout: {
        type: 'duration',
        description: 'Maximum duration of a call, streams included. Default: the timeout of the endpoint.',
        default: UNBOUNDED,
        examples: ['2m'],
      },
    },
    { description: 'The backend that calls a provider.', components: ['security/policies', 'validation/cel', 'proxy'] },
  ),
  required: ['provider', 'backend'],
} as const satisfies Schema;

export const schema = {
  type: 'object',
  title: 'Router of language models',
  required: ['routes'],
  examples: [
    { routes: [{ provider: 'fast-chat' }], failover: 'careful' },
    {
      routes: [
        { gates: ['premium'], classifier: 'smart', providers: ['fast-chat', 'careful'], failover: 'careful' },
        { providers: ['fast-chat', 'careful'], strategy: 'weight', weights: { 'fast-chat': 9, careful: 1 } },
      ],
    },
  ],
  properties: {
    routes: {
      type: 'array',
      items: nested,
      minItems: 1,
      description:
        'Routes, evaluated in order; the first match applies. A request that matches no route is rejected, even with a `failover`: place a route without gates last.',
    },
    failover: failover(
      'Provider that is called, or providers that are tried in order, when the matching route cannot serve the request and has no `failover` of its own.',
    ),
    failover_status_codes: {
      type: 'array',
      items: { type: 'integer', minimum: 400, maximum: 599 },
      uniqueItems: true,
      description:
        'Statuses of a provider after which the next one is tried. Failed connections, timeouts and streams that fail before their first byte always are; a stream that has begun never is.',
      default: failures,
    },
    attempt_timeout: {
      type: 'duration',
      description:
        'Maximum time until the response of a provider begins, after which the next one is tried. Does not apply to the last one. Default: an equal share of the remaining time for every provider that is left.',
      examples: ['10s'],
    },
    cooldown: {
      type: 'duration',
      description:
        'Time for which a provider that failed is tried after all others. `Retry-After` of a 429 takes precedence, up to 10 minutes. 0 disables it.',
      default: '5s',
    },
    format: {
      type: 'string',
      enum: ['native', 'openai', 'anthropic'],
      description:
        'Format of streamed messages, as in `ai/llm`. Default: `native` if all providers are of one vendor, otherwise `openai`.',
    },
    disable_provider_headers: {
      type: 'boolean',
      description:
        'Omits the response headers X-AI-Provider and X-AI-Model. They name the provider that answered, in responses of endpoints with a single backend.',
      default: false,
    },
    targets: {
      type: 'array',
      items: target,
      description:
        'Backends of providers that need components of their own, such as `qos/circuit-breaker`. Default: a backend with the address and settings of each provider.',
    },
  },
} as const satisfies Schema;

export type RouterConfig = Omit<Infer<typeof schema>, 'routes' | 'failover'> & {
  readonly routes: readonly RouteConfig[];
  readonly failover?: string | readonly string[];
};
