import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { atBackend, definePlugin, Reply } from '#contract';
import { type Operations, startGateway as start } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { PlainRoute } from '../../../kernel/pipeline/compile/plain-route.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { until } from '../../support/conditions.ts';
import { partsOf, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Forms of endpoints: those with the same attachments share one pipeline. */
const forms: readonly Fields[] = [
  { backend: [{ url_pattern: '/a' }] },
  { backend: [{ url_pattern: '/b', allow: ['path'] }], input_query_strings: ['q'] },
  { backend: [{ url_pattern: '/c/{id}', group: 'g' }], method: 'POST' },
  { backend: [{ url_pattern: '/d' }, { url_pattern: '/e', group: 'e', method: 'POST' }] },
  { backend: [{ url_pattern: '/f' }, { url_pattern: '/fail', group: 'e' }], cache_ttl: '3s' },
  { backend: [{ url_pattern: '/g' }], output_encoding: 'no-op', input_headers: ['*'] },
  { backend: [{ url_pattern: '/h' }], output_encoding: 'no-op' },
  { backend: [{ url_pattern: '/i', encoding: 'string' }], output_encoding: 'string' },
  { backend: [{ url_pattern: '/k', encoding: 'no-op' }, { url_pattern: '/l' }] },
  { backend: [{ url_pattern: '/m' }], concurrent_calls: 2 },
  { backend: [{ url_pattern: '/fail' }] },
];

const endpoints = (more: Fields = {}): Fields[] =>
  [0, 1, 2].flatMap((round) => forms.map((form, at) => ({ endpoint: `/${round}/${at}/{id}`, ...form, ...more })));

async function repliesOf(gateway: Operations): Promise<unknown[]> {
  const replies = [];
  for (const { endpoint, method } of gateway.config.endpoints) {
    const url = `${endpoint.replace('{id}', '7')}?q=1&r=2`;
    const asked = { url, method: method as 'GET', headers: { 'x-a': 'b' }, ...(method === 'POST' && { body: 'text' }) };
    for (let times = 0; times < 2; times++) {
      const { statusCode, headers, body } = await gateway.inject(asked);
      const { date: _date, ...rest } = headers;
      replies.push([url, statusCode, rest, body]);
    }
  }
  return replies;
}

const plainRoutes = (gateway: Operations) =>
  partsOf(gateway).generations.current.runtime.compiled.routes.filter((route) => route instanceof PlainRoute);

const refused = async (attempt: Promise<unknown>): Promise<unknown> => {
  const error = await attempt.then(
    () => null,
    (failure: unknown) => failure,
  );
  ok(error instanceof ConfigErrors, String(error));
  return error.errors.map(({ code, pointer }) => `${code} ${pointer}`);
};

describe('equal endpoints without components, sharing one pipeline,', () => {
  let backend: TestBackend;
  let gateway: Operations | null;

  before(async () => {
    backend = await startBackend(({ method, target, headers, body }, response) => {
      const isFailure = target.startsWith('/fail');
      response.writeHead(isFailure ? 503 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ method, path: target, a: headers['x-a'] ?? null, body: body.toString() }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    gateway = null;
  });
  afterEach(() => gateway?.close());

  it('respond like endpoints with separate pipelines', async () => {
    gateway = await startGateway({ host: [backend.url], endpoints: endpoints() });
    equal(plainRoutes(gateway).length, forms.length * 3 - new Set(forms.map(formOf)).size);
    const shared = await repliesOf(gateway);
    await gateway.close();
    // A component without effect.
    const own = endpoints({ extra_config: { test: {} } });
    gateway = await startPlugged({ host: [backend.url], endpoints: own }, {});
    equal(plainRoutes(gateway).length, 0);
    deepEqual(shared, await repliesOf(gateway));
  });

  it('have the same route properties', async () => {
    gateway = await startGateway({ host: [backend.url], endpoints: endpoints() });
    const { routes } = partsOf(gateway).generations.current.runtime.compiled;
    const view = (at: number) => {
      const { output, depth, maxPayloadBytes, inflate, upgrades, stages, sets, nested } = routes[at]!;
      return { output, depth, maxPayloadBytes, inflate, upgrades, stages, sets, nested };
    };
    for (const at of forms.keys()) {
      deepEqual(view(at), view(at + forms.length));
      deepEqual(view(at), view(at + 2 * forms.length));
    }
    ok(routes.every(({ reads }) => reads.services.includes('denied')));
  });

  it('are counted separately', async () => {
    gateway = await startGateway({ host: [backend.url], endpoints: endpoints() });
    const { routes } = partsOf(gateway).generations.current.runtime.compiled;
    await gateway.inject('/2/0/7');
    const called = routes.filter(({ traffic }) => traffic.calls > 0);
    deepEqual(
      called.map(({ endpoint, traffic }) => [endpoint.endpoint, [...traffic.backends].map(([name]) => name)]),
      [['/2/0/{id}', ['GET /a']]],
    );
  });

  it('rotate through the hosts separately', async () => {
    const other = await startBackend((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"other":true}');
    });
    try {
      const host = [backend.url, other.url];
      const each = ['/a', '/b', '/c', '/d'].map((path) => ({ endpoint: path, backend: [{ url_pattern: '/', host }] }));
      gateway = await startGateway({ endpoints: each });
      equal(plainRoutes(gateway).length, 3);
      const isOther = async (url: string) => 'other' in JSON.parse((await gateway!.inject(url)).body);
      // Calls to other endpoints in between would rotate the hosts, too, if the endpoints shared the rotation.
      const first = await isOther('/b');
      await isOther('/c');
      equal(await isOther('/b'), !first);
      await isOther('/c');
      await isOther('/d');
      await isOther('/d');
      equal(await isOther('/b'), first);
    } finally {
      await other.close();
    }
  });

  for (const [fault, issue] of [
    [{ backend: [{ url_pattern: '/', encoding: 'absent' }] }, 'ENCODING_UNKNOWN /endpoints/3/backend/0/encoding'],
    [{ output_encoding: 'absent', backend: [{ url_pattern: '/' }] }, 'ENCODING_UNKNOWN /endpoints/3/output_encoding'],
    [{ backend: [{ url_pattern: '/', sd: 'absent' }] }, 'SD_UNKNOWN /endpoints/3/backend/0/sd'],
    [
      { backend: [{ url_pattern: '/', host: ['ftp://a.test'], disable_host_sanitize: true }] },
      'BACKEND_SCHEME /endpoints/3/backend/0/host/0',
    ],
  ] as const) {
    const all = (first: Fields, second: Fields) => ({
      version: 3 as const,
      host: [backend.url],
      endpoints: [...endpoints().slice(0, 3), { endpoint: '/x', ...first }, { endpoint: '/y', ...second }],
    });

    it(`are rejected at their own places: ${issue}`, async () => {
      const second = issue.replace('/endpoints/3', '/endpoints/4');
      deepEqual(await refused(startGateway(all(fault, fault))), [issue, second]);
      gateway = await startGateway({ host: [backend.url], endpoints: endpoints().slice(0, 3) });
      deepEqual(await refused(gateway.reload(all(fault, fault))), [issue, second]);
      deepEqual(await refused(gateway.reload(all(forms[0]!, fault))), [second]);
      equal((await gateway.inject('/0/0/7')).statusCode, 200);
    });
  }

  it('are not confused with endpoints whose settings concatenate to the same text', async () => {
    const at = (path: string, ...hosts: string[]) => ({
      endpoint: path,
      backend: hosts.map((host, index) => ({ url_pattern: `/${index}`, host: [host], disable_host_sanitize: true })),
    });
    const odd = `http://127.0.0.1:1\njson static http true ${backend.url}`;
    gateway = await startGateway({
      endpoints: [at('/a', odd), at('/b', odd), at('/c', 'http://127.0.0.1:1', backend.url)],
    });
    match((await gateway.inject('/c')).body, /"path":"\/1"/);
  });

  it('cause warnings at their own places', async () => {
    const odd = { backend: [{ url_pattern: '/', sd_scheme: 'https' }] };
    const paths = ['/x', '/y', '/z'];
    gateway = await startGateway({ host: [backend.url], endpoints: paths.map((path) => ({ endpoint: path, ...odd })) });
    deepEqual(
      gateway.status.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
      paths.map((_path, at) => `SD_SCHEME_UNUSED /endpoints/${at}/backend/0/sd_scheme`),
    );
    equal(plainRoutes(gateway).length, 0);
  });

  describe('with a protocol that counts its attachments', () => {
    const opened: string[] = [];
    const closed: string[] = [];
    let attached = 0;
    let faultAt = 0;
    const open = (shareable: boolean, document: object): Promise<Operations> => {
      const protocol = definePlugin({
        name: 'test/protocol',
        description: 'Answers by itself.',
        places: [
          atBackend({ type: 'object' }, ({ keep, fault, backend: { host } }) => {
            attached++;
            const of = host.join();
            keep(
              of,
              () => opened.push(of),
              () => void closed.push(of),
            );
            if (attached === faultAt) throw fault('TEST', '', 'no');
            const call = () => Reply.data({ of }, true);
            return { protocol: { call, replies: 'data' as const, ...(shareable && { shareable }) } };
          }),
        ],
      });
      const plugins = { ...catalogue.plugins, [protocol.name]: async () => ({ plugin: protocol }) };
      const watched = { ...catalogue, plugins, defaultProtocol: protocol.name };
      return start(watched, { version: 3, ...document }, { port: 0, sinks: silentSinks });
    };
    const at = (path: string, host = 'http://a.test') => ({
      endpoint: path,
      backend: [{ url_pattern: '/', host: [host] }],
    });
    const config = (...all: readonly object[]) => ({ version: 3 as const, endpoints: all });

    beforeEach(() => {
      attached = 0;
      faultAt = 0;
      opened.length = 0;
      closed.length = 0;
    });

    it('share one attachment from the second endpoint on', async () => {
      gateway = await open(true, config(at('/a'), at('/b'), at('/c'), at('/d'), at('/e', 'http://b.test')));
      equal(attached, 3);
      equal((await gateway.inject('/d')).body, '{"of":"http://a.test"}');
      equal((await gateway.inject('/e')).body, '{"of":"http://b.test"}');
    });

    it('share nothing if the protocol does not allow it', async () => {
      gateway = await open(false, config(at('/a'), at('/b'), at('/c')));
      equal(attached, 3);
    });

    it('release the shared attachments with the last of them', async () => {
      gateway = await open(true, config(at('/a'), at('/b'), at('/c')));
      const settled = () => until(() => gateway!.status.draining === 0);
      await gateway.reload(config(at('/c'), at('/x', 'http://b.test')));
      await settled();
      deepEqual([opened, closed], [['http://a.test', 'http://b.test'], []]);
      equal((await gateway.inject('/c')).body, '{"of":"http://a.test"}');
      await gateway.reload(config(at('/x', 'http://b.test')));
      await settled();
      deepEqual(closed, ['http://a.test']);
      await gateway.close();
      deepEqual(closed, ['http://a.test', 'http://b.test']);
    });

    it('release everything if shared attachments fail', async () => {
      faultAt = 2;
      await refused(open(true, config(at('/a'), at('/b'), at('/c'))));
      deepEqual(closed, opened);
      ok(opened.length > 0);
    });

    it('release everything if the configuration is rejected', async () => {
      gateway = await open(true, config(at('/z', 'http://z.test')));
      const wrong = { endpoint: '/w', backend: [{ url_pattern: '/', host: ['http://a.test'], encoding: 'absent' }] };
      await refused(gateway.reload(config(at('/a'), at('/b'), at('/c'), wrong)));
      deepEqual(closed, opened.slice(1));
    });
  });
});

function formOf({ output_encoding: output, backend }: Fields): string {
  const encodings = (backend as readonly Fields[]).map(({ encoding }) => encoding);
  return JSON.stringify([output, output === 'no-op' ? encodings.length : encodings]);
}
