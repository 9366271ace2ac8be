import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  type AtService,
  atBackend,
  atEndpoint,
  atService,
  definePlugin,
  defineSlot,
  HeaderBag,
  makeRequest,
  Reply,
  RequestBody,
  refuse,
  type Site,
} from '#contract';
import type { Gateway, Operations } from '../../../kernel/index.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const nothing = { type: 'object', properties: {} } as const;

/** A plugin at the root that attaches the given hooks. */
function rooted(name: string, attach: (site: Site<unknown>) => AtService) {
  return definePlugin({ name, description: 'Stands around everything.', places: [atService(nothing, attach)] });
}

describe('a hook around all endpoints', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;

  before(async () => {
    backend = await startBackend(({ target, body, headers }, response) => {
      if (target === '/slow') return;
      if (target === '/stream') {
        response.writeHead(200, { 'Content-Type': 'text/plain' });
        response.write('one');
        response.end('two');
        return;
      }
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ target, body: String(body), team: headers['x-team'] ?? null }));
    });
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const endpoints = () => [
    {
      endpoint: '/a',
      input_headers: ['X-Team'],
      input_query_strings: ['q'],
      backend: [{ host: [backend.url], url_pattern: '/a' }],
    },
    { endpoint: '/a', method: 'POST', backend: [{ host: [backend.url], url_pattern: '/post' }] },
    { endpoint: '/u/{id}', backend: [{ host: [backend.url], url_pattern: '/u/{id}' }] },
    { endpoint: '/slow', timeout: '20ms', backend: [{ host: [backend.url], url_pattern: '/slow' }] },
    { endpoint: '/stream', output_encoding: 'no-op', backend: [{ host: [backend.url], url_pattern: '/stream' }] },
    {
      endpoint: '/limited',
      method: 'POST',
      extra_config: { proxy: { max_payload: 4 } },
      backend: [{ host: [backend.url], url_pattern: '/l' }],
    },
  ];
  const start = async (plugins: ReturnType<typeof rooted>[], root: object = {}, options = {}) => {
    const extra = Object.fromEntries(plugins.map(({ name }) => [name, {}]));
    gateway = await startWith(plugins, { extra_config: extra, endpoints: endpoints(), ...root }, options);
    return gateway;
  };

  const stamping = rooted('test/stamp', () => ({
    request: (next) => async (request, call) => {
      const reply = await next(request, call);
      reply.headers.set('X-Stamp', String(reply.status));
      return reply;
    },
  }));

  for (const [what, url, status] of [
    ['an endpoint', '/a', 200],
    ['the health path', '/__health', 200],
    ['an unknown path', '/nope', 404],
    ['another method', '/u/1', 405],
    ['a redirect', '/a/', 301],
    ['a timeout', '/slow', 500],
    ['a stream', '/stream', 200],
    ['an invalid target', '/u/%zz', 400],
  ] as const) {
    it(`sees the response to ${what}`, async () => {
      await start([stamping]);
      const response = await gateway!.inject({ url, method: status === 405 ? 'DELETE' : 'GET' });
      deepEqual([response.statusCode, response.headers['x-stamp']], [status, String(status)]);
    });
  }

  it('can respond by itself', async () => {
    await start([rooted('test/shut', () => ({ request: () => () => refuse(418) }))]);
    const response = await gateway!.inject('/a');
    equal(response.statusCode, 418);
    ok(response.headers['x-gateway']);
    equal(backend.requests.length > 0, true);
  });

  it('can respond with data', async () => {
    await start([rooted('test/data', () => ({ request: () => () => Reply.data({ a: 1 }) }))]);
    const response = await gateway!.inject('/nope');
    deepEqual([response.statusCode, response.json()], [200, { a: 1 }]);
  });

  it('can change the path, which determines the path variables', async () => {
    await start([
      rooted('test/rewrite', () => ({
        request: (next) => (request, call) => next(request.with({ path: request.path.replace('/old', '/u') }), call),
      })),
    ]);
    deepEqual((await gateway!.inject('/old/7')).json().target, '/u/7');
    equal((await gateway!.inject('/new/7')).statusCode, 404);
  });

  it('can change query and headers', async () => {
    await start([
      rooted('test/change', () => ({
        request: (next) => (request, call) => {
          const headers = request.headers.copy();
          headers.set('X-Team', 'a');
          return next(request.with({ search: 'q=2', headers }), call);
        },
      })),
    ]);
    const { target, team } = (await gateway!.inject('/a')).json();
    deepEqual([target, team], ['/a?q=2', 'a']);
  });

  it('can change headers in place', async () => {
    await start([
      rooted('test/in-place', () => ({
        request: (next) => (request, call) => {
          request.headers.set('X-Team', 'b');
          return next(request, call);
        },
      })),
    ]);
    equal((await gateway!.inject('/a')).json().team, 'b');
  });

  it('can replace the body and still read the original', async () => {
    await start([
      rooted('test/body', () => ({
        request: (next) => async (request, call) => {
          const text = Buffer.from(await request.body!.bytes()).toString();
          return next(request.with({ body: RequestBody.of(text.toUpperCase()) }), call);
        },
      })),
    ]);
    const response = await gateway!.inject({ url: '/a', method: 'POST', payload: 'abc' });
    equal(response.json().body, 'ABC');
  });

  it("can read the body, to which the endpoint's size limit still applies", async () => {
    await start([
      rooted('test/limit', () => ({
        request: (next) => async (request, call) => {
          await request.body!.bytes();
          return next(request.with({ path: '/limited' }), call);
        },
      })),
    ]);
    equal((await gateway!.inject({ url: '/a', method: 'POST', payload: 'abcdef' })).statusCode, 413);
  });

  it('can look up the endpoint for a request, also with another method', async () => {
    const seen: unknown[] = [];
    await start([
      rooted('test/match', () => ({
        request: (next) => (request, call) => {
          seen.push(request.match()?.endpoint ?? null, request.match('POST')?.method ?? null);
          return next(request, call);
        },
      })),
    ]);
    await gateway!.inject('/a');
    await gateway!.inject('/nope');
    deepEqual(seen, ['/a', 'POST', null, null]);
  });

  it('can set values that reach the protocol', async () => {
    const who = defineSlot<string>('test who');
    const seen: unknown[] = [];
    const leaving = rooted('test/leave', () => ({
      request: (next) => (request, call) => {
        call.set(who, 'ada');
        return next(request, call);
      },
    }));
    const reading = definePlugin({
      name: 'test/read',
      description: 'Reads.',
      places: [
        atBackend(nothing, () => ({
          protocol: {
            hostless: true,
            replies: 'data',
            call: (_request, call) => {
              seen.push(call.get(who));
              return Reply.data({});
            },
          },
        })),
      ],
    });
    gateway = await startWith([leaving, reading], {
      extra_config: { 'test/leave': {} },
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/', extra_config: { 'test/read': {} } }] }],
    });
    await gateway.inject('/x');
    deepEqual(seen, ['ada']);
  });

  it('turns a thrown error into a failure that outer hooks receive', async () => {
    const throwing = rooted('test/throw', () => ({
      request: () => () => {
        throw new Error('no');
      },
    }));
    const sinks = rememberingSinks();
    gateway = await startWith(
      [stamping, throwing],
      { extra_config: { 'test/stamp': {}, 'test/throw': {} }, endpoints: endpoints() },
      { sinks },
    );
    const response = await gateway.inject('/a');
    deepEqual([response.statusCode, response.headers['x-stamp']], [500, '500']);
    match(sinks.lines.join(''), /internal server error/);
  });

  describe('on the response head', () => {
    const signing = rooted('test/head', () => ({
      head(head, request) {
        head.headers.set('X-Signed', `${head.status} ${request.path}`);
        head.headers.delete('content-type');
        if (head.status === 404) head.status = 410;
      },
    }));

    it('runs last, for any response, and can change it', async () => {
      await start([signing]);
      for (const [url, status, signed] of [
        ['/a', 200, '200 /a'],
        ['/nope', 410, '404 /nope'],
        ['/slow', 500, '500 /slow'],
        ['/stream', 200, '200 /stream'],
      ] as const) {
        const response = await gateway!.inject(url);
        deepEqual(
          [response.statusCode, response.headers['x-signed'], response.headers['content-type']],
          [status, signed, undefined],
        );
      }
    });

    it('does not affect the response if it fails', async () => {
      const sinks = rememberingSinks();
      await start(
        [
          rooted('test/bad-head', () => ({
            head() {
              throw new Error('broken');
            },
          })),
        ],
        {},
        { sinks },
      );
      equal((await gateway!.inject('/a')).statusCode, 200);
      match(sinks.lines.join(''), /broken/);
    });
  });

  describe('for its own path', () => {
    const metrics = rooted('test/metrics', () => ({
      routes: [
        { method: 'GET', path: '/metrics', description: 'Metrics.', handle: () => Reply.data({ up: true }) },
        { path: '/files/*', description: 'Files.', handle: (request) => Reply.data({ file: request.path }) },
      ],
    }));

    it('answers before any endpoint', async () => {
      await start([metrics]);
      deepEqual((await gateway!.inject('/metrics')).json(), { up: true });
      deepEqual((await gateway!.inject('/files/a/b')).json(), { file: '/files/a/b' });
    });

    it('responds with 405 and redirects like an endpoint', async () => {
      await start([metrics]);
      const response = await gateway!.inject({ url: '/metrics', method: 'POST' });
      deepEqual([response.statusCode, response.headers.allow], [405, 'GET, HEAD']);
      equal((await gateway!.inject('/metrics/')).headers.location, '/metrics');
    });

    it('cannot have the path of an endpoint', async () => {
      const config = { endpoints: [{ endpoint: '/metrics', backend: [{ host: [backend.url], url_pattern: '/' }] }] };
      try {
        await start([metrics], config);
        ok(false, 'was not refused');
      } catch (error) {
        match(String(error), /ROUTE_COLLISION.*"test\/metrics" answers GET \/metrics/);
      }
    });
  });

  describe('can make requests, each of which', () => {
    const calling = (path: string) =>
      definePlugin({
        name: 'test/call',
        description: 'Calls another endpoint.',
        places: [
          atEndpoint(nothing, ({ dispatch }) => ({
            proxy: () => async (request, call) =>
              dispatch(makeRequest({ path, headers: new HeaderBag() }), call.with(asked, request.client.path)),
          })),
        ],
      });
    const asked = defineSlot<string>('asked');
    const around = (path: string) => ({
      endpoint: path,
      extra_config: { 'test/call': {} },
      backend: [{ host: [backend.url], url_pattern: '/' }],
    });

    it('is answered by an endpoint, within the timeout of that endpoint', async () => {
      gateway = await startWith([calling('/u/9')], { endpoints: [...endpoints(), around('/outer')] });
      equal((await gateway.inject('/outer')).json().target, '/u/9');
      await gateway.close();
      gateway = await startWith([calling('/slow')], { endpoints: [...endpoints(), around('/outer')] });
      equal((await gateway.inject('/outer')).statusCode, 500);
    });

    it('is rejected if endpoints call each other endlessly', async () => {
      gateway = await startWith([calling('/outer')], { endpoints: [around('/outer')] });
      equal((await gateway.inject('/outer')).statusCode, 508);
    });

    it('is subject to the payload limit of the endpoint, and counted there', async () => {
      const sending = definePlugin({
        name: 'test/call',
        description: 'Sends a body.',
        places: [
          atEndpoint(nothing, ({ dispatch }) => ({
            proxy: () => async (request, call) => {
              const body = RequestBody.of(request.client.search);
              return dispatch(makeRequest({ method: 'POST', path: '/limited', body }), call);
            },
          })),
        ],
      });
      gateway = await startWith([sending], { endpoints: [...endpoints(), around('/outer')] });
      equal((await gateway.inject('/outer?four')).statusCode, 200);
      equal((await gateway.inject('/outer?larger')).statusCode, 413);
      const { routes } = (gateway as Operations).serving.compiled;
      equal(routes.find(({ endpoint }) => endpoint.endpoint === '/limited')!.traffic.calls, 1);
    });

    it('is answered 404 if no endpoint matches', async () => {
      gateway = await startWith([calling('/nope')], { endpoints: [around('/outer')] });
      equal((await gateway.inject('/outer')).statusCode, 404);
    });
  });
});
