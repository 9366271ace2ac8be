import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { Gateway } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { plugin } from '../../../plugins/modifier/response-headers/index.ts';
import { openAdmin } from '../../admin/support.ts';
import { openRaw, sendRaw } from '../../kernel/server/raw.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { startWith } from '../../support/plugged.ts';
import { shout } from '../../support/shout.ts';

/** Errors of a configuration. */
async function faultsOf(config: unknown): Promise<unknown> {
  let faults: unknown;
  await rejects(openHarness(plugin, 'service', config), (error: unknown) => {
    if (!(error instanceof ConfigErrors)) throw error;
    faults = error.errors.map(({ code, pointer }) => [code, pointer]);
    return true;
  });
  return faults;
}

describe('modifier/response-headers', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/broken') return void response.destroy();
      response.writeHead(200, {
        ...{ 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' },
        ...{ 'X-A': '1', 'X-Old': '1', 'X-New': '9' },
      });
      response.end('{"a":1}');
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const start = async (rules: object, around: { root?: object; endpoint?: object; extra?: object } = {}) => {
    const raw = { output_encoding: 'no-op' };
    gateway = await startGateway({
      host: [backend.url],
      ...around.root,
      extra_config: { 'modifier/response-headers': rules, ...around.extra },
      endpoints: [
        { endpoint: '/data', cache_ttl: '60s', backend: [{ url_pattern: '/' }] },
        { endpoint: '/raw', ...raw, backend: [{ url_pattern: '/' }] },
        { endpoint: '/stream', output_encoding: 'streaming', backend: [{ url_pattern: '/' }] },
        { endpoint: '/broken', backend: [{ url_pattern: '/broken' }] },
        { endpoint: '/mine', ...around.endpoint, backend: [{ url_pattern: '/' }] },
      ],
    });
    return gateway;
  };
  const headersOf = async (url: string, name: string, given: Gateway | undefined = gateway) => {
    const { headers } = await given!.inject(url);
    return headers[name];
  };

  it('adds a missing header', async () => {
    await start({ add: { 'X-Hello': ['World'] } });
    equal(await headersOf('/data', 'x-hello'), 'World');
  });

  it('adds values after existing ones, in order, each in its own line', async () => {
    await start({ add: { 'X-A': ['2', '3'] } });
    const { port } = await gateway!.listen();
    const text = await sendRaw(port, 'GET /raw HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    deepEqual(
      text.split('\r\n').filter((line) => /^x-a:/i.test(line)),
      ['X-A: 1', 'X-A: 2', 'X-A: 3'],
    );
  });

  it('replaces all values of a header', async () => {
    await start({ replace: { 'Cache-Control': ['no-store'] } });
    equal(await headersOf('/raw', 'cache-control'), 'no-store');
    equal(await headersOf('/data', 'cache-control'), 'no-store');
  });

  it('adds a missing header to replace, and ignores missing headers to rename or delete', async () => {
    await start({ replace: { 'X-Set': ['1'] }, rename: { 'X-None': 'X-Set' }, delete: ['X-Never'] });
    const { headers } = await gateway!.inject('/data');
    deepEqual([headers['x-set'], 'x-none' in headers, 'x-never' in headers], ['1', false, false]);
  });

  it('renames a header, replacing an existing one with the new name', async () => {
    await start({ rename: { 'X-Old': 'X-New' } });
    const { headers } = await gateway!.inject('/raw');
    deepEqual([headers['x-new'], headers['x-old']], ['1', undefined]);
  });

  it("deletes headers in any letter case, including the gateway's own", async () => {
    await start({ delete: ['X-Gateway', 'x-gateway-completed'] });
    const { headers } = await gateway!.inject('/data');
    deepEqual([headers['x-gateway'], headers['x-gateway-completed']], [undefined, undefined]);
  });

  it('deletes headers that another rule added', async () => {
    await start({ delete: ['X-A'], add: { 'X-A': ['1'] } });
    equal(await headersOf('/raw', 'x-a'), undefined);
  });

  it('renames headers that another rule added or replaced', async () => {
    await start({ add: { 'X-B': ['1'] }, replace: { 'X-B': ['2'] }, rename: { 'X-B': 'X-C' } });
    const { headers } = await gateway!.inject('/data');
    deepEqual([headers['x-b'], headers['x-c']], [undefined, '2']);
  });

  it('canonicalizes header names', async () => {
    await start({ add: { 'mY-HEAdEr': ['1'] } });
    const { port } = await gateway!.listen();
    const text = await sendRaw(port, 'GET /data HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    match(text, /\r\nMy-Header: 1\r\n/);
  });

  it('writes values literally, without variables', async () => {
    await start({ add: { 'X-V': ['{id} $1 {{ .x }}'] } });
    equal(await headersOf('/data', 'x-v'), '{id} $1 {{ .x }}');
  });

  it('changes every kind of response: data, bytes, streams, failures, rejections, 404, 405, redirects and health', async () => {
    await start(
      { add: { 'X-Hello': ['World'] } },
      {
        root: { debug_endpoint: true, echo_endpoint: true },
        endpoint: {
          extra_config: { 'auth/validator': { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' } },
        },
      },
    );
    const seen = [];
    const urls = ['/data', '/raw', '/stream', '/broken', '/mine', '/nowhere', '/data/', '/__health', '/__echo/'];
    for (const url of urls) {
      const { statusCode, headers } = await gateway!.inject(url);
      seen.push([url, statusCode, headers['x-hello']]);
    }
    const { statusCode, headers } = await gateway!.inject({ method: 'DELETE', url: '/data' });
    seen.push(['DELETE', statusCode, headers['x-hello']]);
    deepEqual(seen, [
      ['/data', 200, 'World'],
      ['/raw', 200, 'World'],
      ['/stream', 200, 'World'],
      ['/broken', 500, 'World'],
      ['/mine', 401, 'World'],
      ['/nowhere', 404, 'World'],
      ['/data/', 301, 'World'],
      ['/__health', 200, 'World'],
      ['/__echo/', 200, 'World'],
      ['DELETE', 405, 'World'],
    ]);
  });

  it('changes rejections of a rate limit and CORS preflights', async () => {
    await start(
      { add: { 'X-Hello': ['World'] } },
      {
        extra: { 'security/cors': { allow_origins: ['https://a.example'] } },
        endpoint: { extra_config: { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' } } },
      },
    );
    await gateway!.inject('/mine');
    const limited = await gateway!.inject('/mine');
    deepEqual([limited.statusCode, limited.headers['x-hello']], [503, 'World']);
    const preflight = await gateway!.inject({
      method: 'OPTIONS',
      url: '/data',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    });
    equal(preflight.headers['x-hello'], 'World');
  });

  it('runs after CORS and security/http', async () => {
    await start(
      { delete: ['X-Frame-Options'], rename: { 'Access-Control-Allow-Origin': 'X-Allowed' } },
      { extra: { 'security/cors': { allow_origins: ['https://a.example'] }, 'security/http': { frame_deny: true } } },
    );
    const { headers } = await gateway!.inject({ url: '/data', headers: { origin: 'https://a.example' } });
    deepEqual(
      [headers['x-frame-options'], headers['access-control-allow-origin'], headers['x-allowed']],
      [undefined, undefined, 'https://a.example'],
    );
  });

  it('gives the same result for every response', async () => {
    await start({ add: { 'X-Hello': ['World'] } });
    for (const url of ['/nowhere', '/nowhere', '/__health', '/__health', '/broken', '/broken']) {
      equal(await headersOf(url, 'x-hello'), 'World');
    }
  });

  it('changes the headers of a protocol upgrade', async () => {
    gateway = await startWith([shout], {
      extra_config: { 'modifier/response-headers': { add: { 'X-Hello': ['World'] } } },
      endpoints: [
        {
          endpoint: '/shout',
          extra_config: { 'test/shout': {} },
          backend: [{ host: [backend.url], url_pattern: '/' }],
        },
      ],
    });
    const { port } = await gateway.listen();
    const client = await openRaw(port);
    client.write('GET /shout HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n');
    await client.until((received) => received.includes('\r\n\r\n'));
    match(client.received, /^HTTP\/1\.1 101 .*\r\nX-Hello: World\r\n/s);
    client.socket.destroy();
  });

  it('changes responses over HTTP/2', async () => {
    await start({ add: { 'X-Hello': ['World'] }, delete: ['Date'] }, { root: { use_h2c: true } });
    const { port } = await gateway!.listen();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    try {
      const stream = session.request({ ':path': '/data' });
      const [headers] = (await once(stream, 'response')) as [Record<string, string>];
      deepEqual([headers['x-hello'], headers['date']], ['World', undefined]);
    } finally {
      session.destroy();
    }
  });

  it('does not affect the admin port', async () => {
    const admin = await openAdmin({
      version: 3,
      extra_config: { 'modifier/response-headers': { add: { 'X-Hello': ['World'] } } },
      endpoints: [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }],
    });
    const { status, headers } = await admin.ask('/v1/status');
    await admin.close();
    deepEqual([status, headers['x-hello']], [200, undefined]);
  });

  it('can delete the Date header, with a warning', async () => {
    const harness = await openHarness(plugin, 'service', { delete: ['date'] });
    deepEqual(
      harness.warnings.map(({ code, pointer }) => [code, pointer]),
      [['HEADERS_DATE', '/delete/0']],
    );
    await harness.close();
    await start({ delete: ['date'] });
    const { port } = await gateway!.listen();
    const { headers } = await fetch(`http://127.0.0.1:${port}/data`);
    equal(headers.get('date'), null);
  });

  it('ignores rules for framing headers, with a warning', async () => {
    const rules = {
      replace: { 'Content-Length': ['1'] },
      rename: { 'X-Old': 'Connection' },
      delete: ['Transfer-Encoding', 'X-New'],
    };
    const harness = await openHarness(plugin, 'service', rules);
    deepEqual(
      harness.warnings.map(({ code, pointer }) => [code, pointer]),
      [
        ['HEADERS_FRAMING', '/replace/Content-Length'],
        ['HEADERS_FRAMING', '/rename/X-Old'],
        ['HEADERS_FRAMING', '/delete/0'],
      ],
    );
    await harness.close();
    await start(rules);
    const { port } = await gateway!.listen();
    const response = await fetch(`http://127.0.0.1:${port}/raw`);
    deepEqual([await response.json(), response.headers.get('x-old')], [{ a: 1 }, '1']);
  });

  it('rejects values with control characters, and invalid names', async () => {
    deepEqual(await faultsOf({ add: { 'X-A': ['a', 'b\r\nX-Evil: 1'] } }), [['HEADERS_VALUE', '/add/X-A/1']]);
    deepEqual(await faultsOf({ replace: { 'X-A': ['\u0000'] } }), [['HEADERS_VALUE', '/replace/X-A/0']]);
    deepEqual(await faultsOf({ rename: { 'X-A': 'X:B' } }), [['HEADERS_NAME', '/rename/X-A']]);
    deepEqual(await faultsOf({ delete: ['X A'] }), [['HEADERS_NAME', '/delete/0']]);
  });

  it('rejects wrong types and an object without rules', async () => {
    deepEqual(await faultsOf({ add: { 'X-A': 'b' } }), [['SCHEMA_TYPE', '/add/X-A']]);
    deepEqual(await faultsOf({ delete: 'X-A' }), [['SCHEMA_TYPE', '/delete']]);
    deepEqual(await faultsOf({}), [['SCHEMA_RANGE', '']]);
    for (const rules of [{ add: {} }, { delete: [] }, { add: {}, replace: {}, rename: {}, delete: [] }])
      deepEqual(await faultsOf(rules), [['HEADERS_EMPTY', '']]);
    deepEqual(await faultsOf({ '@comment': 'no rule' }), [['SCHEMA_RANGE', '']]);
  });

  it('ignores comment keys among its rules', async () => {
    const harness = await openHarness(plugin, 'service', { '@comment': 'a rule', delete: ['X-A'] });
    deepEqual(harness.warnings, []);
    await harness.close();
  });
});
