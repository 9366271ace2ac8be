import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { atEndpoint, before as beforeRequest, definePlugin, refuse } from '#contract';
import type { Gateway } from '../../../../kernel/index.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../../support/gateway.ts';
import { startWith } from '../../../support/plugged.ts';
import { ask, config, origin, preflight } from './fixture.ts';

const requested = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
const seen = { 'allow-origin': '*', 'expose-headers': 'Content-Length' };

/** Rejects with the given status, like a validator or a rate limit. */
const refusing = definePlugin({
  name: 'test/refuse',
  description: 'Refuses.',
  places: [
    atEndpoint(
      { type: 'object', properties: { status: { type: 'integer', description: 'Status.', default: 401 } } },
      (site) => ({ endpoint: beforeRequest(() => refuse(site.config.status)) }),
    ),
  ],
});

describe('security/cors at the root', () => {
  let backend: TestBackend;
  let gateway: Gateway;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/slow') return;
      const own = { 'Access-Control-Allow-Origin': 'https://backend.io', 'Access-Control-Max-Age': '9' };
      const vary = target === '/varies' ? ['Accept-Encoding, origin', 'Cookie'] : target === '/any' ? ['*'] : [];
      response.writeHead(200, { 'Content-Type': 'application/json', ...own, ...(vary.length > 0 && { Vary: vary }) });
      response.end('{"ok":true}');
    });
  });
  after(() => backend.close());
  afterEach(() => gateway.close());

  const start = async (cors: object, root: object = {}, options = {}) => {
    const to = (endpoint: string, more: object = {}) => ({
      endpoint,
      backend: [{ host: [backend.url], url_pattern: endpoint }],
      ...more,
    });
    const refused = (status: number) => to(`/${status}`, { extra_config: { 'test/refuse': { status } } });
    gateway = await startWith(
      [refusing],
      {
        endpoints: [
          to('/a'),
          to('/a', { method: 'DELETE' }),
          to('/slow', { timeout: '20ms' }),
          to('/raw', { output_encoding: 'no-op' }),
          to('/varies', { output_encoding: 'no-op' }),
          to('/any', { output_encoding: 'no-op' }),
          to('/stream', { output_encoding: 'streaming' }),
          to('/small', { method: 'POST', extra_config: { proxy: { max_payload: 1 } } }),
          { endpoint: '/down', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] },
          ...[401, 403, 429, 500, 503].map(refused),
        ],
        ...root,
        extra_config: { 'security/cors': cors, ...(root as { extra_config?: object }).extra_config },
      },
      options,
    );
  };

  it('returns the allowed methods and headers to a browser', async () => {
    await start(config);
    const headers = preflight('GET', { 'Access-Control-Request-Headers': 'content-type,origin' });
    const response = await ask(gateway, 'OPTIONS', '/a', headers);
    deepEqual(
      [response.status, response.vary, response.cors],
      [
        204,
        requested,
        { 'allow-origin': '*', 'allow-methods': 'GET', 'allow-headers': 'content-type,origin', 'max-age': '43200' },
      ],
    );
  });

  it('rejects a method by omitting it from the response', async () => {
    await start(config);
    const { status, vary, cors } = await ask(gateway, 'OPTIONS', '/a', preflight('PUT'));
    deepEqual([status, vary, cors], [204, requested, {}]);
  });

  it('rejects a header by omitting it from the response', async () => {
    await start(config);
    const headers = preflight('POST', { 'Access-Control-Request-Headers': 'X-PINGOTHER' });
    const { status, cors } = await ask(gateway, 'OPTIONS', '/a', headers);
    deepEqual([status, cors], [204, {}]);
  });

  it('answers preflights for unknown paths', async () => {
    await start(config);
    const { status, cors } = await ask(gateway, 'OPTIONS', '/nope', preflight('GET'));
    deepEqual([status, cors['allow-methods']], [204, 'GET']);
  });

  it('leaves other OPTIONS requests to the router', async () => {
    await start(config);
    for (const headers of [{ Origin: origin }, preflight('')]) {
      const { status, vary, headers: all } = await ask(gateway, 'OPTIONS', '/a', headers);
      deepEqual([status, vary, all.allow], [405, 'Origin', 'DELETE, GET, HEAD']);
    }
  });

  it('allows pages to read responses', async () => {
    await start(config);
    const { status, vary, cors } = await ask(gateway, 'GET', '/a');
    deepEqual([status, vary, cors], [200, 'Origin', seen]);
  });

  it('returns the origin itself if it matches a wildcard', async () => {
    await start({ allow_origins: ['https://*.ex.com'] });
    const { cors } = await ask(gateway, 'GET', '/a', { Origin: 'https://A.ex.com' });
    deepEqual(cors, { 'allow-origin': 'https://A.ex.com' });
  });

  it('processes a request from another origin without CORS headers', async () => {
    await start({ allow_origins: ['https://*.ex.com'] });
    const { status, vary, cors } = await ask(gateway, 'GET', '/a', { Origin: 'https://ex.com' });
    deepEqual([status, vary, cors], [200, 'Origin', {}]);
  });

  for (const [what, method, url, status] of [
    ['a request without credentials', 'GET', '/401', 401],
    ['a forbidden request', 'GET', '/403', 403],
    ['an unknown path', 'GET', '/nope', 404],
    ['another method', 'POST', '/a', 405],
    ['a body that is too large', 'POST', '/small', 413],
    ['a request over the limit', 'GET', '/429', 429],
    ['a refused request', 'GET', '/503', 503],
    ['a failure', 'GET', '/500', 500],
    ['a backend that is down', 'GET', '/down', 500],
    ['a timeout', 'GET', '/slow', 500],
    ['a redirect', 'GET', '/a/', 301],
    ['a malformed request target', 'GET', '/%zz', 400],
    ['a stream', 'GET', '/stream', 200],
    ['the health path', 'GET', '/__health', 200],
  ] as const) {
    it(`adds its headers to the response to ${what}`, async () => {
      await start(config);
      const response = await gateway.inject({
        method,
        url,
        headers: { Origin: origin },
        payload: method === 'POST' ? 'abc' : '',
      });
      deepEqual(
        [response.statusCode, response.headers['access-control-allow-origin'], response.headers.vary],
        [status, '*', 'Origin'],
      );
    });
  }

  it('sends Vary even in responses to requests without an origin', async () => {
    await start(config);
    const { vary, cors } = await ask(gateway, 'GET', '/a', {});
    deepEqual([vary, cors], ['Origin', {}]);
  });

  it('processes a request with another method without CORS headers', async () => {
    await start(config);
    const { status, cors } = await ask(gateway, 'DELETE', '/a');
    deepEqual([status, cors], [200, {}]);
  });

  it("replaces the backend's CORS headers", async () => {
    await start(config);
    deepEqual((await ask(gateway, 'GET', '/raw')).cors, seen);
    await gateway.close();
    await start({ allow_origins: ['https://other.io'] });
    deepEqual((await ask(gateway, 'GET', '/raw')).cors, {});
  });

  it("extends the backend's Vary header", async () => {
    await start(config);
    equal((await ask(gateway, 'GET', '/varies')).vary, 'Accept-Encoding, origin, Cookie');
    equal((await ask(gateway, 'GET', '/any')).vary, '*');
  });

  it('answers preflights without a body and without other headers', async () => {
    await start(config);
    const { headers } = await ask(gateway, 'OPTIONS', '/a', preflight('GET'));
    for (const name of ['content-type', 'cache-control', 'x-gateway-completed', 'transfer-encoding']) {
      equal(headers[name], undefined, name);
    }
  });

  it('answers preflights with the configured status', async () => {
    await start({ ...config, options_success_status: 200 });
    const { status, headers } = await ask(gateway, 'OPTIONS', '/a', preflight('GET'));
    deepEqual([status, headers['content-length']], [200, '0']);
    equal((await ask(gateway, 'OPTIONS', '/a', preflight('PUT'))).status, 200);
  });

  it('forwards preflights to the router if configured', async () => {
    await start({ ...config, options_passthrough: true }, { extra_config: { router: { auto_options: true } } });
    const { status, vary, headers, cors } = await ask(gateway, 'OPTIONS', '/a', preflight('GET'));
    deepEqual([status, headers.allow, vary, cors['allow-methods']], [200, 'DELETE, GET, HEAD', requested, 'GET']);
  });

  it('answers preflights of clients that security/http would reject', async () => {
    await start(config, { extra_config: { 'security/http': { allowed_hosts: ['api.io'] } } });
    equal((await ask(gateway, 'OPTIONS', '/a', preflight('GET'))).cors['allow-origin'], '*');
    const { status, cors } = await ask(gateway, 'GET', '/a');
    deepEqual([status, cors], [500, seen]);
  });

  it('never forwards a preflight to a backend', async () => {
    await start(config);
    const before = backend.requests.length;
    await ask(gateway, 'OPTIONS', '/a', preflight('GET'));
    equal(backend.requests.length, before);
  });

  it('logs its decisions if so configured, and removes line breaks that clients send', async () => {
    const sinks = rememberingSinks();
    const logging = { 'telemetry/logging': { level: 'DEBUG', stdout: true } };
    await start({ ...config, debug: true }, { extra_config: logging }, { sinks });
    await ask(gateway, 'OPTIONS', '/a', preflight('PUT'));
    await ask(gateway, 'GET', '/a');
    const lines = sinks.lines.filter((line) => line.includes('[CORS]'));
    match(lines[0]!, /DEBUG.*\[CORS\] "preflight \/a from https:\/\/a\.io": the method is not allowed/);
    match(lines[1]!, /\[CORS\] "GET \/a from https:\/\/a\.io": allowed/);
    equal(lines.length, 2);
  });

  it('logs no decisions by default', async () => {
    const sinks = rememberingSinks();
    const logging = { 'telemetry/logging': { level: 'DEBUG', stdout: true } };
    await start(config, { extra_config: logging }, { sinks });
    await ask(gateway, 'GET', '/a');
    ok(sinks.lines.length > 0);
    equal(sinks.lines.join('').includes('[CORS]'), false);
  });
});
