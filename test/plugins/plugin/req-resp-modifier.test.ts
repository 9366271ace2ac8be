import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { plugin } from '../../../plugins/plugin/req-resp-modifier.ts';
import { exampleOffers } from '../../support/example-offers.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { rememberingLog } from '../../support/log.ts';
import { type ModuleElement, startModules } from '../../support/modules.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;

describe('modifier modules', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  /** Lets the backend write the rest of its events. */
  let released = () => {};

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target.startsWith('/down')) response.writeHead(500).end('gone');
      else if (seen.target.startsWith('/list')) json([1, 2])(seen, response);
      else if (seen.target.startsWith('/events')) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: {"n":1}\n\n');
        released = () => response.end('data: [DONE]\n\n');
      } else if (seen.target.startsWith('/text')) response.writeHead(202, { 'X-Kind': 'text' }).end('text');
      else json({ name: 'Ada', secret: 's' })(seen, response);
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const start = async (endpoint: object, modules: readonly ModuleElement[], root: object = {}) => {
    gateway = await startModules({ host: [backend.url], endpoints: [endpoint], ...root }, modules);
  };
  const onRequest = (name: string, handler: (request: Loose, context: Loose) => unknown): ModuleElement => ({
    name,
    requestModifier: () => handler,
  });
  const onResponse = (name: string, handler: (response: Loose, context: Loose) => unknown): ModuleElement => ({
    name,
    responseModifier: () => handler,
  });
  const named = (...names: string[]) => ({ 'plugin/req-resp-modifier': { name: names } });
  const to = (extra: object, more: object = {}) => ({
    endpoint: '/a',
    extra_config: extra,
    backend: [{ url_pattern: '/b' }],
    ...more,
  });
  const onBackend = (extra: object, more: object = {}) =>
    to({}, { backend: [{ url_pattern: '/b', extra_config: extra, ...more }] });
  const ask = async (url = '/a', options: object = {}) => {
    const { statusCode, body, headers } = await gateway!.inject({ url, ...options });
    return { status: statusCode, body, headers, completed: headers['x-gateway-completed'] };
  };
  const shown = { extra_config: { router: { return_error_msg: true } } };
  const last = () => backend.requests.at(-1)!;

  it('set a header on the request to a backend without input_headers', async () => {
    await start(onBackend(named('tenant')), [
      onRequest('tenant', (request) => {
        request.headers['X-Tenant'] = 'a';
      }),
    ]);
    await ask();
    equal(last().headers['x-tenant'], 'a');
  });

  it('remove a field from the response', async () => {
    await start(to(named('hide')), [
      onResponse('hide', (response) => {
        delete response.data.secret;
      }),
    ]);
    equal((await ask()).body, '{"name":"Ada"}');
  });

  it('reject requests with the status of the error that they throw', async () => {
    const refusing = onRequest('no', () => {
      throw Object.assign(new Error('not you'), { statusCode: 403 });
    });
    await start(to(named('no')), [refusing]);
    deepEqual([(await ask()).status, (await ask()).body], [403, '']);
    await gateway!.close();
    await start(to(named('no')), [refusing], shown);
    equal((await ask()).body, 'not you');
  });

  it('respond with the text of the error that they throw, and with the given content type', async () => {
    const thrown = { statusCode: 429, message: '{"s":1}', encoding: 'application/json' };
    await start(
      to(named('no')),
      [
        onRequest('no', () => {
          throw thrown;
        }),
      ],
      shown,
    );
    const { status, body, headers } = await ask();
    deepEqual([status, body, headers['content-type']], [429, '{"s":1}', 'application/json']);
  });

  it('run in the order of their names for requests and responses', async () => {
    const seen: string[] = [];
    const noting = (sign: string) => () => void seen.push(sign);
    await start(to(named('b', 'a', 'c', 'd')), [
      onRequest('a', noting('a')),
      onRequest('b', noting('b')),
      onResponse('c', noting('c')),
      onResponse('d', noting('d')),
    ]);
    await ask();
    deepEqual(seen, ['b', 'a', 'c', 'd']);
  });

  it('run for requests and responses under one name, and share state between them', async () => {
    await start(to(named('both')), [
      {
        name: 'both',
        requestModifier: () => (_request: Loose, context: Loose) => void context.state.set('who', 'Grace'),
        responseModifier: () => (response: Loose, context: Loose) => {
          response.data.name = context.state.get('who');
          response.data.method = response.request.method;
          response.data.same = response.context === context;
        },
      },
    ]);
    deepEqual(JSON.parse((await ask()).body), { name: 'Grace', secret: 's', method: 'GET', same: true });
  });

  it('do not run on the response of a failed call', async () => {
    let calls = 0;
    const failures: unknown[] = [];
    const counting = () => ({
      modify: () => void calls++,
      onError: (failure: unknown, context: Loose) => void failures.push([failure, context.clientIp]),
    });
    await start(to(named('count'), { backend: [{ url_pattern: '/down' }] }), [
      { name: 'count', responseModifier: counting },
    ]);
    equal((await ask()).status, 500);
    equal(calls, 0);
    const message = `invalid status code 500 [GET /down]: ${backend.url}/down`;
    deepEqual(failures, [[{ statusCode: 500, message }, '127.0.0.1']]);
  });

  it('do not run on a response with a failed sequential backend', async () => {
    let calls = 0;
    await start(to(named('count'), { backend: [{ url_pattern: '/b' }, { url_pattern: '/down' }] }), [
      onResponse('count', () => void calls++),
    ]);
    const { status, completed } = await ask();
    deepEqual([status, completed, calls], [200, 'false', 0]);
  });

  for (const [what, given] of [
    ['nothing', undefined],
    ['a number', 1],
    ['an object of another type', { a: 1 }],
  ] as const) {
    it(`continue with in-place changes only if they return ${what}`, async () => {
      await start(to(named('in', 'out')), [
        onRequest('in', (request) => {
          request.headers['X-In'] = 'a';
          return given;
        }),
        onResponse('out', (response) => {
          response.data.name = 'Grace';
          return given;
        }),
      ]);
      equal(JSON.parse((await ask()).body).name, 'Grace');
      equal(last().headers['x-in'], 'a');
    });
  }

  it('pass their result to the next modifier', async () => {
    await start(onBackend(named('one', 'two')), [
      onRequest('one', async (request) => ({ ...request, method: 'PUT', headers: { 'X-One': ['1', '2'] } })),
      onRequest('two', (request) => {
        equal(request.method, 'PUT');
        deepEqual(request.headers['x-one'], ['1', '2']);
        request.body = 'text';
      }),
    ]);
    equal((await ask()).status, 200);
    deepEqual([last().method, last().headers['x-one'], last().body.toString()], ['PUT', '1, 2', 'text']);
  });

  it('receive backend data after response manipulation', async () => {
    let seen: unknown;
    await start(onBackend(named('see'), { group: 'g', deny: ['secret'] }), [
      onResponse('see', (response) => {
        seen = response.data;
      }),
    ]);
    await ask();
    deepEqual(seen, { g: { name: 'Ada' } });
  });

  it('do not receive static data, which is added later', async () => {
    let seen: Loose;
    const proxy = { proxy: { static: { strategy: 'always', data: { fixed: 1 } } } };
    await start(to({ ...named('see'), ...proxy }), [
      onResponse('see', (response) => {
        seen = { ...response.data };
      }),
    ]);
    equal(JSON.parse((await ask()).body).fixed, 1);
    equal('fixed' in seen, false);
  });

  it('cannot change the endpoint by its path, but can change a parameter', async () => {
    await start({ endpoint: '/u/{id}', extra_config: named('p'), backend: [{ url_pattern: '/b/{id}' }] }, [
      onRequest('p', (request) => {
        request.path = '/elsewhere';
        request.url = '/elsewhere';
        request.params.Id = '8';
      }),
    ]);
    await ask('/u/7');
    equal(last().target, '/b/8');
  });

  it('read and change the final URL of a backend request', async () => {
    await start(onBackend(named('move')), [
      onRequest('move', (request) => {
        deepEqual([request.url, request.path], [`${backend.url}/b`, '/b']);
        request.url = `${backend.url}/c?x=1`;
      }),
    ]);
    await ask();
    equal(last().target, '/c?x=1');
  });

  it('can mark the response as incomplete', async () => {
    await start(to(named('part'), { cache_ttl: '60s' }), [
      onResponse('part', (response) => {
        response.isComplete = false;
      }),
    ]);
    const { completed, headers } = await ask();
    deepEqual([completed, headers['cache-control']], ['false', undefined]);
  });

  it('receive a list under the key "collection"', async () => {
    let seen: unknown;
    await start(onBackend(named('see'), { url_pattern: '/list', is_collection: true }), [
      onResponse('see', (response) => {
        seen = response.data;
      }),
    ]);
    await ask();
    deepEqual(seen, { collection: [1, 2] });
  });

  it('receive bytes, status and headers with no-op', async () => {
    const raw = { output_encoding: 'no-op', backend: [{ url_pattern: '/text', encoding: 'no-op' }] };
    await start(to(named('raw'), raw), [
      onResponse('raw', async (response) => {
        deepEqual([response.data, response.statusCode, response.headers['x-kind']], [null, 202, ['text']]);
        let text = '';
        for await (const chunk of response.io) text += chunk;
        response.io = `${text}!`;
        response.statusCode = 203;
        response.headers['X-Kind'] = 'other';
      }),
    ]);
    const { status, body, headers } = await ask();
    deepEqual([status, body, headers['x-kind']], [203, 'text!', 'other']);
  });

  it('rewrite the messages of a no-op stream as they arrive', async () => {
    const raw = { output_encoding: 'no-op', backend: [{ url_pattern: '/events', encoding: 'no-op' }] };
    await start(to(named('stamp'), raw), [
      onResponse('stamp', (response) => {
        const { io } = response;
        response.io = (async function* () {
          for await (const chunk of io) yield Buffer.from(String(chunk).replace('{', '{"stamped":true,'));
        })();
      }),
    ]);
    const { port } = await gateway!.listen();
    let text = '';
    for await (const chunk of (await fetch(`http://127.0.0.1:${port}/a`)).body!) {
      text += Buffer.from(chunk);
      // Lets the backend continue only after the client has received the first message.
      if (text === 'data: {"stamped":true,"n":1}\n\n') released();
    }
    equal(text, 'data: {"stamped":true,"n":1}\n\ndata: [DONE]\n\n');
  });

  it('set headers of a decoded response, but not the status', async () => {
    await start(to(named('head')), [
      onResponse('head', (response) => {
        response.headers['X-Team'] = 'checkout';
        response.statusCode = 418;
      }),
    ]);
    const { status, headers } = await ask();
    deepEqual([status, headers['x-team']], [200, 'checkout']);
  });

  it('do not affect the rest of the response if they fail at one of two backends', async () => {
    const failing = { url_pattern: '/x', extra_config: named('no') };
    await start(to({}, { backend: [{ url_pattern: '/b' }, failing] }), [
      onRequest('no', () => {
        throw new Error('no luck');
      }),
    ]);
    const { status, completed } = await ask();
    deepEqual([status, completed], [200, 'false']);
  });

  it('do not affect a circuit breaker', async () => {
    const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 1 } };
    let isBroken = true;
    await start(onBackend({ ...named('no'), ...breaker }), [
      onRequest('no', () => {
        if (isBroken) throw new Error('no luck');
      }),
    ]);
    for (let at = 0; at < 3; at++) equal((await ask()).status, 500);
    isBroken = false;
    equal((await ask()).status, 200);
  });

  it('keep a body that they have read available for others', async () => {
    await start(to(named('read'), { method: 'POST' }), [
      onRequest('read', async (request) => {
        deepEqual(await request.json(), { a: 1 });
      }),
    ]);
    await ask('/a', { method: 'POST', payload: '{"a":1}', headers: { 'content-type': 'application/json' } });
    equal(last().body.toString(), '{"a":1}');
  });

  it('are counted in the log', async () => {
    const lines: string[] = [];
    const takes = { offers: await exampleOffers(plugin), services: { log: rememberingLog(lines) } };
    const gate = await openHarness(plugin, 'endpoint', { name: ['example'] }, takes);
    ok(lines.some((line) => line.includes('Adding 1 request and 1 response modifiers')));
    await gate.close();
  });

  it('have no effect unless they are listed', async () => {
    const gate = await openHarness(plugin, 'endpoint', {});
    deepEqual(gate.attached, {});
    await gate.close();
  });
});
