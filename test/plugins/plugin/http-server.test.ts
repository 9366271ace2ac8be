import { deepEqual, equal, ok } from 'node:assert/strict';
import { request as connect } from 'node:http';
import { atEndpoint, definePlugin, HeaderBag, Reply } from '#contract';
import type { Operations } from '#kernel';
import { plugin } from '../../../plugins/plugin/http-server.ts';
import { ask as askRaw } from '../../kernel/server/ask.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { type ModuleElement, moduleOf, refusalsOf, startModules } from '../../support/modules.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;
type Server = (request: Loose, next: (request?: Request) => Promise<Response>, host: Loose) => unknown;

describe('an HTTP server module', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;
  let release: () => void = () => {};

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target.startsWith('/slow')) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('first ');
        release = () => response.end('last');
        return;
      }
      if (seen.target.startsWith('/empty')) json({})(seen, response);
      else json({ path: seen.target, body: seen.body.toString() })(seen, response);
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const modules = (handlers: Record<string, Server>): ModuleElement[] =>
    Object.entries(handlers).map(([name, handler]) => ({
      name,
      httpServer: (_config: unknown, host: Loose) => (request: Loose, next: Loose) => handler(request, next, host),
    }));
  const to = (path = '/a', more: object = {}) => ({ endpoint: path, backend: [{ url_pattern: '/b' }], ...more });
  const raw = (path: string, more: object = {}) =>
    to(path, { output_encoding: 'no-op', input_headers: ['*'], input_query_strings: ['*'], ...more });
  const start = async (
    handlers: Record<string, Server>,
    { endpoints = [to()], extra = {}, names = Object.keys(handlers) as string | string[], root = {} } = {},
  ) => {
    sinks = rememberingSinks();
    const extra_config = { 'plugin/http-server': { name: names }, ...extra };
    const config = { host: [backend.url], endpoints, extra_config, ...root };
    gateway = await startModules(config, modules(handlers), { sinks });
  };
  const ask = async (url = '/a', options: object = {}) => {
    const { statusCode, body, headers } = await gateway!.inject({ url, ...options });
    return { status: statusCode, body, headers };
  };
  const last = () => backend.requests.at(-1)!;
  const passing: Server = (_request, next) => next();
  const pathOf = ({ url }: Request) => new URL(url).pathname;

  it("responds to one path itself and forwards requests for others, including the gateway's own paths", async () => {
    await start({
      hijack: (request, next) => (pathOf(request) === '/hijack-me' ? new Response('Hello') : next()),
    });
    const { status, body } = await ask('/hijack-me');
    deepEqual([status, body], [200, 'Hello']);
    const health = await ask('/__health');
    deepEqual([health.status, JSON.parse(health.body).status], [200, 'ok']);
    equal((await ask('/a')).status, 200);
    equal((await ask('/nowhere')).status, 404);
  });

  const appending =
    (sign: string): Server =>
    async (request, next) => {
      request.headers.append('X-Seq', sign);
      const response = await next(request);
      response.headers.append('X-Seq', sign);
      return response;
    };

  it('runs in reverse order of names for requests, and in order for responses', async () => {
    await start({ A: appending('A'), B: appending('B'), C: appending('C') }, { endpoints: [raw('/a')] });
    const { headers } = await ask();
    equal(last().headers['x-seq'], 'C, B, A');
    equal(headers['x-seq'], 'A, B, C');
  });

  it('accepts a single name as a string', async () => {
    await start({ A: appending('A') }, { endpoints: [raw('/a')], names: 'A' });
    await ask();
    equal(last().headers['x-seq'], 'A');
  });

  it('changes the path for endpoints and logs', async () => {
    let seen: unknown;
    await start(
      {
        look: (request, next) => {
          seen = [request.originalPath, pathOf(request)];
          return next();
        },
        rewrite: (request, next) => next(new Request(new URL('/new?x=2', request.url), request)),
      },
      { endpoints: [raw('/new')] },
    );
    const { status, body } = await ask('/old?x=1');
    deepEqual([status, JSON.parse(body).path], [200, '/b?x=2']);
    deepEqual(seen, ['/old', '/new']);
    ok(sinks.lines.some((line) => line.includes('GET') && line.includes('"/new?x=2"')));
  });

  it("sees the client's original path", async () => {
    let seen: unknown;
    await start({
      look: (request, next) => {
        seen = [request.originalPath, request.method, request.state instanceof Map, request.raw.request.url];
        return next();
      },
    });
    await ask('/a?x=1');
    deepEqual(seen, ['/a', 'GET', true, '/a?x=1']);
  });

  it('reads the headers of the response at any time, even if it creates a new response from it', async () => {
    await start({
      copy: async (request, next) => {
        const response = await next(request);
        return new Response(response.body, response);
      },
    });
    const { status, headers } = await ask('/a');
    deepEqual([status, headers['content-type']], [200, 'application/json; charset=utf-8']);
  });

  it("can reject a request before the gateway's rate limits count it", async () => {
    const limited = { 'qos/ratelimit/router': { max_rate: 1, every: '1h' } };
    await start(
      { block: (request, next) => (request.headers.has('x-block') ? new Response(null, { status: 403 }) : next()) },
      { endpoints: [to('/a', { extra_config: limited })] },
    );
    for (let at = 0; at < 3; at++) equal((await ask('/a', { headers: { 'x-block': '1' } })).status, 403);
    equal((await ask('/a')).status, 200);
    equal((await ask('/a')).status, 503);
  });

  it('is named in the access log if it responds', async () => {
    await start({ hello: () => new Response('Hello') });
    await ask('/x');
    ok(sinks.lines.some((line) => /"\/x".* handled_by=hello/.test(line)));
    await gateway!.close();
    await start({ passing });
    await ask('/a');
    ok(!sinks.lines.some((line) => line.includes('handled_by')));
  });

  it('runs after CORS preflights, and its responses receive CORS headers', async () => {
    let calls = 0;
    await start(
      {
        hello: () => {
          calls += 1;
          return new Response('Hello');
        },
      },
      { extra: { 'security/cors': { allow_origins: ['https://a.example'] } } },
    );
    const origin = { origin: 'https://a.example' };
    await ask('/a', { method: 'OPTIONS', headers: { ...origin, 'access-control-request-method': 'GET' } });
    equal(calls, 0);
    equal((await ask('/a', { headers: origin })).headers['access-control-allow-origin'], 'https://a.example');
    equal(calls, 1);
  });

  it('sets a header on responses without an endpoint', async () => {
    await start({
      dress: async (request, next) => {
        const response = await next(request);
        response.headers.set('X-Dressed', 'yes');
        return response;
      },
    });
    const { status, headers } = await ask('/nowhere');
    deepEqual([status, headers['x-dressed']], [404, 'yes']);
  });

  it('sets response headers before it calls the next step; headers that the gateway also sets are replaced', async () => {
    await start({
      early: (request, next) => {
        request.raw.response.setHeader('X-Early', 'yes');
        request.raw.response.setHeader('Content-Type', 'text/early');
        return next();
      },
    });
    const { headers } = await ask();
    deepEqual([headers['x-early'], headers['content-type']], ['yes', 'application/json; charset=utf-8']);
  });

  it('forwards a response unchanged, including its completeness', async () => {
    await start(
      { passing },
      { endpoints: [to('/a', { cache_ttl: '60s' }), to('/e', { backend: [{ url_pattern: '/empty' }] })] },
    );
    const { body, headers } = await ask();
    deepEqual(JSON.parse(body), { path: '/b', body: '' });
    deepEqual(
      [headers['content-type'], headers['x-gateway-completed'], headers['cache-control']],
      ['application/json; charset=utf-8', 'true', 'public, max-age=60'],
    );
    equal((await ask('/e')).headers['x-gateway-completed'], 'false');
  });

  it('changes the body of a response with its length and content type', async () => {
    await start({
      upper: async (_request, next) => {
        const response = await next();
        return new Response((await response.text()).toUpperCase().slice(0, 8), response);
      },
    });
    const { body, headers } = await ask();
    deepEqual([body, headers['content-type']], ['{"PATH":', 'application/json; charset=utf-8']);
    equal(headers['content-length'] ?? '8', '8');
  });

  it('changes the method, headers and body of a request', async () => {
    await start(
      {
        change: (request, next) =>
          next(
            new Request(request.url, {
              method: 'POST',
              body: 'other',
              headers: { ...Object.fromEntries(request.headers), 'X-A': 'b' },
            }),
          ),
      },
      { endpoints: [raw('/a', { method: 'POST' })] },
    );
    const { status } = await ask('/a', { method: 'GET' });
    equal(status, 200);
    deepEqual([last().method, last().body.toString(), last().headers['x-a']], ['POST', 'other', 'b']);
  });

  it('reads a body and passes it to the next step', async () => {
    await start(
      {
        read: async (request, next) => {
          const text = await request.text();
          return next(new Request(request.url, { method: 'POST', headers: request.headers, body: `${text}!` }));
        },
      },
      { endpoints: [raw('/a', { method: 'POST' })] },
    );
    await ask('/a', { method: 'POST', payload: 'hello' });
    equal(last().body.toString(), 'hello!');
  });

  it('reads at most 1 MiB of a body into memory, and forwards bodies of any size', async () => {
    await start(
      {
        read: async (request, next) => {
          if (request.headers.has('x-read')) await request.text();
          return next();
        },
      },
      { endpoints: [raw('/a', { method: 'POST' })] },
    );
    const payload = 'x'.repeat(1024 * 1024 + 1);
    equal((await ask('/a', { method: 'POST', payload })).status, 200);
    equal(last().body.length, payload.length);
    equal((await ask('/a', { method: 'POST', payload, headers: { 'x-read': '1' } })).status, 413);
  });

  it('forwards streams as they arrive', async () => {
    await start(
      { passing, wrap: (_request, next) => next().then((response) => new Response(response.body, response)) },
      {
        endpoints: [raw('/a', { backend: [{ url_pattern: '/slow' }] })],
      },
    );
    const { port } = await gateway!.listen();
    const text = await new Promise<string>((resolve, reject) => {
      connect({ port, path: '/a' }, (response) => {
        let got = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          got += chunk;
          if (got === 'first ') release();
        });
        response.on('end', () => resolve(got));
      })
        .on('error', reject)
        .end();
    });
    equal(text, 'first last');
  });

  it('allows protocol upgrades', async () => {
    const upgrading = definePlugin({
      name: 'test/hello',
      description: 'Says hello.',
      places: [
        atEndpoint({ type: 'object', properties: {} }, () => ({
          upgrades: ['hello'],
          proxy: () => () =>
            Reply.upgraded({ take: (connection) => void connection.end('hello') }, new HeaderBag(['X-Team', 'a'])),
        })),
      ],
    });
    const seen: number[] = [];
    const log: Server = async (request, next) => {
      const response = await next(request);
      seen.push(response.status);
      response.headers.set('X-Logged', 'yes');
      return response;
    };
    const middleware = { name: 'mid', middleware: () => (_ctx: Loose, _request: Loose, next: Loose) => next() };
    gateway = await startGateway(
      {
        host: [backend.url],
        extra_config: { 'plugin/http-server': { name: ['log'] } },
        endpoints: [raw('/ws', { extra_config: { 'test/hello': {}, 'plugin/middleware': { name: ['mid'] } } })],
      },
      { plugins: [upgrading, moduleOf([...modules({ log }), middleware])] },
    );
    const { port } = await gateway.listen();
    const [status, headers, said] = await new Promise<[number, Record<string, unknown>, string]>((resolve, reject) => {
      const request = connect({ port, path: '/ws', headers: { Connection: 'Upgrade', Upgrade: 'hello' } });
      request.on('upgrade', (response, socket, head) => {
        let got = head.toString();
        socket.on('data', (chunk) => {
          got += chunk;
        });
        socket.on('end', () => {
          socket.end();
          resolve([response.statusCode!, response.headers, got]);
        });
      });
      request.on('response', ({ statusCode }) => reject(new Error(`answered ${statusCode}`)));
      request.on('error', reject).end();
    });
    deepEqual([status, headers['x-logged'], headers['x-team'], said, seen], [101, 'yes', 'a', 'hello', [101]]);
  });

  it('causes a 500 with an empty body and is named in the log if it throws', async () => {
    await start(
      {
        broken: () => {
          throw new Error('no luck');
        },
      },
      { extra: { router: { return_error_msg: true } } },
    );
    const { status, body } = await ask();
    deepEqual([status, body], [500, '']);
    ok(
      sinks.lines.some((line) =>
        /ERROR.*\[PLUGIN: broken\] hook "httpServer" of .* failed.*: Error: no luck/.test(line),
      ),
    );
  });

  for (const [what, answer] of [
    ['nothing', undefined],
    ['a string', 'text'],
    ['an error', Response.error()],
  ] as const) {
    it(`causes a 500 if it returns ${what}`, async () => {
      await start({ odd: () => answer });
      equal((await ask()).status, 500);
      ok(sinks.lines.some((line) => line.includes('ERROR') && line.includes('[PLUGIN: odd]')));
    });
  }

  it('closes the connection if its response body fails', async () => {
    await start({
      torn: () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(Buffer.from('first'));
            },
            pull(controller) {
              controller.error(new Error('torn'));
            },
          }),
        ),
    });
    const { port } = await gateway!.listen();
    const ending = await new Promise<string>((resolve) => {
      connect({ port, path: '/a' }, (response) => {
        response
          .resume()
          .on('error', () => resolve('torn'))
          .on('end', () => resolve('ended'));
      })
        .on('error', () => resolve('torn'))
        .end();
    });
    equal(ending, 'torn');
  });

  it('receives the failure of another module as a response', async () => {
    const seen: number[] = [];
    await start({
      broken: () => {
        throw new Error('no luck');
      },
      look: async (_request, next) => {
        const response = await next();
        seen.push(response.status);
        return response;
      },
    });
    equal((await ask()).status, 500);
    deepEqual(seen, [500]);
  });

  it("receives the client's address behind trusted proxies", async () => {
    const router = {
      forwarded_by_client_ip: true,
      remote_ip_headers: ['X-Forwarded-For'],
      trusted_proxies: ['127.0.0.0/8'],
    };
    await start({ who: (request, _next, host) => new Response(host.clientIp(request)) }, { extra: { router } });
    equal((await ask('/a', { headers: { 'x-forwarded-for': '10.1.2.3' } })).body, '10.1.2.3');
  });

  it('is rejected with the location of an unknown name', async () => {
    const config = (name: unknown) => ({
      endpoints: [to()],
      host: [backend.url],
      extra_config: { 'plugin/http-server': { name } },
    });
    const [refusal] = await refusalsOf(startModules(config(['missing']), modules({ passing })));
    deepEqual([refusal?.code, refusal?.pointer], ['PLUGIN_UNKNOWN', '/extra_config/plugin~1http-server/name/0']);
    const [other] = await refusalsOf(startModules(config('missing'), modules({ passing })));
    equal(other?.pointer, '/extra_config/plugin~1http-server/name');
  });

  it('has no effect unless it is listed', async () => {
    const gate = await openHarness(plugin, 'service', {});
    deepEqual(gate.attached, {});
    await gate.close();
  });

  it('is replaced as a whole by a reload', async () => {
    await start({ A: () => new Response('a'), B: () => new Response('b') }, { names: ['A'] });
    equal((await ask()).body, 'a');
    const extra_config = { 'plugin/http-server': { name: ['B'] } };
    await gateway!.reload({ version: 3, host: [backend.url], endpoints: [to()], extra_config } as Loose);
    equal((await ask()).body, 'b');
  });

  it('rejects methods that fetch does not support', async () => {
    await start({ passing });
    const { port } = await gateway!.listen();
    equal((await askRaw(port, 'TRACE /')).status, 405);
  });
});
