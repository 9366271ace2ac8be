import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { request as connect } from 'node:http';
import { Transform } from 'node:stream';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type ModuleElement, startModules } from '../../support/modules.ts';

/** Type of the values that a handler in JavaScript receives, which are not typed. */
// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;
type Handler = (ctx: Loose, request: Loose, next: (request?: object) => Promise<Loose>) => unknown;

describe('middleware modules', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target.startsWith('/silent')) return;
      if (seen.target.startsWith('/slow')) {
        response.writeHead(200, { 'Content-Type': 'text/plain', 'X-Kind': 'slow' });
        response.write('first ');
        released = () => response.end('last');
        return;
      }
      if (seen.target.startsWith('/long')) {
        response.writeHead(200, { 'Content-Length': '3', 'X-Kind': 'long' }).end('abc');
        return;
      }
      if (seen.target.startsWith('/down')) response.writeHead(503).end('gone');
      else json({ name: 'Ada', path: seen.target, body: seen.body.toString() })(seen, response);
    });
  });
  let released: () => void = () => {};
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const start = async (
    endpoints: object | object[],
    elements: Record<string, Handler> | readonly ModuleElement[],
    root: object = {},
  ) => {
    sinks = rememberingSinks();
    const modules: readonly ModuleElement[] = Array.isArray(elements)
      ? elements
      : Object.entries(elements).map(([name, handler]) => ({ name, middleware: () => handler }));
    const config = { host: [backend.url], endpoints: [endpoints].flat(), ...root };
    gateway = await startModules(config, modules, { sinks });
  };
  const named = (...names: string[]) => ({ 'plugin/middleware': { name: names } });
  const to = (extra: object, more: object = {}) => ({
    endpoint: '/a',
    extra_config: extra,
    backend: [{ url_pattern: '/b' }],
    ...more,
  });
  const ask = async (url = '/a', options: object = {}) => {
    const { statusCode, body, headers } = await gateway!.inject({ url, ...options });
    return { status: statusCode, body, headers, completed: headers['x-gateway-completed'] };
  };
  const shown = { extra_config: { router: { return_error_msg: true } } };
  const last = () => backend.requests.at(-1)!;
  const requested = () => backend.requests.length;

  const appending =
    (sign: string): Handler =>
    async (_ctx, request, next) => {
      request.headers['X-T'] = [...(request.headers['x-t'] ?? []), sign];
      const response = await next(request);
      response.headers['X-T'] = [...(response.headers['x-t'] ?? []), sign];
      return response;
    };

  it('run in order, with the first name outermost', async () => {
    await start(to(named('A', 'B')), { A: appending('A'), B: appending('B') });
    const { headers } = await ask();
    equal(last().headers['x-t'], 'A, B');
    deepEqual(headers['x-t'], ['B', 'A']);
  });

  it('respond instead of the backends', async () => {
    const before = requested();
    await start(to(named('own')), { own: async () => ({ data: { ok: true }, isComplete: true }) });
    const { status, body, completed } = await ask();
    deepEqual([status, body, completed], [200, '{"ok":true}', 'true']);
    equal(requested(), before);
  });

  it('reject requests with the status of the error that they throw, and with its message if return_error_msg is set', async () => {
    const refusing: Handler = () => {
      throw { statusCode: 429, message: 'slow down' };
    };
    await start(to(named('no')), { no: refusing });
    const { status, body, completed } = await ask();
    deepEqual([status, body, completed], [429, '', 'false']);
    await gateway!.close();
    await start(to(named('no')), { no: refusing }, shown);
    deepEqual([(await ask()).status, (await ask()).body], [429, 'slow down']);
  });

  it('respond with the body and the content type of the error that they throw', async () => {
    const refusing: Handler = () => {
      throw Object.assign(new Error('teapot'), { statusCode: 418, body: '{"s":1}', encoding: 'application/json' });
    };
    await start(to(named('no')), { no: refusing }, shown);
    const { status, body, headers } = await ask();
    deepEqual([status, body, headers['content-type']], [418, '{"s":1}', 'application/json']);
  });

  it('cause a 500 for an error without a status, and are named in the log', async () => {
    await start(to(named('broken')), {
      broken: () => {
        throw new Error('no luck');
      },
    });
    deepEqual([(await ask()).status, (await ask()).body], [500, '']);
    ok(
      sinks.lines.some((line) =>
        /ERROR.*\[PLUGIN: broken\] hook "middleware" of .* failed.*: Error: no luck/.test(line),
      ),
    );
  });

  for (const [what, status] of [
    ['0', 0],
    ['700', 700],
    ['a string', 'x'],
  ] as const) {
    it(`cause a 500 for an error with the status ${what}`, async () => {
      await start(to(named('odd')), {
        odd: () => {
          throw { statusCode: status, message: 'odd' };
        },
      });
      equal((await ask()).status, 500);
    });
  }

  it('do not affect other backends if one of two fails', async () => {
    const failing = { url_pattern: '/x', extra_config: named('broken'), group: 'x' };
    await start(to({}, { backend: [{ url_pattern: '/b', group: 'b' }, failing] }), {
      broken: () => {
        throw new Error('no luck');
      },
    });
    const { status, body, completed } = await ask();
    deepEqual([status, Object.keys(JSON.parse(body)), completed], [200, ['b'], 'false']);
  });

  it('forward streams as they arrive', async () => {
    await start(
      {
        endpoint: '/a',
        output_encoding: 'no-op',
        extra_config: named('upper'),
        backend: [{ url_pattern: '/slow', encoding: 'no-op' }],
      },
      {
        upper: async (_ctx, request, next) => {
          const response = await next(request);
          const upper = new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) });
          response.io = response.io.pipe(upper);
          return response;
        },
      },
    );
    const { port } = await gateway!.listen();
    const text = await new Promise<string>((resolve, reject) => {
      connect({ port, path: '/a' }, (response) => {
        let got = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          got += chunk;
          // Lets the backend continue only after the client has received the beginning.
          if (got === 'FIRST ') released();
        });
        response.on('end', () => resolve(got));
      })
        .on('error', reject)
        .end();
    });
    equal(text, 'FIRST LAST');
  });

  it('forward raw bytes, status and headers unchanged', async () => {
    await start(
      { endpoint: '/a', output_encoding: 'no-op', extra_config: named('idle'), backend: [{ url_pattern: '/long' }] },
      { idle: (_ctx, request, next) => next(request) },
    );
    const { status, body, headers } = await ask();
    deepEqual([status, body, headers['content-length'], headers['x-kind']], [200, 'abc', '3', 'long']);
  });

  it('update Content-Length when they replace the body', async () => {
    await start(
      { endpoint: '/a', output_encoding: 'no-op', extra_config: named('other'), backend: [{ url_pattern: '/long' }] },
      {
        other: async (_ctx, _request, next) => ({ ...(await next()), io: 'longer', statusCode: 202 }),
      },
    );
    const { status, body, headers } = await ask();
    deepEqual([status, body, headers['x-kind']], [202, 'longer', 'long']);
    ok(headers['content-length'] !== '3');
  });

  it('must not pass on a body that they have read', async () => {
    await start(
      { endpoint: '/a', output_encoding: 'no-op', extra_config: named('reader'), backend: [{ url_pattern: '/long' }] },
      {
        reader: async (_ctx, _request, next) => {
          const response = await next();
          for await (const _ of response.io);
          return response;
        },
      },
    );
    equal((await ask()).status, 500);
    ok(sinks.lines.some((line) => line.includes('the body was read and must be replaced')));
  });

  it('are canceled through their signal when the endpoint times out', async () => {
    let reason: unknown;
    await start(to(named('slow'), { timeout: '100ms' }), {
      slow: (ctx) =>
        new Promise((resolve) => {
          const late = setTimeout(resolve, 10_000, { data: { late: true } });
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason;
            clearTimeout(late);
          });
        }),
    });
    equal((await ask()).status, 500);
    match(String(reason), /deadline/);
  });

  it('receive each path parameter under two names, such as id and Id, and only forwarded headers and query parameters', async () => {
    let seen: unknown[] = [];
    await start(
      {
        endpoint: '/u/{id}',
        input_headers: ['X-In'],
        input_query_strings: ['q'],
        extra_config: named('look'),
        backend: [{ url_pattern: '/b/{id}' }],
      },
      {
        look: (_ctx, request, next) => {
          const { method, url, path, params, query, headers } = request;
          seen = [method, url, path, params.id, params.Id, query.q, query.r, headers['x-in'], headers['x-out']];
          params.id = 'changed';
          query.q = 'two';
          return next(request);
        },
      },
    );
    await ask('/u/7?q=1&r=2', { headers: { 'x-in': 'a', 'x-out': 'b' } });
    deepEqual(seen, ['GET', '/u/7?q=1&r=2', '/u/7', '7', '7', ['1'], undefined, ['a'], undefined]);
    equal(last().target, '/b/changed?q=two');
  });

  it('receive no values for names such as __proto__', async () => {
    let seen: unknown[] = [];
    const proto = '__proto__';
    await start(to(named('look'), { input_query_strings: ['*'] }), {
      look: (_ctx, { params, query, headers }, next) => {
        seen = [params.constructor, query.constructor, headers.constructor, query[proto]];
        query[proto] = 'x';
        return next();
      },
    });
    await ask('/a?__proto__=y');
    deepEqual(seen, [undefined, undefined, undefined, ['y']]);
    equal(Object.getPrototypeOf({}), Object.prototype);
  });

  it("can replace the client's body, which also changes its length", async () => {
    await start(to(named('body'), { method: 'POST' }), {
      body: async (_ctx, request, next) => {
        request.body = `${await request.text()}!`;
        return next(request);
      },
    });
    await ask('/a', { method: 'POST', payload: 'hello' });
    deepEqual([last().body.toString(), last().headers['content-length']], ['hello!', '6']);
  });

  it('continue with a body that they read as text or JSON, even as a stream through another module', async () => {
    await start(to(named('read', 'wrap'), { method: 'POST' }), {
      read: async (ctx, request, next) => {
        ctx.state.set('json', await request.json());
        return next(request);
      },
      wrap: (_ctx, request, next) => {
        const upper = new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) });
        return next({ ...request, body: request.body.pipe(upper) });
      },
    });
    await ask('/a', { method: 'POST', payload: '{"a":"b"}', headers: { 'content-type': 'application/json' } });
    equal(last().body.toString(), '{"A":"B"}');
  });

  it('reject an oversized body and one that is not valid JSON', async () => {
    await start(to(named('read'), { method: 'POST' }), {
      read: async (_ctx, request, next) => {
        await request.json({ limit: 8 });
        return next(request);
      },
    });
    equal((await ask('/a', { method: 'POST', payload: '"0123456789"' })).status, 413);
    equal((await ask('/a', { method: 'POST', payload: '{' })).status, 400);
  });

  it('read up to 1 MiB of a body by default', async () => {
    await start(to(named('read'), { method: 'POST' }), {
      read: async (_ctx, request, next) => {
        await request.text();
        return next(request);
      },
    });
    equal((await ask('/a', { method: 'POST', payload: 'x'.repeat(1024 * 1024) })).status, 200);
    equal((await ask('/a', { method: 'POST', payload: 'x'.repeat(1024 * 1024 + 1) })).status, 413);
  });

  it('call the next step again with the original request', async () => {
    const before = requested();
    await start(to(named('twice')), {
      twice: async (_ctx, request, next) => {
        await next(request);
        return next(request);
      },
    });
    equal((await ask()).status, 200);
    equal(requested(), before + 2);
  });

  it('cannot send a streamed body twice, but can repeat a body that they have read', async () => {
    let thrown: unknown;
    const twice: Handler = async (_ctx, request, next) => {
      const first = await next(request);
      try {
        return await next(request);
      } catch (error) {
        thrown = error;
        return first;
      }
    };
    const reading: Handler = async (ctx, request, next) => {
      await request.text();
      return twice(ctx, request, next);
    };
    const streaming = { method: 'POST', output_encoding: 'no-op' };
    await start([to(named('twice'), streaming), to(named('reading'), { ...streaming, endpoint: '/r' })], {
      twice,
      reading,
    });
    equal((await ask('/a', { method: 'POST', payload: 'once' })).status, 200);
    match(String(thrown), /already sent/);
    const before = requested();
    equal((await ask('/r', { method: 'POST', payload: 'again' })).status, 200);
    deepEqual(
      backend.requests.slice(before).map(({ body }) => body.toString()),
      ['again', 'again'],
    );
  });

  it('receive a failure of the next step and forward it unless caught', async () => {
    let seen: unknown;
    const watching: Handler = async (_ctx, request, next) => {
      try {
        return await next(request);
      } catch (error) {
        seen = error;
        throw error;
      }
    };
    await start(
      to(named('watching'), {
        backend: [{ url_pattern: '/down', extra_config: { 'backend/http': { return_error_code: true } } }],
      }),
      { watching },
    );
    equal((await ask()).status, 503);
    equal((seen as { statusCode: number }).statusCode, 503);
  });

  it('respond instead of a failure', async () => {
    await start(to(named('fallback'), { backend: [{ url_pattern: '/down' }] }), {
      fallback: async (_ctx, request, next) => {
        try {
          return await next(request);
        } catch {
          return { data: { from: 'memory' }, isComplete: false };
        }
      },
    });
    const { status, body, completed } = await ask();
    deepEqual([status, body, completed], [200, '{"from":"memory"}', 'false']);
  });

  for (const [what, answer] of [
    ['nothing', undefined],
    ['a string', 'text'],
    ['a list', []],
    ['an object of another type', { status: 200 }],
    ['data that is not an object', { data: [1] }],
  ] as const) {
    it(`cause a 500 and are named in the log if they return ${what}`, async () => {
      await start(to(named('odd')), { odd: () => answer });
      equal((await ask()).status, 500);
      ok(sinks.lines.some((line) => line.includes('ERROR') && line.includes('[PLUGIN: odd]')));
    });
  }

  it('share state, start time, client address and request ID with other modules', async () => {
    const seen: unknown[] = [];
    const note = (ctx: Loose) =>
      seen.push([ctx.requestId, ctx.clientIp, ctx.claims, ctx.span, ctx.deadline > Date.now()]);
    const on = { url_pattern: '/b', extra_config: named('inner') };
    await start(to(named('outer'), { backend: [on] }), {
      outer: (ctx, _request, next) => {
        ctx.state.set('who', 'outer');
        note(ctx);
        return next();
      },
      inner: (ctx, _request, next) => {
        note(ctx);
        seen.push(ctx.state.get('who'));
        return next();
      },
    });
    await ask('/a', { headers: { 'x-request-id': 'r1' } });
    deepEqual(seen, [['r1', '127.0.0.1', null, null, true], ['r1', '127.0.0.1', null, null, true], 'outer']);
    await ask();
    match((seen[3] as string[])[0]!, /^[0-9a-f-]{36}$/);
    equal((seen[3] as string[])[0], (seen[4] as string[])[0]);
  });

  it('change the URL of a backend call', async () => {
    const on = { url_pattern: '/b?x=1', extra_config: named('move') };
    await start(to({}, { backend: [on] }), {
      move: (_ctx, request, next) => {
        equal(request.url, `${backend.url}/b?x=1`);
        request.url = `${backend.url}/moved?y=2`;
        request.method = 'POST';
        request.body = 'text';
        return next(request);
      },
    });
    await ask();
    deepEqual([last().method, last().target, last().body.toString()], ['POST', '/moved?y=2', 'text']);
  });

  for (const [what, change] of [
    ['an invalid method', { method: 'G ET' }],
    ['an invalid URL', { url: 'nowhere' }],
    ['an invalid header name', { headers: { 'a b': 'x' } }],
    ['a header value with a line break', { headers: { a: 'x\r\ny: z' } }],
    ['an invalid body', { body: 7 }],
  ] as const) {
    it(`must not send ${what}`, async () => {
      const before = requested();
      await start(to({}, { backend: [{ url_pattern: '/b', extra_config: named('odd') }] }), {
        odd: (_ctx, request, next) => next(Object.assign(request, change)),
      });
      equal((await ask()).status, 500);
      equal(requested(), before);
    });
  }

  it('cause an occasional warning if they block the event loop', async () => {
    await start(to(named('busy')), {
      busy: (_ctx, _request, next) => {
        const until = performance.now() + 60;
        while (performance.now() < until);
        return next();
      },
    });
    await ask();
    await ask();
    equal(
      sinks.lines.filter((line) => /WARNING.*middleware "busy" blocked the event loop for \d+ ms/.test(line)).length,
      1,
    );
  });

  it('are measured without the time of the next step', async () => {
    await start(to(named('outer', 'busy')), {
      outer: (_ctx, _request, next) => next(),
      busy: (_ctx, _request, next) => {
        const until = performance.now() + 60;
        while (performance.now() < until);
        return next();
      },
    });
    await ask();
    ok(!sinks.lines.some((line) => line.includes('"outer" held')));
  });

  it("release a backend's stream when the client disconnects", async () => {
    let closed = false;
    await start(
      {
        endpoint: '/a',
        output_encoding: 'no-op',
        extra_config: named('wrap'),
        backend: [{ url_pattern: '/slow', encoding: 'no-op' }],
      },
      {
        wrap: async (_ctx, _request, next) => {
          const response = await next();
          const inner = response.io;
          inner.on('close', () => {
            closed = true;
          });
          response.io = inner.pipe(new Transform({ transform: (chunk, _, done) => done(null, chunk) }));
          return response;
        },
      },
    );
    const { port } = await gateway!.listen();
    await new Promise<void>((resolve) => {
      const request = connect({ port, path: '/a' }, (response) => {
        response.once('data', () => request.destroy());
        response.on('error', () => {});
      });
      request.on('error', () => {}).on('close', () => resolve());
      request.end();
    });
    await until(() => closed);
  });
});
