import { deepEqual, equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';

/** An endpoint whose backend request has the endpoint's path, so that the target identifies the endpoint. */
const at = (line: string, more: object = {}): object => {
  const [method, endpoint] = line.split(' ') as [string, string];
  const name = `/${method}${endpoint.replace(/[{}*]/g, '')}`;
  return { endpoint, method, output_encoding: 'no-op', backend: [{ url_pattern: name }], ...more };
};

describe('an endpoint with the method ANY', () => {
  let backend: TestBackend;
  let gateway: Gateway | null = null;
  let port: number;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    (backend.requests as unknown[]).length = 0;
  });

  const start = async (endpoints: object[], components: object = {}, more: object = {}): Promise<void> => {
    gateway = await startGateway({ host: [backend.url], endpoints, extra_config: components, ...more });
    ({ port } = await gateway.listen());
  };

  /** Method and target of the backend request, or the status if no request was sent. */
  const leadsTo = async (line: string): Promise<unknown> => {
    const count = backend.requests.length;
    const { status } = await ask(port, line);
    const seen = backend.requests[count];
    return seen ? `${seen.method} ${seen.target}` : status;
  };

  const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'SOURCE'];

  for (const path of ['/x', '/x/{id}', '/x/*']) {
    it(`serves every method at ${path}, and passes the method to the backend`, async () => {
      await start([at(`ANY ${path}`)]);
      const asked = path.replace(/\{id\}|\*/, '7');
      const target = path.endsWith('*') ? '/ANY/x/7' : `/ANY${path.replace(/[{}]/g, '')}`;
      for (const method of everyMethod) equal(await leadsTo(`${method} ${asked}`), `${method} ${target}`, method);
    });
  }

  it('leaves QUERY to a separate endpoint on the same path, which forwards the body', async () => {
    await start([at('ANY /x'), at('QUERY /x', { extra_config: { 'validation/json-schema': { required: ['q'] } } })]);
    const headers = { 'Content-Type': 'application/json' };
    equal((await ask(port, 'QUERY /x', { headers, body: '{"q":1}' })).status, 200);
    equal((await ask(port, 'QUERY /x', { headers, body: '{}' })).status, 400);
    deepEqual(
      backend.requests.map(({ method, target, body }) => [method, target, String(body)]),
      [['QUERY', '/QUERY/x', '{"q":1}']],
    );
  });

  it('leaves methods to other endpoints of the same path, regardless of order and variable names', async () => {
    const endpoints = [at('GET /x/{id}'), at('ANY /x/{name}'), at('DELETE /x/{id}'), at('POST /other')];
    for (const order of [endpoints, endpoints.toReversed()]) {
      await start(order);
      equal(await leadsTo('GET /x/7'), 'GET /GET/x/id');
      equal(await leadsTo('DELETE /x/7'), 'DELETE /DELETE/x/id');
      equal(await leadsTo('POST /x/7'), 'POST /ANY/x/name');
      equal(await leadsTo('PROPFIND /x/7'), 'PROPFIND /ANY/x/name');
      await gateway!.close();
    }
  });

  it('is overridden by an endpoint with a more specific path and any method', async () => {
    await start([at('ANY /x/{id}'), at('GET /x/new'), at('ANY /y/new'), at('GET /y/{id}')]);
    deepEqual([await leadsTo('GET /x/new'), await leadsTo('POST /x/new')], ['GET /GET/x/new', 'POST /ANY/x/id']);
    deepEqual([await leadsTo('GET /y/new'), await leadsTo('GET /y/7')], ['GET /ANY/y/new', 'GET /GET/y/id']);
  });

  it('does not change 405 and the Allow header of other paths', async () => {
    await start([at('ANY /x'), at('GET /y'), at('POST /y')]);
    const { status, headers } = await ask(port, 'DELETE /y');
    deepEqual([status, headers.allow], [405, 'GET, HEAD, POST']);
    equal((await ask(port, 'PROPFIND /y')).headers.allow, 'GET, HEAD, POST');
  });

  it('serves HEAD if the path has no GET endpoint or auto_head is disabled', async () => {
    await start([at('ANY /x'), at('GET /x')]);
    equal(await leadsTo('HEAD /x'), 'GET /GET/x');
    await gateway!.close();
    await start([at('ANY /x'), at('GET /x')], { router: { auto_head: false } });
    equal(await leadsTo('HEAD /x'), 'HEAD /ANY/x');
  });

  it('calls its backend with the method that the backend configures, if any', async () => {
    await start([at('ANY /x', { backend: [{ url_pattern: '/', method: 'POST' }] })]);
    equal(await leadsTo('PUT /x'), 'POST /');
  });

  it('is found by redirects that correct letter case and slashes', async () => {
    await start([at('ANY /x/y'), at('GET /z')]);
    const location = async (line: string) => (await ask(port, line)).headers.location;
    deepEqual([await location('PUT /X/y'), await location('PROPFIND /x/y/')], ['/x/y', '/x/y']);
  });

  it('serves every method over HTTP/2', async () => {
    await start([at('ANY /x'), at('GET /z')], {}, { use_h2c: true });
    const client = connect(`http://127.0.0.1:${port}`);
    try {
      const stream = client.request({ ':method': 'REPORT', ':path': '/x' }).end().resume();
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      equal(headers[':status'], 200);
    } finally {
      client.close();
    }
  });

  it('takes precedence over auto_options, but not over CORS preflights', async () => {
    const router = { auto_options: true };
    await start([at('ANY /x'), at('GET /y')], { router, 'security/cors': { allow_origins: ['*'] } });
    equal(await leadsTo('OPTIONS /x'), 'OPTIONS /ANY/x');
    equal((await ask(port, 'OPTIONS /y')).headers.allow, 'GET, HEAD');
    const headers = { origin: 'https://a.test', 'access-control-request-method': 'GET' };
    const preflight = await ask(port, 'OPTIONS /x', { headers });
    deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, '*']);
    equal(backend.requests.length, 1);
  });

  it('uses the CORS policy of its endpoint for each method', async () => {
    const cors = { allow_origins: ['https://a.test'], allow_methods: ['PUT'] };
    await start([at('ANY /x', { extra_config: { 'security/cors': cors } })], {
      'security/cors': { allow_origins: ['https://b.test'] },
    });
    const headers = { origin: 'https://a.test', 'access-control-request-method': 'PUT' };
    equal((await ask(port, 'OPTIONS /x', { headers })).headers['access-control-allow-origin'], 'https://a.test');
  });

  it('is served by virtual hosts', async () => {
    await start([at('ANY /__virtual/shop.test/x'), at('GET /y')], { 'server/virtualhost': { hosts: ['shop.test'] } });
    const asked = async (host: string) => (await ask(port, 'PATCH /x', { headers: { host } })).status;
    deepEqual([await asked('shop.test'), await asked('other.test')], [200, 404]);
  });

  it('cannot be declared twice for a path, nor for a built-in path', async () => {
    await rejects(start([at('ANY /x'), at('ANY /x')]), /ROUTE_DUPLICATE/);
    await rejects(start([at('ANY /__health')]), /ROUTE_RESERVED/);
    await rejects(start([at('ANY /up')], { router: { health_path: '/up' } }), /ROUTE_RESERVED/);
  });
});

describe('an endpoint with the method OPTIONS', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway.close();
    (backend.requests as unknown[]).length = 0;
  });

  it('takes precedence over auto_options but not over CORS preflights, and appears in Allow', async () => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [at('OPTIONS /x'), at('GET /x')],
      extra_config: { router: { auto_options: true }, 'security/cors': { allow_origins: ['*'] } },
    });
    ({ port } = await gateway.listen());
    equal((await ask(port, 'OPTIONS /x')).status, 200);
    deepEqual(
      backend.requests.map(({ method, target }) => `${method} ${target}`),
      ['OPTIONS /OPTIONS/x'],
    );
    const headers = { origin: 'https://a.test', 'access-control-request-method': 'GET' };
    equal((await ask(port, 'OPTIONS /x', { headers })).status, 204);
    equal(backend.requests.length, 1);
    equal((await ask(port, 'DELETE /x')).headers.allow, 'GET, HEAD, OPTIONS');
  });

  it('receives CORS preflights if options_passthrough is set', async () => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [at('OPTIONS /x'), at('GET /x')],
      extra_config: { 'security/cors': { allow_origins: ['*'], options_passthrough: true } },
    });
    ({ port } = await gateway.listen());
    const headers = { origin: 'https://a.test', 'access-control-request-method': 'GET' };
    const { status, headers: got } = await ask(port, 'OPTIONS /x', { headers });
    deepEqual([status, got['access-control-allow-origin'], backend.requests.length], [200, '*', 1]);
  });
});
