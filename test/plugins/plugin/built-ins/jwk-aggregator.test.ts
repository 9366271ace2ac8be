import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { JWK } from 'jose';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/plugin/http-server.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { refusalsOf } from '../../../support/modules.ts';
import { issue, type KeyServer, makeSigner, type Signer, startKeyServer } from '../../auth/fixture.ts';

describe('the plugin "jwk-aggregator"', () => {
  let ada: Signer;
  let bob: Signer;
  let backend: TestBackend;
  let servers: KeyServer[];
  let gateway: Operations | undefined;
  let port: number;
  let sinks: ReturnType<typeof rememberingSinks>;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
    [ada, bob] = await Promise.all([makeSigner('RS256', 'ada'), makeSigner('RS256', 'bob')]);
  });
  after(() => backend.close());
  beforeEach(async () => {
    servers = [await startKeyServer(ada.jwk), await startKeyServer(bob.jwk)];
    port = await freePort();
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    for (const server of servers) {
      server.answer = null;
      await server.close();
    }
  });

  const config = (settings: object = {}, validator: object = {}) => ({
    version: 3,
    host: [backend.url],
    endpoints: [
      {
        endpoint: '/a',
        extra_config: {
          'auth/validator': {
            ...{ alg: 'RS256', jwk_url: `http://localhost:${port}`, disable_jwk_security: true, cache: true },
            ...validator,
          },
        },
        backend: [{ url_pattern: '/a' }],
      },
    ],
    extra_config: {
      'plugin/http-server': {
        name: ['jwk-aggregator'],
        'jwk-aggregator': { port, origins: servers.map(({ url }) => `${url}/keys`), ...settings },
      },
    },
  });
  const open = async (settings?: object, validator?: object) => {
    gateway = await startGateway(config(settings, validator), { sinks });
  };
  const fetchSet = (init?: RequestInit, path = '/') => fetch(`http://127.0.0.1:${port}${path}`, init);
  const names = async () => {
    const response = await fetchSet();
    return ((await response.json()) as { keys: JWK[] }).keys.map(({ kid }) => kid);
  };
  const refuse = (server: KeyServer) => {
    server.answer = (response) => response.writeHead(500).end();
  };
  const lines = (pattern: RegExp) => sinks.lines.filter((line) => pattern.test(line));

  it('serves the keys of all origins in order, under any path', async () => {
    await open();
    const response = await fetchSet({}, '/any/path?x=1');
    equal(response.headers.get('content-type'), 'application/json');
    deepEqual(await response.json(), { keys: [ada.jwk, bob.jwk] });
  });

  it('provides keys to auth/validator in the same gateway without a call to its own port', async () => {
    await open();
    for (const signer of [ada, bob]) {
      const headers = { authorization: `Bearer ${await issue(signer)}` };
      equal((await gateway!.inject({ url: '/a', headers })).statusCode, 200);
    }
    await gateway!.close();
    // The URL still works for validators in the gateway with the aggregator, although no server listens there.
    await open({}, { disable_jwk_security: false, jwk_url: `http://127.0.0.1:${port}/keys` });
    const headers = { authorization: `Bearer ${await issue(bob)}` };
    equal((await gateway!.inject({ url: '/a', headers })).statusCode, 200);
  });

  it('omits the keys of a failed origin and logs the failure', async () => {
    refuse(servers[0]!);
    await open({}, { cache: false });
    deepEqual(await names(), ['bob']);
    const line = lines(/does not contain its keys/).at(-1);
    match(
      line!,
      /ERROR.*\[PLUGIN: jwk-aggregator\] 127\.0\.0\.1:\d+\/keys: status 500; the set does not contain its keys/,
    );
  });

  it('returns 502 without a body if no origin responds', async () => {
    for (const server of servers) refuse(server);
    await open();
    const response = await fetchSet();
    deepEqual([response.status, await response.text()], [502, '']);
  });

  it('serves GET and HEAD only', async () => {
    await open();
    const response = await fetchSet({ method: 'POST', body: 'x' });
    deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD']);
    const head = await fetchSet({ method: 'HEAD' });
    deepEqual([head.status, Number(head.headers.get('content-length')) > 100], [200, true]);
  });

  it('fetches the keys for each request without a cache, once for concurrent requests', async () => {
    await open({}, { jwk_url: 'https://127.0.0.1:1/' });
    await names();
    await names();
    equal(servers[0]!.downloads, 2);
    await Promise.all([names(), names(), names()]);
    ok(servers[0]!.downloads <= 5);
  });

  const allow = (control: string) => {
    for (const [index, server] of servers.entries()) {
      const set = JSON.stringify({ keys: [[ada, bob][index]!.jwk] });
      const head = { 'Content-Type': 'application/json', 'Cache-Control': control };
      server.answer = (response) => response.writeHead(200, head).end(set);
    }
  };
  const cached = () => config({ cache: true }, { jwk_url: 'https://127.0.0.1:1/' });

  it('caches keys for the lifetime that the origin declares, across reloads', async () => {
    allow('public, max-age=3600');
    gateway = await startGateway(cached());
    await names();
    await gateway.reload({ ...cached(), name: 'another' });
    deepEqual(await names(), ['ada', 'bob']);
    deepEqual(
      servers.map(({ downloads }) => downloads),
      [1, 1],
    );
  });

  it('uses expired cached keys while the origin fails', async () => {
    allow('max-age=0');
    gateway = await startGateway(cached(), { sinks });
    await names();
    await names();
    equal(servers[0]!.downloads, 2);
    for (const server of servers) refuse(server);
    deepEqual(await names(), ['ada', 'bob']);
    equal(lines(/its previous keys are used/).length, 2);
  });

  it('warns once about a key ID that two origins share', async () => {
    servers[1]!.answer = (response) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ keys: [{ ...bob.jwk, kid: 'ada' }] }));
    await open({}, { jwk_url: 'https://127.0.0.1:1/' });
    await names();
    await names();
    await until(() => lines(/the same ID/).length > 0);
    equal(lines(/the same ID; the last one is used: "ada"/).length, 1);
  });

  it('is rejected with the location of the error', async () => {
    const at = '/extra_config/plugin~1http-server/jwk-aggregator';
    for (const [settings, place] of [
      [{ origins: ['ftp://a/'] }, 'KEYS_URL /origins/0'],
      [{ origins: ['a'] }, 'KEYS_URL /origins/0'],
      [{ origins: [] }, 'SCHEMA_RANGE /origins'],
      [{ port: 0 }, 'SCHEMA_RANGE /port'],
      [{ cach: true }, 'SCHEMA_UNKNOWN_KEY /cach'],
    ] as const) {
      const [refusal] = await refusalsOf(startGateway(config(settings)));
      equal(`${refusal!.code} ${refusal!.pointer.replace(at, '')}`, place);
    }
  });

  it('warns about keys fetched without TLS', async () => {
    const settings = { port, origins: ['https://a.test/keys', 'http://b.test/keys'] };
    const gate = await openHarness(plugin, 'service', { name: 'jwk-aggregator', 'jwk-aggregator': settings });
    deepEqual(
      gate.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
      ['KEYS_INSECURE /jwk-aggregator/origins/1'],
    );
    await gate.close();
  });
});
