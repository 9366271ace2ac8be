import { type Configuration, createGateway } from 'sluice';
import type { Written } from 'sluice/plugin';

/** Configurations as written by a user who has installed only the package. */
const schema = {
  type: 'object',
  required: ['team'],
  properties: { team: { type: 'string', description: 'Who answers.' } },
} as const;

declare module 'sluice' {
  interface EndpointComponents {
    readonly 'acme/owner'?: Written<typeof schema>;
  }
}

const backend = [{ host: ['http://127.0.0.1:9000'], url_pattern: '/' }];

export const good: Configuration = {
  version: 3,
  '@comment': 'anything',
  extra_config: {
    router: { return_error_msg: true },
    'telemetry/logging': { level: 'INFO', '@comment': 'anything' },
    'plugin/http-server': { name: ['mine'], mine: { a: 1 } },
  },
  endpoints: [
    {
      endpoint: '/a',
      extra_config: {
        'qos/ratelimit/router': { max_rate: 10, every: '1m' },
        'acme/owner': { team: 'a' },
        '@comment': 'anything',
      },
      backend: [
        {
          host: ['http://127.0.0.1:9000'],
          url_pattern: '/',
          extra_config: {
            'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 1 },
            workflow: { endpoint: '/a', backend: [{ url_pattern: '/', extra_config: { 'qos/http-cache': {} } }] },
          },
        },
      ],
    },
    {
      endpoint: '/v1/chat/completions',
      method: 'POST',
      extra_config: { 'ai/chat-completions': { models: ['small'] } },
    },
  ],
  async_agent: [
    { name: 'orders', consumer: { topic: 'orders' }, backend, extra_config: { 'async/nats': { host: 'nats://a' } } },
  ],
};

export const misspelled: Configuration = {
  version: 3,
  // @ts-expect-error a field that no component has
  endpoints: [{ endpoint: '/a', backend, extra_config: { 'qos/ratelimit/router': { max_rte: 10 } } }],
};

export const mistyped: Configuration = {
  version: 3,
  // @ts-expect-error a number that is text
  endpoints: [{ endpoint: '/a', backend, extra_config: { 'qos/ratelimit/router': { max_rate: '10' } } }],
};

export const unknown: Configuration = {
  version: 3,
  // @ts-expect-error a namespace that nothing declares
  endpoints: [{ endpoint: '/a', backend, extra_config: { 'acme/other': {} } }],
};

export const incomplete: Configuration = {
  version: 3,
  // @ts-expect-error a plugin's own field that is missing
  endpoints: [{ endpoint: '/a', backend, extra_config: { 'acme/owner': {} } }],
};

export const misplaced: Configuration = {
  version: 3,
  // @ts-expect-error a component of backends at the root
  extra_config: { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 1 } },
};

export const inner: Configuration = {
  version: 3,
  endpoints: [
    {
      endpoint: '/a',
      backend: [
        {
          url_pattern: '/',
          extra_config: {
            workflow: {
              endpoint: '/a',
              // @ts-expect-error a field that no backend inside a workflow has
              backend: [{ url_pattern: '/', extra_config: { 'qos/http-cache': { shard: true } } }],
            },
          },
        },
      ],
    },
  ],
};

export const gateway = await createGateway(good, { log: true });
export const listening = await gateway.listen({ port: 0, host: '127.0.0.1' });
