import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import {
  atBackend,
  atService,
  type Data,
  type DataObject,
  definePlugin,
  httpSigners,
  type Plugin,
  Reply,
} from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { withPlugins } from '../../../kernel/index.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';
import { setEnvironment } from '../../support/environment.ts';
import { SHOP } from '../../support/grpc/server.ts';
import { startWith } from '../../support/plugged.ts';

const none = { type: 'object', properties: {} } as const;
const call = () => Reply.data({});

/** A component that reports to its own server. */
const reporter = definePlugin({
  name: 'test/reporter',
  description: 'Reports to a server.',
  places: [
    atService(
      { type: 'object', properties: { address: { type: 'string', description: 'Server.', default: 'r.test:1' } } },
      (site) => {
        site.connectsTo({ address: site.config.address }, '/address');
        return {};
      },
    ),
  ],
});

/** A protocol that calls the backend's hosts itself. */
const protocol = (hostless: boolean) =>
  definePlugin({
    name: 'test/protocol',
    description: 'Reaches a backend.',
    places: [
      atBackend(none, (site) => {
        for (const index of site.backend.host.keys()) site.connectsTo({ address: `own-${index}.test:7` }, index);
        return { protocol: { call, ...(hostless && { hostless }) } };
      }),
    ],
  });

/** A protocol with its own address, which ignores the backend's hosts. */
const silent = definePlugin({
  name: 'test/protocol',
  description: 'Reaches a backend.',
  takes: [httpSigners],
  places: [
    atBackend(none, ({ http }) => {
      http();
      return { protocol: { call, hostless: true } };
    }),
  ],
});

const host = ['http://a.test', 'http://b.test'];
const amqp = { name: 'q', exchange: 'e', routing_key: ['k'] };
const config = (backend: DataObject = {}, extra_config: DataObject = {}): Data => ({
  version: 3,
  extra_config,
  endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/', host, ...backend }] }],
});

async function named(data: Data, ...plugins: Plugin[]): Promise<string[]> {
  const registry = new Registry(withPlugins(catalogue, plugins), toolServices());
  const { errors, upstreams } = await examine(data, {}, registry, true);
  await registry.close();
  deepEqual([...errors], []);
  return upstreams.map(({ pointer, upstream }) => `${pointer} ${upstream.address}`);
}

const of = (...addresses: string[]) =>
  addresses.map((address, index) => `/endpoints/0/backend/0/host/${index} ${address}`);

/** Environment, backend, and the reported servers. */
const protocols: readonly [string, Record<string, string>, DataObject, string[]][] = [
  ['backend/amqp/consumer', {}, broker('amqps://u:p@q.test', 'backend/amqp/consumer', amqp), ['amqps://u:p@q.test']],
  [
    'backend/amqp/producer',
    {},
    broker('amqp://q.test', 'backend/amqp/producer', { ...amqp, routing_key: 'k' }),
    ['amqp://q.test'],
  ],
  ['rabbit://', { RABBIT_SERVER_URL: 'amqp://r.test/' }, subscriber('rabbit://', 'q'), ['amqp://r.test/']],
  ['nats://', { NATS_SERVER_URL: 'nats://n.test:1' }, subscriber('nats://', 's'), ['n.test:1']],
  ['kafka://', { KAFKA_BROKERS: 'k.test:1,l.test:2' }, subscriber('kafka://', 'g?topic=t'), ['k.test:1', 'l.test:2']],
  [
    'backend/pubsub/subscriber/kafka',
    {},
    {
      extra_config: {
        'backend/pubsub/subscriber/kafka': { reader: { topics: ['t'], cluster: { brokers: ['k.test:1'] } } },
      },
    },
    ['k.test:1'],
  ],
  [
    'backend/pubsub/publisher/kafka',
    {},
    {
      extra_config: {
        'backend/pubsub/publisher/kafka': { writer: { topic: 't', cluster: { brokers: ['k.test:1'] } } },
      },
    },
    ['k.test:1'],
  ],
  [
    'awssqs://',
    {},
    subscriber('awssqs://', 'sqs.eu-west-1.amazonaws.com/123456789012/q?region=eu-west-1'),
    ['https://sqs.eu-west-1.amazonaws.com'],
  ],
  [
    'awssns:///',
    {},
    publisher('awssns:///', 'arn:aws:sns:eu-west-1:123456789012:t?region=eu-west-1'),
    ['https://sns.eu-west-1.amazonaws.com'],
  ],
  ['gcppubsub://', {}, publisher('gcppubsub://', 'projects/proj/topics/top'), ['pubsub.googleapis.com:443']],
  [
    'azuresb://',
    { SERVICEBUS_CONNECTION_STRING: 'Endpoint=sb://b.test/;SharedAccessKeyName=n;SharedAccessKey=k' },
    subscriber('azuresb://', 't?subscription=s'),
    ['b.test'],
  ],
  [
    'backend/soap',
    {},
    { host: ['http://s.test'], extra_config: { 'backend/soap': { template: 'PGEvPg==' } } },
    ['http://s.test'],
  ],
  ['backend/static-filesystem', {}, { extra_config: { 'backend/static-filesystem': { path: '.' } } }, []],
];

function broker(at: string, name: string, fields: DataObject): DataObject {
  return { host: [at], disable_host_sanitize: true, extra_config: { [name]: fields } };
}

function subscriber(scheme: string, url: string): DataObject {
  return broker(scheme, 'backend/pubsub/subscriber', { subscription_url: url });
}

function publisher(scheme: string, url: string): DataObject {
  return broker(scheme, 'backend/pubsub/publisher', { topic_url: url });
}

describe('server addresses that check --connect gets from plugins', () => {
  for (const [what, variables, backend, addresses] of protocols) {
    it(`include those of ${what}`, async () => {
      const restore = setEnvironment(variables);
      try {
        const found = await named(config(backend));
        deepEqual(
          found.map((line) => line.split(' ')[1]),
          addresses,
        );
      } finally {
        restore();
      }
    });
  }

  it('include those of backend/grpc', async () => {
    const backend = { url_pattern: '/shop.Shop/Find', host: ['g.test:5000'], extra_config: { 'backend/grpc': {} } };
    deepEqual(await named(config(backend, { grpc: { catalog: [SHOP] } })), of('http://g.test:5000'));
  });

  it('include those of a WebSocket backend', async () => {
    const backend = { url_pattern: '/', host: ['wss://w.test'], disable_host_sanitize: true };
    const endpoint = { endpoint: '/w', backend: [backend], extra_config: { websocket: {} } };
    deepEqual(await named({ version: 3, endpoints: [endpoint] }), ['/endpoints/0/backend/0/host/0 wss://w.test']);
  });

  it('include those of ordinary HTTP backends', async () => {
    deepEqual(await named(config()), of('http://a.test', 'http://b.test'));
  });

  it('have the place of the field that names them, or of its parent', async () => {
    const at = '/extra_config/test~1reporter';
    const reported = (settings: DataObject) => named(config({}, { 'test/reporter': settings }), reporter);
    equal((await reported({ address: 's.test:2' }))[0], `${at}/address s.test:2`);
    equal((await reported({}))[0], `${at} r.test:1`);
  });

  it("are those of the backend's protocol, even if the HTTP client is configured too", async () => {
    const extra = { 'test/protocol': {}, 'backend/http/client': { no_redirect: true } };
    const own = of('own-0.test:7', 'own-1.test:7');
    deepEqual(await named(config({ extra_config: extra }), protocol(false)), own);
    deepEqual(await named(config({ extra_config: extra }), protocol(true)), own);
  });

  it('exclude the hosts of a backend whose protocol has its own address', async () => {
    deepEqual(await named(config({ extra_config: { 'test/protocol': {} } }), silent), []);
  });

  it('are not connected to by a gateway or by the list of routes', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const address = `127.0.0.1:${port}`;
    const own = { 'test/reporter': { address } };
    const endpoints = [{ endpoint: '/a', backend: [{ url_pattern: '/', host: [`http://${address}`] }] }];
    const gateway = await startWith([reporter], { version: 3, extra_config: own, endpoints });
    equal((await gateway.inject({ path: '/__health' })).statusCode, 200);
    await gateway.close();
    equal(connections, 0);
    server.close();
  });
});
