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
import { examine } from '../../../kernel/runtime/build.ts';
import { catalogue } from '../../../plugins/index.ts';
import { startWith } from '../../support/plugged.ts';

const none = { type: 'object', properties: {} } as const;
const call = () => Reply.data({});

/** Reports to a server of its own. */
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

/** Reaches its hosts in its own way. */
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

/** Carries its address, and says nothing of its hosts. */
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

describe('servers that plugins name', () => {
  it('are those of HTTP backends without a word of theirs', async () => {
    deepEqual(await named(config()), of('http://a.test', 'http://b.test'));
  });

  it('stand at the field that names them, or at what holds it where it is not written', async () => {
    const at = '/extra_config/test~1reporter';
    const reported = (settings: DataObject) => named(config({}, { 'test/reporter': settings }), reporter);
    equal((await reported({ address: 's.test:2' }))[0], `${at}/address s.test:2`);
    equal((await reported({}))[0], `${at} r.test:1`);
  });

  it('are those of the protocol where one reaches the backend, whatever client of HTTP stands beside it', async () => {
    const extra = { 'test/protocol': {}, 'backend/http/client': { no_redirect: true } };
    const own = of('own-0.test:7', 'own-1.test:7');
    deepEqual(await named(config({ extra_config: extra }), protocol(false)), own);
    deepEqual(await named(config({ extra_config: extra }), protocol(true)), own);
  });

  it('are no hosts of a backend whose protocol carries its own address', async () => {
    deepEqual(await named(config({ extra_config: { 'test/protocol': {} } }), silent), []);
  });

  it('are connected to neither while a gateway serves nor when it is asked for its routes', async () => {
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
