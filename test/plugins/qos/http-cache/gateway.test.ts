import { deepEqual, equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { openAdmin } from '../../../admin/support.ts';
import { type SeenRequest, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const cache = (config: object = {}) => ({ 'qos/http-cache': config });

describe('qos/http-cache in a gateway', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let serve: (seen: SeenRequest) => [status: number, headers: Record<string, string>, body: string];

  beforeEach(async () => {
    serve = () => [200, { 'cache-control': 'max-age=60' }, '{"a":1}'];
    backend = await startBackend((seen, response) => {
      const [status, headers, body] = serve(seen);
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
    });
  });
  afterEach(async () => {
    await gateway?.close();
    await backend.close();
  });

  const start = async (...endpoints: object[]) => {
    gateway = await startGateway({ host: [backend.url], endpoints });
  };
  const one = (endpoint: string, extra: object, more: object = {}) => ({
    endpoint,
    backend: [{ url_pattern: '/x', extra_config: extra }],
    ...more,
  });
  const ask = (url: string, headers: Record<string, string> = {}) => gateway.inject({ url, headers });

  it('decodes and manipulates stored responses like new ones', async () => {
    await start({ endpoint: '/a', backend: [{ url_pattern: '/x', extra_config: cache(), group: 'g' }] });
    for (let turn = 0; turn < 2; turn++) deepEqual((await ask('/a')).json(), { g: { a: 1 } });
    equal(backend.requests.length, 1);
  });

  it('with the no-op encoding returns a stored response unchanged, and 304 to a client that already has it', async () => {
    serve = () => [200, { 'cache-control': 'max-age=60', etag: '"1"', 'x-own': '1' }, '{"a":1}'];
    await start(one('/a', cache(), { output_encoding: 'no-op', input_headers: ['If-None-Match'] }));
    await ask('/a');
    const { headers, body } = await ask('/a');
    deepEqual([headers['x-own'], headers['age'], headers['content-length'], body], ['1', '0', '7', '{"a":1}']);
    const held = await ask('/a', { 'if-none-match': '"1"' });
    deepEqual([held.statusCode, held.body, held.headers['etag']], [304, '', '"1"']);
    equal(backend.requests.length, 1);
  });

  it('returns stored error responses', async () => {
    serve = () => [404, { 'cache-control': 'max-age=60' }, '{}'];
    await start(one('/a', cache()));
    deepEqual([(await ask('/a')).statusCode, (await ask('/a')).statusCode], [500, 500]);
    equal(backend.requests.length, 1);
  });

  for (const [what, config, calls] of [
    ['once for two backends with shared', { shared: true }, 1],
    ['once for two backends with shared and limits', { shared: true, max_items: 5, max_size: 5000 }, 1],
    ['twice for two backends without', {}, 2],
  ] as const) {
    it(`calls the backend ${what}`, async () => {
      await start(one('/a', cache(config)), one('/b', cache(config)));
      await ask('/a');
      await ask('/b');
      equal(backend.requests.length, calls);
    });
  }

  it('depends on the method of the backend, not on that of the endpoint', async () => {
    const get = { url_pattern: '/x', method: 'GET', extra_config: cache() };
    const post = { url_pattern: '/x', method: 'POST', extra_config: cache() };
    await start({ endpoint: '/a', method: 'POST', backend: [get] }, { endpoint: '/b', backend: [post] });
    for (let turn = 0; turn < 2; turn++) await gateway.inject({ url: '/a', method: 'POST' });
    equal(backend.requests.length, 1);
    for (let turn = 0; turn < 2; turn++) await ask('/b');
    equal(backend.requests.length, 3);
  });

  it("never returns one host's response for another host", async () => {
    serve = ({ headers }) => [
      200,
      { 'cache-control': 'max-age=60, public' },
      JSON.stringify(headers['x-forwarded-host']),
    ];
    await start(one('/a', cache(), { output_encoding: 'no-op' }));
    equal((await ask('/a', { host: 'evil.example' })).body, '"evil.example"');
    equal((await ask('/a', { host: 'api.example' })).body, '"api.example"');
  });

  it('returns 500, or 504 with the no-op encoding, for only-if-cached without a stored response', async () => {
    const list = { input_headers: ['Cache-Control'] };
    await start(one('/a', cache(), list), one('/b', cache(), { ...list, output_encoding: 'no-op' }));
    const only = { 'cache-control': 'only-if-cached' };
    deepEqual([(await ask('/a', only)).statusCode, (await ask('/b', only)).statusCode], [500, 504]);
    equal(backend.requests.length, 0);
  });

  it('ignores a Cache-Control header of the client that is not forwarded', async () => {
    await start(one('/a', cache()));
    for (let turn = 0; turn < 2; turn++) await ask('/a', { 'cache-control': 'no-cache' });
    equal(backend.requests.length, 1);
  });

  it('counts requests in rate limits even if the response comes from the cache', async () => {
    const limit = { 'qos/ratelimit/proxy': { max_rate: 1, capacity: 2, every: '10m' } };
    await start(one('/a', { ...cache(), ...limit }));
    const statuses = [];
    for (let turn = 0; turn < 3; turn++) statuses.push((await ask('/a')).statusCode);
    deepEqual([statuses, backend.requests.length], [[200, 200, 500], 1]);
  });

  it('stores a response that a modifier makes cacheable, and modifies it each time', async () => {
    serve = () => [200, {}, '{"a":1}'];
    const life = { 'header.Modifier': { name: 'Cache-Control', value: 'max-age=60', scope: ['response'] } };
    await start(one('/a', { ...cache(), 'modifier/martian': life }, { output_encoding: 'no-op' }));
    for (let turn = 0; turn < 2; turn++) equal((await ask('/a')).headers['cache-control'], 'max-age=60');
    equal(backend.requests.length, 1);
  });

  it('stores responses under the URL that a modifier sets', async () => {
    serve = ({ target }) => [200, { 'cache-control': 'max-age=60' }, JSON.stringify(target)];
    const beta = {
      'header.RegexFilter': {
        header: 'X-V',
        regex: 'beta',
        modifier: { 'querystring.Modifier': { name: 't', value: '1' } },
        scope: ['request'],
      },
    };
    await start(
      one('/a', { ...cache(), 'modifier/martian': beta }, { output_encoding: 'no-op', input_headers: ['X-V'] }),
    );
    deepEqual([(await ask('/a')).body, (await ask('/a', { 'x-v': 'beta' })).body], ['"/x"', '"/x?t=1"']);
  });

  it('stores decompressed bodies without Content-Encoding', async () => {
    const { gzipSync } = await import('node:zlib');
    const packed = gzipSync('{"a":1}');
    await backend.close();
    backend = await startBackend((_seen, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60', 'content-encoding': 'gzip' }).end(packed);
    });
    await start(one('/a', cache(), { output_encoding: 'no-op' }));
    await ask('/a');
    const { headers, body } = await ask('/a');
    deepEqual([headers['content-encoding'], body, backend.requests.length], [undefined, '{"a":1}', 1]);
  });

  it('returns every byte unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await backend.close();
    backend = await startBackend((_seen, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60' }).end(bytes);
    });
    await start(one('/a', cache(), { output_encoding: 'no-op' }));
    const { port } = await gateway.listen();
    for (let turn = 0; turn < 2; turn++) {
      const reply = await fetch(`http://127.0.0.1:${port}/a`);
      deepEqual(Buffer.from(await reply.arrayBuffer()), bytes);
    }
    equal(backend.requests.length, 1);
  });

  it('survives a reload, and can be purged with the admin API', async () => {
    const config = { version: 3, host: [backend.url], endpoints: [one('/a', cache())] };
    const admin = await openAdmin(config);
    gateway = admin.gateway;
    await ask('/a');
    await gateway.reload({ ...config, timeout: '1s' } as never);
    await ask('/a');
    equal(backend.requests.length, 1);
    equal((await admin.ask('/v1/caches/http', { method: 'DELETE' })).status, 204);
    await ask('/a');
    equal(backend.requests.length, 2);
    await admin.close();
  });
});
