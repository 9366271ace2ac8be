import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type Koa from 'koa';
import { type AtService, atService, type Catalogue, definePlugin } from '#contract';
import { type Gateway, startGateway } from '../../../kernel/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { openRaw, statusesOf } from './raw.ts';

/** A catalog with an additional component of the service, `acme/layer`. */
function withLayer(attached: AtService): Catalogue {
  const plugin = definePlugin({
    name: 'acme/layer',
    description: 'Somebody else’s.',
    places: [atService({ type: 'object', properties: {} }, () => attached)],
  });
  return { ...catalogue, plugins: { ...catalogue.plugins, 'acme/layer': async () => ({ plugin }) } };
}

describe('Koa middleware at the service', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let lines: string[];
  let answer: (response: ServerResponse) => void;

  before(async () => {
    backend = await startBackend((_seen, response) => answer(response));
  });
  beforeEach(() => {
    answer = (response) => json({ a: 1 })(undefined as never, response);
  });
  afterEach(() => gateway.close());
  after(() => backend.close());

  const start = async (router: Koa.Middleware, more: object = {}, options: object = {}): Promise<void> => {
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    const config = {
      version: 3,
      host: [backend.url],
      extra_config: { 'acme/layer': {}, ...options },
      endpoints: [
        { endpoint: '/x', timeout: '60s', backend: [{ url_pattern: '/' }] },
        { endpoint: '/raw', timeout: '60s', output_encoding: 'no-op', backend: [{ url_pattern: '/' }] },
        { endpoint: '/late', timeout: '30ms', backend: [{ url_pattern: '/' }] },
        { endpoint: '/x', method: 'POST', backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }] },
      ],
    };
    gateway = await startGateway(withLayer({ middleware: router, ...more }), config, { port: 0, sinks });
    ({ port } = await gateway.listen());
  };
  const errors = (): string[] => lines.filter((line) => line.includes('ERROR'));

  it('runs for requests that match no endpoint, and sees which endpoint the others match', async () => {
    const seen: unknown[] = [];
    await start((context, next) => {
      seen.push(context.state.match()?.endpoint ?? null);
      return next();
    });
    deepEqual([(await ask(port, 'GET /x')).status, (await ask(port, 'GET /none')).status], [200, 404]);
    deepEqual(seen, ['/x', null]);
  });

  it('can respond by itself', async () => {
    await start((context) => {
      context.status = 202;
      context.body = { own: true };
    });
    const { status, text, headers } = await ask(port, 'GET /x');
    deepEqual([status, text, headers['content-type']], [202, '{"own":true}', 'application/json; charset=utf-8']);
    match(headers['x-gateway'] as string, /^Version /);
  });

  it('can override headers of the response, and add to their lists', async () => {
    answer = (response) =>
      response
        .writeHead(200, {
          'X-Own': 'backend',
          Vary: 'Accept',
          'Set-Cookie': ['b=1', 'c=2'],
          'Content-Type': 'text/plain',
        })
        .end('text');
    await start((context, next) => {
      context.set({ 'X-Own': 'layer', Vary: 'Origin' });
      context.cookies.set('a', '0');
      return next();
    });
    const { headers, text } = await ask(port, 'GET /raw');
    deepEqual([text, headers['x-own'], headers['content-type']], ['text', 'layer', 'text/plain']);
    deepEqual(new Set((headers.vary as string).split(', ')), new Set(['Accept', 'Origin']));
    deepEqual(new Set(headers['set-cookie']?.map((cookie) => cookie.split(';')[0])), new Set(['a=0', 'b=1', 'c=2']));
  });

  describe('that waits for a body that never ends although bytes arrive', () => {
    const post = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`;
    const read = async ({ req }: Koa.Context) => {
      for await (const chunk of req) void chunk;
    };
    afterEach(() => mock.timers.reset());

    for (const [title, target, limitMs] of [
      ['fails after the timeout of the endpoint', '/late', 30],
      ['fails after a minute outside of endpoints', '/upload', 60_000],
    ] as const) {
      it(title, async () => {
        const begun = Promise.withResolvers<Promise<void>[]>();
        await start((context) => {
          const reading = read(context);
          begun.resolve([reading]);
          return reading;
        });
        const client = await openRaw(port);
        mock.timers.enable({ apis: ['setTimeout'] });
        client.write(post(target));
        const [reading] = await begun.promise;
        mock.timers.tick(limitMs - 1);
        client.write('a');
        mock.timers.tick(1);
        await client.until((received) => statusesOf(received).length > 0);
        deepEqual(statusesOf(client.received), [500]);
        client.socket.destroy();
        await rejects(reading!);
      });
    }

    it('is limited from the moment at which it reads', async () => {
      const held = Promise.withResolvers<void>();
      const called = Promise.withResolvers<void>();
      await start(async (context) => {
        called.resolve();
        await held.promise;
        await read(context);
        context.body = 'read';
      });
      const client = await openRaw(port);
      mock.timers.enable({ apis: ['setTimeout'] });
      client.write(post('/late'));
      await called.promise;
      mock.timers.tick(100);
      held.resolve();
      client.write('a'.repeat(100_000));
      await client.until((received) => received.endsWith('read'));
      deepEqual(statusesOf(client.received), [200]);
      client.socket.destroy();
    });
  });

  describe('that throws', () => {
    const faulty: Koa.Middleware = () => {
      throw new Error('broken layer');
    };

    it('causes a 500 without a body and logs the stack, and the connection stays open', async () => {
      await start(faulty);
      const client = await openRaw(port);
      client.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until((received) => statusesOf(received).length === 2);
      deepEqual(statusesOf(client.received), [500, 500]);
      match(client.received, /\r\nContent-Length: 0\r\n/i);
      ok(!client.received.includes('broken'));
      client.socket.destroy();
      equal(errors().length, 2);
      match(errors()[0]!, /broken layer.*middleware\.test\.ts/);
    });

    it('an HTTP rejection causes that rejection, without an ERROR', async () => {
      await start((context) => context.throw(403, 'not you'));
      const { status, text } = await ask(port, 'GET /x');
      deepEqual([status, text, errors()], [403, 'not you', []]);
    });

    it('a value that is not an error causes a 500, too', async () => {
      await start(() => {
        throw null;
      });
      equal((await ask(port, 'GET /x')).status, 500);
    });

    it('after the response is written does not affect the response and the connection', async () => {
      await start(async (_context, next) => {
        await next();
        throw new Error('too late');
      });
      const client = await openRaw(port);
      client.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      deepEqual(statusesOf(await client.ended()), [200, 200]);
      equal(errors().length, 2);
    });
  });

  describe('that reads the response', () => {
    const reads = { readsReply: true } as const;
    const tagging: Koa.Middleware = async (context, next) => {
      await next();
      if (typeof context.body === 'string' || Buffer.isBuffer(context.body)) {
        context.set('ETag', `"${context.body.length}"`);
      }
    };

    it('sees the body and can set headers based on it', async () => {
      await start(tagging, reads);
      const { status, text, headers } = await ask(port, 'GET /x');
      deepEqual([status, text, headers.etag], [200, '{"a":1}', '"7"']);
      deepEqual([headers['content-type'], headers['content-length']], ['application/json; charset=utf-8', '7']);
      deepEqual([headers['x-gateway-completed'], (headers['x-gateway'] as string).slice(0, 8)], ['true', 'Version ']);
    });

    it('can replace status and body', async () => {
      await start(async (context, next) => {
        await next();
        context.status = 206;
        context.body = `<${context.body}>`;
      }, reads);
      const { status, text, headers } = await ask(port, 'GET /x');
      deepEqual([status, text, headers['content-length']], [206, '<{"a":1}>', '9']);
    });

    it('leaves rejections without a body as they are', async () => {
      answer = (response) => response.writeHead(503).end();
      await start(tagging, reads);
      const { status, text, headers } = await ask(port, 'GET /x');
      deepEqual([status, text, headers['content-length'], headers['content-type']], [500, '', '0', undefined]);
    });

    it('leaves 204 and 304 as they are', async () => {
      await start(tagging, reads);
      for (const status of [204, 304]) {
        answer = (response) => response.writeHead(status, { 'X-Own': 'yes' }).end();
        const got = await ask(port, 'GET /raw');
        deepEqual([got.status, got.text, got.headers['x-own']], [status, '', 'yes']);
      }
    });

    it('keeps repeated headers', async () => {
      answer = (response) => response.writeHead(200, { 'Set-Cookie': ['b=1', 'c=2'] }).end('x');
      await start(tagging, reads);
      deepEqual((await ask(port, 'GET /raw')).headers['set-cookie'], ['b=1', 'c=2']);
    });

    it('receives streamed bodies as streams', async () => {
      const piece = 'x'.repeat(100_000);
      answer = (response) => {
        response.writeHead(200, { 'Content-Type': 'text/x' });
        response.write(piece);
        response.end(piece);
      };
      await start(tagging, reads);
      const { text, headers } = await ask(port, 'GET /raw');
      deepEqual([text.length, headers['content-type']], [200_000, 'text/x']);
    });

    it('has its response compressed afterwards, with a weak ETag', async () => {
      const long = 'y'.repeat(5000);
      answer = (response) => json({ long })(undefined as never, response);
      await start(tagging, reads);
      const { bytes, headers } = await ask(port, 'GET /x', { headers: { 'Accept-Encoding': 'gzip' } });
      deepEqual(JSON.parse(gunzipSync(bytes).toString()), { long });
      deepEqual([headers['content-encoding'], headers.vary, headers.etag], ['gzip', 'Accept-Encoding', 'W/"5011"']);
    });

    it('has no response compressed if compression is disabled', async () => {
      const long = 'y'.repeat(5000);
      answer = (response) => json({ long })(undefined as never, response);
      await start(tagging, reads, { router: { disable_gzip: true } });
      const { headers } = await ask(port, 'GET /x', { headers: { 'Accept-Encoding': 'gzip' } });
      deepEqual([headers['content-encoding'], headers.etag], [undefined, '"5011"']);
    });

    it('is not delayed by a slow backend', async () => {
      answer = () => {};
      await start(tagging, reads);
      equal((await ask(port, 'GET /late')).status, 500);
    });

    it('does not read a body that it does not use', async () => {
      await start((context) => {
        context.status = 403;
        context.body = 'no';
      }, reads);
      const client = await openRaw(port);
      client.write('POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 50000000\r\n\r\n');
      deepEqual(statusesOf(await client.ended()), [403]);
    });
  });

  it('can read the body of a request with Expect: 100-continue', async () => {
    await start(async (context) => {
      const pieces: Buffer[] = [];
      for await (const piece of context.req) pieces.push(piece as Buffer);
      context.body = Buffer.concat(pieces).toString().toUpperCase();
    });
    const client = await openRaw(port);
    client.write(
      'POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n',
    );
    await client.until((received) => received.includes('100 Continue'));
    client.write('hello');
    match(await client.ended(), /HELLO$/);
  });
});
