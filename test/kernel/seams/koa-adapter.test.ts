import { deepEqual, equal, match } from 'node:assert/strict';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { bodyParser } from '@koa/bodyparser';
import cors from '@koa/cors';
import type Koa from 'koa';
import compress from 'koa-compress';
import { type AtService, atService, definePlugin, HeaderBag } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { ask } from '../server/ask.ts';
import { openRaw, statusesOf } from '../server/raw.ts';

describe('Koa middleware from npm', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  const start = async (router: Koa.Middleware, more: AtService = {}, root: object = {}, service: object = {}) => {
    backend = await startBackend(({ target, body, method, headers }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const { 'x-team': team = null, 'x-gone': gone = null, 'content-type': type = null } = headers;
      response.end(JSON.stringify({ target, method, body: String(body), team, gone, type, long: 'y'.repeat(2000) }));
    });
    const plugin = definePlugin({
      name: 'test/koa',
      description: 'Somebody else’s middleware.',
      places: [atService({ type: 'object', properties: {} }, () => ({ middleware: router, ...more }))],
    });
    const host = [backend.url];
    gateway = await startWith([plugin], {
      ...service,
      extra_config: { 'test/koa': {}, ...root },
      endpoints: [
        { endpoint: '/a', input_headers: ['X-Team', 'X-Gone'], backend: [{ host, url_pattern: '/a' }] },
        { endpoint: '/a', method: 'POST', backend: [{ host, url_pattern: '/post' }] },
        {
          endpoint: '/limited',
          method: 'POST',
          extra_config: { proxy: { max_payload: 4 } },
          backend: [{ host, url_pattern: '/limited' }],
        },
      ],
    });
    ({ port } = await gateway.listen());
  };
  const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    ask(port, `POST ${path}`, { body, headers: { 'Content-Type': 'application/json', ...headers } });

  describe('that changes the request', () => {
    it('can change path and method', async () => {
      await start((context, next) => {
        context.state.match();
        context.url = context.url.replace('/old', '/a');
        if (context.query['method']) context.method = String(context.query['method']);
        return next();
      });
      equal(JSON.parse((await ask(port, 'GET /old')).text).target, '/a');
      equal(JSON.parse((await ask(port, 'GET /old?method=POST')).text).target, '/post');
      equal((await ask(port, 'GET /older')).status, 404);
    });

    it('can set, replace and remove headers', async () => {
      await start((context, next) => {
        context.req.headers['x-team'] = `${context.req.headers['x-team'] ?? 'no'} team`;
        delete context.req.headers['x-gone'];
        return next();
      });
      const changed = await ask(port, 'GET /a', { headers: { 'X-Team': 'red', 'X-Gone': '1' } });
      const { team, gone } = JSON.parse(changed.text);
      deepEqual([team, gone], ['red team', null]);
      equal(JSON.parse((await ask(port, 'GET /a')).text).team, 'no team');
    });

    it('cannot change the length of the body', async () => {
      await start((context, next) => {
        context.req.headers['content-length'] = '1';
        return next();
      });
      equal(JSON.parse((await post('/a', '{"a":1}')).text).body, '{"a":1}');
    });
  });

  describe('that reads the body', () => {
    const parsed: unknown[] = [];
    const parsing: Koa.Middleware = async (context, next) =>
      bodyParser()(context as never, async () => {
        parsed.push((context.request as { body?: unknown }).body);
        await next();
      });
    beforeEach(() => {
      parsed.length = 0;
    });

    it('leaves it unchanged for the backend', async () => {
      await start(parsing);
      const { status, text: response } = await post('/a', '{ "a": 1 }');
      deepEqual(
        [status, JSON.parse(response).body, JSON.parse(response).type],
        [200, '{ "a": 1 }', 'application/json'],
      );
      deepEqual(parsed, [{ a: 1 }]);
    });

    it('leaves it unchanged even if the middleware read it as text', async () => {
      await start(async (context, next) => {
        context.req.setEncoding('latin1');
        for await (const piece of context.req) parsed.push(piece);
        await next();
      });
      const bytes = Buffer.from('ü'.repeat(50_000));
      equal(JSON.parse((await post('/a', bytes)).text).body, String(bytes));
      equal(parsed.join(''), bytes.toString('latin1'));
    });

    it('is subject to the limit of the endpoint', async () => {
      await start(parsing);
      equal((await post('/limited', '{"a":1}')).status, 413);
      equal((await post('/limited', '{}')).status, 200);
      equal((await post('/limited', '{"a":1}', { 'Transfer-Encoding': 'chunked' })).status, 413);
    });

    it('buffers no more than the limit', async () => {
      await start(
        async (context, next) => {
          for await (const _piece of context.req);
          await next();
        },
        {},
        { router: { max_payload: 1000 } },
      );
      equal((await post('/a', 'x'.repeat(200_000), { 'Transfer-Encoding': 'chunked' })).status, 413);
      equal(JSON.parse((await post('/a', 'x'.repeat(1000))).text).body.length, 1000);
    });

    it('can run next() while it reads', async () => {
      await start((context, next) => {
        context.req.resume();
        return next();
      });
      const long = 'x'.repeat(300_000);
      equal(JSON.parse((await post('/a', long)).text).body, long);
    });

    it('leaves it unchanged over HTTP/2, too', async () => {
      await start(parsing, {}, {}, { use_h2c: true });
      const session = connect(`http://127.0.0.1:${port}`);
      const request = session.request({ ':method': 'POST', ':path': '/a', 'content-type': 'application/json' });
      request.end('{ "a": 2 }');
      equal(JSON.parse(await text(request)).body, '{ "a": 2 }');
      deepEqual(parsed, [{ a: 2 }]);
      await new Promise<void>((resolve) => {
        session.close(resolve);
      });
    });

    it('can read only a part of it', async () => {
      await start(async (context, next) => {
        await new Promise((resolve) => {
          context.req.once('data', resolve);
        });
        context.req.pause();
        await next();
      });
      const client = await openRaw(port);
      client.write('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nConnection: close\r\n\r\nabc');
      client.write('def');
      match(await client.ended(), /"body":"abcdef"/);
    });

    it('leaves no unread bytes on the connection', async () => {
      await start(parsing);
      const client = await openRaw(port);
      const body = JSON.stringify({ a: 'x'.repeat(1000) });
      const request = `POST /nope HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      client.write(`${request}\r\n${body}${request}Connection: close\r\n\r\n${body}`);
      deepEqual(statusesOf(await client.ended()), [404, 404]);
    });
  });

  describe('that responds', () => {
    const signing: NonNullable<AtService['head']> = (head, { path }) => {
      head.headers.set('X-Signed', `${head.status} ${path} ${head.headers.get('x-layer') ?? ''}`.trim());
      if (head.status === 418) head.status = 419;
    };

    it('passes its response head to the hooks that read response heads', async () => {
      await start(
        (context, next) => {
          context.set('X-Layer', 'own');
          if (context.path === '/throw') context.throw(403, 'not you');
          if (context.path === '/fault') throw new Error('broken');
          if (context.path === '/stream') context.body = new Blob(['stream']).stream();
          else if (context.path === '/left') Object.assign(context, { status: 418, body: { own: true } });
          else return next();
        },
        { head: signing },
      );
      for (const [path, status, signed] of [
        ['/left', 419, '418 /left own'],
        ['/throw', 403, '403 /throw own'],
        ['/fault', 500, '500 /fault own'],
        ['/stream', 200, '200 /stream own'],
        ['/a', 200, '200 /a own'],
        ['/none', 404, '404 /none own'],
      ] as const) {
        const response = await ask(port, `GET ${path}`);
        deepEqual(
          [response.status, response.headers['x-signed'], response.headers['x-layer']],
          [status, signed, 'own'],
        );
      }
    });

    it('passes each response head to these hooks once, even if the middleware reads the reply', async () => {
      await start((_context, next) => next(), {
        readsReply: true,
        head: (head) => head.headers.append('X-Seen', 'once'),
      });
      equal((await ask(port, 'GET /a')).headers['x-seen'], 'once');
    });

    it('can set cross-origin headers on every response', async () => {
      await start(cors({ origin: 'https://here.example', credentials: true }));
      const preflight = await ask(port, 'OPTIONS /a', {
        headers: { Origin: 'https://here.example', 'Access-Control-Request-Method': 'GET' },
      });
      deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, 'https://here.example']);
      for (const path of ['/a', '/none']) {
        const { headers } = await ask(port, `GET ${path}`, { headers: { Origin: 'https://here.example' } });
        deepEqual([headers['access-control-allow-origin'], headers.vary], ['https://here.example', 'Origin']);
      }
    });

    it('can compress the response', async () => {
      await start(compress({ threshold: 100 }), { readsReply: true }, { router: { disable_gzip: true } });
      const { bytes, headers } = await ask(port, 'GET /a', { headers: { 'Accept-Encoding': 'gzip' } });
      equal(headers['content-encoding'], 'gzip');
      equal(JSON.parse(String(gunzipSync(bytes))).target, '/a');
    });
  });

  it('shows the changed request to hooks outside of it', async () => {
    const seen: unknown[] = [];
    await start(
      (context, next) => {
        context.url = '/a?x=1';
        context.req.headers['x-team'] = 'blue';
        return next();
      },
      {
        request: (next) => (request, call) => {
          seen.push(request.path, request.search, request.headers.get('x-team'), request.headers instanceof HeaderBag);
          return next(request, call);
        },
      },
    );
    await ask(port, 'GET /old');
    deepEqual(seen, ['/a', 'x=1', 'blue', true]);
  });
});
