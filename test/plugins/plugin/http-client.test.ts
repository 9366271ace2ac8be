import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { request as connect, createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { atBackend, definePlugin, Reply } from '#contract';
import type { Operations } from '#kernel';
import { plugin } from '../../../plugins/plugin/http-client.ts';
import { exampleOffers } from '../../support/example-offers.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { rememberingLog } from '../../support/log.ts';
import { moduleOf, refusalsOf, startModules } from '../../support/modules.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;
type Client = (request: Request, context: Loose, host: Loose) => unknown;

describe('an HTTP client module', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;
  let release: () => void = () => {};

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target.startsWith('/silent')) return;
      if (seen.target.startsWith('/zip')) {
        response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' });
        response.end(gzipSync('{"zipped":true}'));
        return;
      }
      if (seen.target.startsWith('/slow')) {
        response.writeHead(200, { 'Content-Type': 'text/plain' });
        response.write('first ');
        release = () => response.end('last');
        return;
      }
      if (seen.target.startsWith('/cookies')) response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      if (seen.target.startsWith('/cached')) response.setHeader('Cache-Control', 'max-age=60');
      json({ path: seen.target, body: seen.body.toString() })(seen, response);
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const client = (handler: Client) => ({
    name: 'own',
    httpClient: (_config: unknown, host: Loose) => (request: Request, context: Loose) =>
      handler(request, context, host),
  });
  const by = { 'plugin/http-client': { name: 'own' } };
  const to = (part: object = {}, more: object = {}) => ({
    endpoint: '/a',
    backend: [{ url_pattern: '/b', extra_config: by, ...part }],
    ...more,
  });
  const raw = { output_encoding: 'no-op', input_query_strings: ['*'], input_headers: ['*'] };
  const start = async (endpoint: object, handler: Client, root: object = {}) => {
    sinks = rememberingSinks();
    const config = { host: [backend.url], endpoints: [endpoint], ...root };
    gateway = await startModules(config, client(handler), { sinks });
  };
  const ask = async (url = '/a', options: object = {}) => {
    const { statusCode, body, headers } = await gateway!.inject({ url, ...options });
    return { status: statusCode, body, headers, completed: headers['x-gateway-completed'] };
  };
  const last = () => backend.requests.at(-1)!;
  const delegating: Client = (request, _context, host) => host.defaultClient(request);

  it("responds to some calls itself and delegates others to the gateway's client", async () => {
    await start(
      { endpoint: '/t/{path}', backend: [{ url_pattern: '/{path}', extra_config: by }] },
      (request, _context, host) =>
        new URL(request.url).pathname === '/hijack' ? Response.json({ message: 'x' }) : host.defaultClient(request),
    );
    const before = backend.requests.length;
    equal((await ask('/t/hijack')).body, '{"message":"x"}');
    equal(backend.requests.length, before);
    equal(JSON.parse((await ask('/t/other')).body).path, '/other');
  });

  it('with an error status fails the backend, except with the no-op encoding, which returns the status', async () => {
    const notThere: Client = () => new Response('not there', { status: 404, headers: { 'X-Kind': 'own' } });
    await start(to(), notThere);
    deepEqual([(await ask()).status, (await ask()).body], [500, '']);
    await gateway!.close();
    await start(to({}, raw), notThere);
    const { status, body, headers } = await ask();
    deepEqual([status, body, headers['x-kind']], [404, 'not there', 'own']);
  });

  it('does not affect the other backend if it fails', async () => {
    const backends = [{ url_pattern: '/b' }, { url_pattern: '/x', extra_config: by }];
    await start(to({}, { backend: backends }), () => {
      throw new Error('no luck');
    });
    const { status, completed } = await ask();
    deepEqual([status, completed], [200, 'false']);
    ok(
      sinks.lines.some((line) => /ERROR.*\[PLUGIN: own\] hook "httpClient" of .* failed.*: Error: no luck/.test(line)),
    );
  });

  it('streams its response', async () => {
    let proceed: () => void = () => {};
    await start(
      to({}, raw),
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from('first '));
              await new Promise<void>((resolve) => {
                proceed = resolve;
              });
              controller.enqueue(Buffer.from('last'));
              controller.close();
            },
          }),
        ),
    );
    equal(await streamed(() => proceed()), 'first last');
  });

  it("streams the response of the gateway's client", async () => {
    await start(to({ url_pattern: '/slow' }, raw), delegating);
    equal(await streamed(() => release()), 'first last');
  });

  const streamed = async (goOn: () => void): Promise<string> => {
    const { port } = await gateway!.listen();
    return new Promise((resolve, reject) => {
      connect({ port, path: '/a' }, (response) => {
        let got = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          got += chunk;
          // Sends the rest of the body only after the beginning has arrived.
          if (got === 'first ') goOn();
        });
        response.on('end', () => resolve(got));
      })
        .on('error', reject)
        .end();
    });
  };

  it('is canceled when its endpoint times out', async () => {
    let reason: unknown;
    await start(to({}, { timeout: '50ms' }), (_request, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      });
    });
    equal((await ask()).status, 500);
    match(String(reason), /deadline/);
  });

  it("sends credentials of auth components only if it delegates to the gateway's client", async () => {
    const tokens = await startBackend(json({ access_token: 'secret', token_type: 'bearer', expires_in: 3600 }));
    const credentials = {
      'auth/client-credentials': { client_id: 'me', client_secret: 'x', token_url: tokens.url },
    };
    const part = { extra_config: { ...by, ...credentials } };
    await start(to(part), delegating);
    equal((await ask()).status, 200);
    equal(last().headers.authorization, 'Bearer secret');
    await gateway!.close();
    await start(to(part), (request) => fetch(request.url));
    equal((await ask()).status, 200);
    equal(last().headers.authorization, undefined);
    await tokens.close();
  });

  it('uses the cache only for calls that it delegates', async () => {
    let calls = 0;
    await start(
      to({ url_pattern: '/cached', extra_config: { ...by, 'qos/http-cache': {} } }),
      (request, _context, host) => {
        calls += 1;
        return host.defaultClient(request);
      },
    );
    const before = backend.requests.length;
    await ask();
    await ask();
    deepEqual([calls, backend.requests.length - before], [2, 1]);
  });

  it('receives the final request: URL, method, headers and body', async () => {
    let seen: unknown;
    const headers = { 'X-Added': 'm' };
    await start(
      {
        endpoint: '/a/{id}',
        method: 'POST',
        input_headers: ['X-In'],
        backend: [
          {
            url_pattern: '/b/{id}?x=1',
            extra_config: {
              ...by,
              'modifier/martian': { 'header.Modifier': { scope: ['request'], name: 'X-Added', value: 'm' } },
            },
          },
        ],
      },
      async (request) => {
        const { url, method } = request;
        seen = [url, method, request.headers.get('x-in'), request.headers.get('x-added'), await request.text()];
        return Response.json({});
      },
    );
    await ask('/a/7', { method: 'POST', payload: 'hello', headers: { 'x-in': 'a' } });
    deepEqual(seen, [`${backend.url}/b/7?x=1`, 'POST', 'a', headers['X-Added'], 'hello']);
  });

  it('forwards responses unchanged, including their length and the names of their headers', async () => {
    await start(to({ url_pattern: '/cookies' }, { ...raw, method: 'POST' }), delegating);
    const { port } = await gateway!.listen();
    const cookies = await new Promise((resolve, reject) => {
      const headers = { 'X-CaSe': 'a', 'Content-Length': '5' };
      connect({ port, path: '/a', method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.headers['set-cookie']));
      })
        .on('error', reject)
        .end('hello');
    });
    deepEqual(cookies, ['a=1', 'b=2']);
    deepEqual([last().headers['content-length'], last().body.toString()], ['5', 'hello']);
    ok(last().rawHeaders.includes('X-Case'));
  });

  it("calls the gateway's client with a modified request", async () => {
    await start(to(), async (request, _context, host) => {
      const response = await host.defaultClient(`${backend.url}/moved?y=2`, {
        method: 'PUT',
        body: 'text',
        headers: { ...Object.fromEntries(request.headers), 'X-More': 'b' },
      });
      return Response.json({ ...(await response.json()), more: true });
    });
    const { body } = await ask();
    deepEqual(JSON.parse(body), { path: '/moved?y=2', body: 'text', more: true });
    deepEqual([last().method, last().headers['x-more']], ['PUT', 'b']);
  });

  it('changes response headers in place, and the body with another response', async () => {
    await start(to({}, raw), async (request, _context, host) => {
      const response = await host.defaultClient(request);
      response.headers.set('X-Kind', 'own');
      response.headers.delete('content-type');
      return response;
    });
    const { headers, body } = await ask();
    deepEqual([headers['x-kind'], headers['content-type'], JSON.parse(body).path], ['own', undefined, '/b']);
    await gateway!.close();
    await start(to({}, raw), async (request, _context, host) => {
      const response = await host.defaultClient(request);
      return new Response((await response.text()).toUpperCase(), response);
    });
    equal(JSON.parse((await ask()).body).PATH, '/B');
  });

  it('removes the content encoding of bodies that fetch has decompressed', async () => {
    await start(to({ url_pattern: '/zip' }, raw), (request) => fetch(request.url));
    const { headers, body } = await ask();
    deepEqual([headers['content-encoding'], body], [undefined, '{"zipped":true}']);
  });

  it("receives a failure of the gateway's client and forwards it unless caught", async () => {
    let seen: unknown;
    const down = { host: ['http://127.0.0.1:1'] };
    await start(to(down), async (request, _context, host) => {
      try {
        return await host.defaultClient(request);
      } catch (error) {
        seen = error;
        throw error;
      }
    });
    equal((await ask()).status, 500);
    match(String(seen), /refused/);
  });

  for (const [what, answer] of [
    ['nothing', () => undefined],
    ['a string', () => 'text'],
    ['an object that is not a response', () => ({ status: 200 })],
    ['a response without a status', () => Response.error()],
  ] as const) {
    it(`causes a 500 and is named in the log if it returns ${what}`, async () => {
      await start(to({}, raw), answer);
      equal((await ask()).status, 500);
      ok(sinks.lines.some((line) => line.includes('ERROR') && line.includes('[PLUGIN: own]')));
    });
  }

  it('causes a 500 if its response body was already read', async () => {
    await start(to({}, raw), async () => {
      const response = new Response('text');
      await response.text();
      return response;
    });
    equal((await ask()).status, 500);
  });

  it('runs inside modifiers, circuit breakers and rate limits', async () => {
    const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 1 } };
    let calls = 0;
    await start(to({ extra_config: { ...by, ...breaker } }), () => {
      calls += 1;
      throw new Error('no luck');
    });
    for (let at = 0; at < 5; at++) await ask();
    equal(calls, 2);
  });

  it('is called for each concurrent call, and canceled when another call responds', async () => {
    const aborted: unknown[] = [];
    let calls = 0;
    await start(to({}, { concurrent_calls: 3 }), (_request, { signal }) => {
      calls += 1;
      if (calls === 2) return Response.json({ first: true });
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason);
          reject(signal.reason);
        });
      });
    });
    equal((await ask()).body, '{"first":true}');
    deepEqual([calls, aborted.length], [3, 2]);
  });

  it('handles redirects itself', async () => {
    await start(to({}, raw), () => new Response(null, { status: 302, headers: { Location: '/elsewhere' } }));
    const { status, headers } = await ask();
    deepEqual([status, headers['location']], [302, '/elsewhere']);
  });

  it("streams large bodies at the client's speed", async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024);
    await start(
      to({}, { ...raw, timeout: '30s' }),
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 1;
              controller.enqueue(chunk);
              if (sent === 512) controller.close();
            },
          }),
        ),
    );
    const { port } = await gateway!.listen();
    const whole = await new Promise<number>((resolve, reject) => {
      const count = async (response: IncomingMessage): Promise<number> => {
        let bytes = 0;
        // Only a limited amount is sent while the client does not read.
        await new Promise((go) => setImmediate(go));
        ok(sent < 512, String(sent));
        for await (const part of response) bytes += part.length;
        return bytes;
      };
      connect({ port, path: '/a' }, (response) => resolve(count(response)))
        .on('error', reject)
        .end();
    });
    equal(whole, 512 * chunk.length);
  });

  it("cannot use the gateway's client outside of a call", async () => {
    let thrown: unknown;
    await refusalsOf(
      startModules(
        { host: [backend.url], endpoints: [to()] },
        {
          name: 'own',
          httpClient: async (_config: unknown, host: Loose) => {
            await host.defaultClient(backend.url).catch((error: unknown) => {
              thrown = error;
            });
            return () => new Response();
          },
        },
      ),
    );
    match(String(thrown), /only be used while a call is handled/);
  });

  it('is rejected if it has no name, several names, or an unknown name', async () => {
    const refusals = async (config: object) => {
      const extra = { extra_config: { 'plugin/http-client': config } };
      const [refusal] = await refusalsOf(
        startModules({ host: [backend.url], endpoints: [to(extra)] }, client(delegating)),
      );
      return [refusal?.code, refusal?.pointer.split('plugin~1http-client')[1]];
    };
    deepEqual(await refusals({}), ['SCHEMA_REQUIRED', '']);
    deepEqual(await refusals({ name: ['own'] }), ['SCHEMA_TYPE', '/name']);
    deepEqual(await refusals({ name: 'other' }), ['PLUGIN_UNKNOWN', '/name']);
    deepEqual(await refusals({ name: 'static-filesystem' }), ['PLUGIN_SETTINGS', '/name']);
    deepEqual(await refusals({ name: 'http-logger' }), ['CONFIG_NOT_SUPPORTED', '/name']);
  });

  it('has no effect with protocols other than HTTP, and causes a warning', async () => {
    const other = definePlugin({
      name: 'test/data',
      description: 'Answers with data.',
      places: [
        atBackend({ type: 'object', properties: {} }, () => ({
          protocol: { call: () => Reply.data({ other: true }), replies: 'data', hostless: true },
        })),
      ],
    });
    const endpoints = [to({ extra_config: { ...by, 'test/data': {} } })];
    gateway = await startGateway({ endpoints }, { plugins: [other, moduleOf(client(() => Response.json({})))] });
    equal((await ask()).body, '{"other":true}');
    deepEqual(
      gateway.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['BACKEND_NO_HTTP', '/endpoints/0/backend/0/extra_config/plugin~1http-client']],
    );
  });

  it('is named in the log', async () => {
    const lines: string[] = [];
    const around = { offers: await exampleOffers(plugin), services: { log: rememberingLog(lines) } };
    const gate = await openHarness(plugin, 'backend', { name: 'example' }, around);
    ok(lines.some((line) => line.includes('DEBUG') && line.includes('Injecting plugin example')));
    await gate.close();
  });

  it('opens no connections of its own', async () => {
    const server: Server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await start(to({ host: [`http://127.0.0.1:${port}`] }), delegating);
    equal((await ask()).status, 200);
    await gateway!.close();
    gateway = undefined;
    await new Promise((resolve) => server.close(resolve));
  });
});
