import { deepEqual, equal } from 'node:assert/strict';
import { atService, definePlugin } from '#contract';
import type { Operations } from '#kernel';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';
import { startWith } from '../../support/plugged.ts';

const open = { type: 'object', properties: {} } as const;

/** Maps every host below a domain to the endpoints of its first label. */
const tenants = (name: string) =>
  definePlugin({
    name,
    description: 'Endpoints for tenants.',
    places: [
      atService(open, () => ({
        virtualHosts: {
          names: ['red', 'blue'],
          nameOf: (host) => /^(\w+)\.tenants\.test$/.exec(host)?.[1] ?? null,
        },
      })),
    ],
  });

describe('a component with endpoints for certain hosts', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const endpoint = (path: string, group: string) => ({
    endpoint: path,
    backend: [{ host: [backend.url], url_pattern: '/', group }],
  });
  const start = (names: readonly string[], endpoints: object[]) =>
    startWith(names.map(tenants), {
      extra_config: Object.fromEntries(names.map((name) => [name, {}])),
      endpoints,
    });
  const groups = async (host: string, url = '/a') => {
    const { statusCode, body } = await gateway!.inject({ url, headers: { host } });
    return statusCode === 200 ? Object.keys(JSON.parse(body)) : statusCode;
  };

  it('selects endpoints by the host of a request, before endpoints for all hosts', async () => {
    gateway = await start(
      ['test/tenants'],
      [endpoint('/__virtual/red/a', 'red'), endpoint('/a', 'all'), endpoint('/b', 'b')],
    );
    deepEqual(await groups('red.tenants.test'), ['red']);
    deepEqual(await groups('blue.tenants.test'), ['all']);
    deepEqual(await groups('other.test'), ['all']);
    deepEqual(await groups('red.tenants.test', '/b'), ['b']);
  });

  it('accepts hosts without endpoints, and unlisted hosts', async () => {
    gateway = await start(['test/tenants'], [endpoint('/__virtual/red/a', 'red')]);
    equal(await groups('blue.tenants.test'), 404);
    equal(await groups('constructor.tenants.test'), 404);
  });

  it('causes a warning for endpoints whose host is not listed', async () => {
    gateway = await start(['test/tenants'], [endpoint('/__virtual/green/a', 'green')]);
    deepEqual(
      gateway.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['ROUTE_UNREACHABLE', '/endpoints/0/endpoint']],
    );
  });

  it('is rejected if another such component is configured', async () => {
    const errors = await refusalsOf(start(['test/first', 'test/second'], []));
    deepEqual(
      errors.map(({ code }) => code),
      ['PLUGINS_CONFLICT'],
    );
  });
});
