// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual } from 'node:assert/strict';
import type { Data } from '#contract';
import { toolServices } from '../../kernel/cli/tools.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { examine } from '../../kernel/runtime/build/build.ts';
import { catalogue } from '../../plugins/index.ts';
import { setEnvironment } from '../support/environment.ts';

const backend = (host: string[], extra_config: object = {}, more: object = {}) => ({
  url_pattern: '/',
  host,
  disable_host_sanitize: true,
  extra_config,
  ...more,
});
const endpoint = (only: object, more: object = {}) => ({ endpoint: '/a', backend: [only], ...more });
const service = (more: object) => ({ version: 3, endpoints: [], ...more });
const at = (only: object, more: object = {}) => service({ endpoints: [endpoint(only, more)] });
const root = (extra_config: object) => service({ extra_config });
const agent = (driver: string, config: object) =>
  service({
    async_agent: [
      {
        name: 'orders',
        consumer: { topic: 'orders' },
        backend: [backend(['http://b.test'])],
        extra_config: { [driver]: config },
      },
    ],
  });

const HOST = '/endpoints/0/backend/0/host';
const AGENT = '/async_agent/0/extra_config/async~1';
const at0 = '/endpoints/0/backend/0/extra_config/';

/** Configurations with each server they use: its address, and whether it is called over TLS from the start. */
const cases: readonly (readonly [title: string, config: object, named: readonly string[]])[] = [
  [
    'an HTTP backend',
    at(backend(['http://one.test', 'https://two.test:8443'])),
    [`${HOST}/0 http://one.test`, `${HOST}/1 https://two.test:8443 TLS`],
  ],
  [
    'a sequential backend whose host depends on the request',
    at(backend(['http://{name}.test'], {}, { url_pattern: '/' }), { endpoint: '/{name}' }),
    [],
  ],
  ['a backend with service discovery', at(backend(['_http._tcp.b.test'], {}, { sd: 'dns' })), []],
  [
    'a GraphQL backend',
    at(backend(['https://g.test'], { 'backend/graphql': { type: 'query', query: '{a}' } })),
    [`${HOST}/0 https://g.test TLS`],
  ],
  [
    'a language model backend',
    at(
      backend(
        ['https://api.openai.com'],
        { 'ai/llm': { openai: { v1: { credentials: '${KEY}', variables: { model: 'm' } } } } },
        { method: 'POST' },
      ),
    ),
    [`${HOST}/0 https://api.openai.com TLS`],
  ],
  [
    'a gRPC server',
    service({
      extra_config: { grpc: { catalog: ['samples/grpc/orders.pb'] } },
      endpoints: [
        {
          endpoint: '/a',
          backend: [
            {
              url_pattern: '/orders.Orders/Get',
              host: ['a.test:1', 'b.test'],
              extra_config: { 'backend/grpc': { client_tls: {} } },
            },
          ],
        },
      ],
    }),
    [`${HOST}/0 http://a.test:1 TLS`, `${HOST}/1 http://b.test TLS`],
  ],
  [
    'a WebSocket',
    at(backend(['wss://chat.test']), { extra_config: { websocket: { enable_direct_communication: true } } }),
    [`${HOST}/0 wss://chat.test TLS`],
  ],
  [
    'a Lambda function',
    at(backend([], { 'backend/lambda': { function_name: 'f', region: 'eu-west-1' } })),
    [`${at0}backend~1lambda/region https://lambda.eu-west-1.amazonaws.com TLS`],
  ],
  [
    'an AMQP broker that a backend publishes to',
    at(backend(['amqps://mq.test'], { 'backend/amqp/producer': { exchange: 'e', name: 'q', routing_key: 'k' } })),
    [`${HOST}/0 amqps://mq.test TLS`],
  ],
  [
    'an AWS queue',
    at(
      backend(['awssqs://'], {
        'backend/pubsub/publisher': { topic_url: 'sqs.eu-west-1.amazonaws.com/123456789012/q?region=eu-west-1' },
      }),
    ),
    [`${at0}backend~1pubsub~1publisher/topic_url https://sqs.eu-west-1.amazonaws.com TLS`],
  ],
  [
    'Kafka brokers',
    at(
      backend([], {
        'backend/pubsub/subscriber/kafka': {
          reader: { topics: ['t'], cluster: { brokers: ['k1.test:9092', 'k2.test:9092'] }, group: { id: 'g' } },
        },
      }),
    ),
    [
      `${at0}backend~1pubsub~1subscriber~1kafka/reader/cluster/brokers/0 k1.test:9092`,
      `${at0}backend~1pubsub~1subscriber~1kafka/reader/cluster/brokers/1 k2.test:9092`,
    ],
  ],
  [
    'an agent over AMQP',
    agent('async/amqp', { host: 'amqp://mq.test', name: 'q', exchange: 'e' }),
    [`${AGENT}amqp/host amqp://mq.test`, '/async_agent/0/backend/0/host/0 http://b.test'],
  ],
  [
    'an agent over Kafka',
    agent('async/kafka', { cluster: { brokers: ['k.test:9093'], client_tls: {} } }),
    [`${AGENT}kafka/cluster/brokers/0 k.test:9093 TLS`, '/async_agent/0/backend/0/host/0 http://b.test'],
  ],
  [
    'an agent over NATS',
    agent('async/nats', { host: 'tls://n1.test,tls://n2.test:4333' }),
    [
      `${AGENT}nats/host n1.test:4222 TLS after its greeting`,
      `${AGENT}nats/host n2.test:4333 TLS after its greeting`,
      '/async_agent/0/backend/0/host/0 http://b.test',
    ],
  ],
  [
    'Redis connections',
    root({
      redis: {
        connection_pools: [{ name: 'a', address: 'r.test:6380', tls: {} }],
        clusters: [{ name: 'b', addresses: ['[::1]:1', 'c.test'] }],
      },
    }),
    [
      '/extra_config/redis/connection_pools/0/address r.test:6380 TLS',
      '/extra_config/redis/clusters/0/addresses/0 [::1]:1',
      '/extra_config/redis/clusters/0/addresses/1 c.test:6379',
    ],
  ],
  [
    'OTLP collectors',
    root({
      'telemetry/opentelemetry': {
        exporters: {
          otlp: [
            { name: 'a', host: 'otel.test' },
            { name: 'b', host: 'https://otel.test', use_http: true },
          ],
        },
      },
    }),
    [
      '/extra_config/telemetry~1opentelemetry/exporters/otlp/0/host otel.test:4317',
      '/extra_config/telemetry~1opentelemetry/exporters/otlp/1/host otel.test:4318 TLS',
    ],
  ],
  [
    'a New Relic collector',
    root({ 'telemetry/newrelic': { license: '${LICENSE}' } }),
    ['/extra_config/telemetry~1newrelic otlp.nr-data.net:443 TLS'],
  ],
  [
    'Graylog over TCP',
    root({ 'telemetry/logging': { level: 'INFO' }, 'telemetry/gelf': { address: 'log.test:12201', enable_tcp: true } }),
    ['/extra_config/telemetry~1gelf/address log.test:12201'],
  ],
  [
    'Graylog over UDP',
    root({
      'telemetry/logging': { level: 'INFO' },
      'telemetry/gelf': { address: 'log.test:12201', enable_tcp: false },
    }),
    ['/extra_config/telemetry~1gelf/address log.test:12201 udp'],
  ],
  [
    'InfluxDB',
    root({ 'telemetry/metrics': {}, 'telemetry/influx': { address: 'https://influx.test:8086', ttl: '30s' } }),
    ['/extra_config/telemetry~1influx/address https://influx.test:8086/ TLS'],
  ],
  [
    'a key server',
    at(backend(['http://b.test']), {
      extra_config: { 'auth/validator': { alg: 'RS256', jwk_url: 'https://id.test/keys' } },
    }),
    ['/endpoints/0/extra_config/auth~1validator/jwk_url https://id.test/keys TLS', `${HOST}/0 http://b.test`],
  ],
  [
    'a token server',
    at(
      backend(['http://b.test'], {
        'auth/client-credentials': { client_id: 'a', client_secret: '${SECRET}', token_url: 'https://id.test/token' },
      }),
    ),
    [`${at0}auth~1client-credentials/token_url https://id.test/token TLS`, `${HOST}/0 http://b.test`],
  ],
];

describe('the list of servers that a configuration uses', () => {
  const registry = new Registry(catalogue, toolServices());
  after(() => registry.close());

  const named = async (config: object): Promise<string[]> => {
    const { errors, upstreams } = await examine(config as Data, {}, registry, true);
    deepEqual(
      errors.map(({ code, pointer, message }) => [code, pointer, message]),
      [],
    );
    return upstreams.map(({ pointer, upstream: { address, tls, tlsAfter, transport } }) =>
      [
        pointer,
        address,
        ...(tls ? ['TLS'] : []),
        ...(tlsAfter ? ['after its greeting'] : []),
        ...(transport ? [transport] : []),
      ].join(' '),
    );
  };

  for (const [title, config, expected] of cases) {
    it(`includes ${title}`, async () => deepEqual((await named(config)).sort(), [...expected].sort()));
  }

  const inEnvironment = async (variables: Record<string, string>, run: () => Promise<void>) => {
    const restore = setEnvironment(variables);
    await run().finally(restore);
  };

  it('includes brokers from the environment, with the components that use them', () =>
    inEnvironment(
      { KAFKA_BROKERS: 'k.test:9092', RABBIT_SERVER_URL: 'amqp://mq.test', NATS_SERVER_URL: 'n.test' },
      async () => {
        const place = `${at0}backend~1pubsub~1publisher/topic_url`;
        const brokers = { kafka: 'k.test:9092', rabbit: 'amqp://mq.test', nats: 'n.test:4222 TLS after its greeting' };
        for (const [scheme, address] of Object.entries(brokers)) {
          const config = at(backend([`${scheme}://`], { 'backend/pubsub/publisher': { topic_url: 'orders' } }));
          deepEqual(await named(config), [`${place} ${address}`]);
        }
      },
    ));

  it('includes servers of cloud providers', () =>
    inEnvironment(
      {
        SERVICEBUS_CONNECTION_STRING: 'Endpoint=sb://bus.test/;SharedAccessKeyName=n;SharedAccessKey=k',
        PUBSUB_EMULATOR_HOST: '',
      },
      async () => {
        const place = `${at0}backend~1pubsub~1publisher/topic_url`;
        for (const [scheme, topic, address] of [
          ['azuresb', 'orders', 'bus.test TLS'],
          ['gcppubsub', 'projects/my-project/topics/orders', 'pubsub.googleapis.com:443 TLS'],
        ] as const) {
          const config = at(backend([`${scheme}://`], { 'backend/pubsub/publisher': { topic_url: topic } }));
          deepEqual(await named(config), [`${place} ${address}`]);
        }
      },
    ));

  it('includes emulators of cloud providers without TLS, and cloud regions', async () => {
    const place = `${at0}backend~1pubsub~1publisher/topic_url`;
    const bus = 'Endpoint=sb://bus.test/;SharedAccessKeyName=n;SharedAccessKey=k;UseDevelopmentEmulator=true';
    for (const [host, shown] of [
      ['emulator.test:8085', 'emulator.test:8085'],
      ['us-pubsub.googleapis.com:443', 'us-pubsub.googleapis.com:443 TLS'],
    ] as const) {
      await inEnvironment({ SERVICEBUS_CONNECTION_STRING: bus, PUBSUB_EMULATOR_HOST: host }, async () => {
        for (const [scheme, topic, address] of [
          ['azuresb', 'orders', 'bus.test'],
          ['gcppubsub', 'projects/my-project/topics/orders', shown],
        ] as const) {
          const config = at(backend([`${scheme}://`], { 'backend/pubsub/publisher': { topic_url: topic } }));
          deepEqual(await named(config), [`${place} ${address}`]);
        }
      });
    }
  });

  it('includes the proxy from the environment instead of the servers behind it', () =>
    inEnvironment({ HTTP_PROXY: 'http://proxy.test:3128', NO_PROXY: 'two.test' }, async () => {
      const config = at(backend(['http://one.test', 'http://two.test']));
      deepEqual(await named(config), [`${HOST}/0 http://proxy.test:3128`, `${HOST}/1 http://two.test`]);
    }));
});
