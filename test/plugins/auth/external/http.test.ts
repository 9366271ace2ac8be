import { deepEqual, equal, ok } from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import {
  type Answering,
  json,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';

describe('a gateway with forward authentication', () => {
  let backend: TestBackend;
  let server: TestBackend;
  let decide: Answering;
  let gateway: Operations | undefined;

  beforeEach(async () => {
    decide = (_seen, response) => response.writeHead(200).end();
    backend = await startBackend((seen, response) => json({ body: seen.body.toString() })(seen, response));
    server = await startBackend((seen, response) => decide(seen, response));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.close();
    await backend.close();
  });

  const serve = async (config: object = {}, more: object = {}, options: object = {}, extra: object = {}) => {
    const endpoint = {
      endpoint: '/a/{b}',
      input_query_strings: ['*'],
      backend: [{ host: [backend.url], url_pattern: '/b' }],
      ...more,
      extra_config: { 'auth/external': { url: `${server.url}/verify?x=1`, ...config }, ...extra },
    };
    gateway = await startGateway({ endpoints: [endpoint] }, options);
  };
  const ask = (headers: Record<string, string> = {}, more: object = {}) =>
    gateway!.inject({ url: '/a/c?d=e', headers, ...more } as never);
  const accept =
    (headers: Record<string, string | string[]>): Answering =>
    (_seen, response) =>
      response.writeHead(204, headers).end();

  it('sends the client headers and a description of the request, but no body', async () => {
    await serve({}, { method: 'POST' });
    const headers = { authorization: 'Bearer t', cookie: 'a=b', host: 'shop.example', 'content-type': 'text/plain' };
    equal((await ask(headers, { method: 'POST', payload: 'text' })).statusCode, 200);
    const { method, target, headers: seen, body } = server.requests[0]!;
    deepEqual([method, target, body.length], ['GET', '/verify?x=1', 0]);
    deepEqual(
      [seen.authorization, seen.cookie, seen['content-type'], seen.host],
      ['Bearer t', 'a=b', undefined, server.host],
    );
    const described = ['method', 'uri', 'host', 'proto', 'for'].map((name) => seen[`x-forwarded-${name}`]);
    deepEqual(described, ['POST', '/a/c?d=e', 'shop.example', 'http', '127.0.0.1']);
    deepEqual(
      [seen['x-original-method'], seen['x-original-uri'], seen['x-real-ip']],
      ['POST', '/a/c?d=e', '127.0.0.1'],
    );
    equal(backend.requests[0]!.body.toString(), 'text');
  });

  it('replaces forwarding headers that the client sends, in every spelling', async () => {
    await serve();
    await ask({
      'x-forwarded-uri': '/public',
      x_forwarded_uri: '/public',
      'x-forwarded.method': 'OPTIONS',
      'x-real-ip': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      'x-original-url': '/public',
    });
    const names = server.requests[0]!.rawHeaders.filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase());
    equal(names.filter((name) => /^x.forwarded.(uri|method)$/.test(name)).length, 2);
    deepEqual(
      names.filter((name) => /^forwarded|x_|url$/.test(name)),
      [],
    );
    equal(server.requests[0]!.headers['x-real-ip'], '127.0.0.1');
  });

  it('sends only the listed headers, and none that Connection names', async () => {
    await serve({ request_headers: ['authorization', 'X-Hop'] });
    await ask({ authorization: 'a', cookie: 'b', 'x-hop': 'c', connection: 'x-hop' });
    const { authorization, cookie, 'x-hop': hop } = server.requests[0]!.headers;
    deepEqual([authorization, cookie, hop], ['a', undefined, undefined]);
  });

  it("passes headers of the server's response to backends, but never headers of the client with the same name", async () => {
    decide = accept({ 'X-User': 'ada', 'X-Group': ['a', 'b'], 'X-Other': 'c' });
    await serve(
      { response_headers: ['X-User', 'X-Group', 'X-Role'] },
      { input_headers: ['X-Role', 'x_user', 'X-User'] },
    );
    equal((await ask({ 'x-user': 'root', 'x-role': 'admin', x_user: 'root' })).statusCode, 200);
    const seen = backend.requests[0]!.headers;
    deepEqual(
      [seen['x-user'], seen['x-group'], seen['x-role'], seen['x_user'], seen['x-other']],
      ['ada', 'a, b', undefined, undefined, undefined],
    );
  });

  it('adds headers of an accepting response to the response of the client', async () => {
    decide = accept({ 'Set-Cookie': ['a=1', 'b=2'], 'X-Other': 'c' });
    await serve({ client_headers: ['Set-Cookie'] });
    const { statusCode, headers } = await ask();
    deepEqual([statusCode, headers['set-cookie'], headers['x-other']], [200, ['a=1', 'b=2'], undefined]);
  });

  for (const [status, headers] of [
    [401, { 'WWW-Authenticate': 'Basic realm="a"' }],
    [403, { 'Content-Type': 'text/html' }],
    [429, { 'Retry-After': '7' }],
    [302, { Location: 'https://id.test/login?to=a', 'Set-Cookie': ['state=1; HttpOnly', 'b=2'] }],
    [307, { Location: '/login' }],
  ] as const) {
    it(`returns a response of ${status} with its headers and body, and does not call the backend`, async () => {
      decide = (_seen, response) =>
        response.writeHead(status, { ...headers } as Record<string, string | string[]>).end('decided');
      await serve();
      const got = await ask();
      deepEqual([got.statusCode, got.body, backend.requests.length], [status, 'decided', 0]);
      for (const [name, value] of Object.entries(headers)) deepEqual(got.headers[name.toLowerCase()], value);
    });
  }

  for (const [title, decision, isOutage] of [
    ['responds with 500', (_seen, response) => response.writeHead(500).end('secret'), false],
    ['responds with 503', (_seen, response) => response.writeHead(503).end(), true],
    ['responds with 304', (_seen, response) => response.writeHead(304).end(), false],
    ['redirects nowhere', (_seen, response) => response.writeHead(302).end(), false],
    ['resets the connection', (_seen, response) => response.destroy(), true],
    ['rejects with a long body', (_seen, response) => response.writeHead(403).end('a'.repeat(70_000)), false],
  ] as readonly (readonly [string, Answering, boolean])[]) {
    it(`rejects requests while the server ${title}, and ${isOutage ? 'accepts' : 'rejects'} them with on_failure_allow`, async () => {
      decide = decision;
      await serve({ response_headers: ['X-User'] }, { input_headers: ['X-User'] });
      const { statusCode, body } = await ask();
      deepEqual([statusCode, body, backend.requests.length], [503, '', 0]);
      await gateway!.close();
      await serve({ response_headers: ['X-User'], on_failure_allow: true }, { input_headers: ['X-User'] });
      equal((await ask({ 'x-user': 'root' })).statusCode, isOutage ? 200 : 503);
      equal(backend.requests[0]?.headers['x-user'], undefined);
    });
  }

  it('rejects requests with on_failure_status while the server does not respond', async () => {
    decide = () => {};
    await serve({ timeout: '20ms', on_failure_status: 403 });
    equal((await ask()).statusCode, 403);
  });

  it('sends bodies up to max_body_size to the server, and the same bodies to the backend', async () => {
    await serve({ forward_body: true, max_body_size: 10 }, { method: 'POST' });
    const post = (payload: string) => ask({ 'content-type': 'text/plain' }, { method: 'POST', payload });
    equal((await post('0123456789')).json().body, '0123456789');
    const { method, body, headers } = server.requests[0]!;
    deepEqual([method, body.toString(), headers['content-type']], ['POST', '0123456789', 'text/plain']);
    equal((await post('0123456789a')).statusCode, 413);
    deepEqual([server.requests.length, backend.requests.length], [1, 1]);
  });

  it('provides the headers of the server to policies', async () => {
    decide = accept({ 'X-User': 'eve' });
    await serve(
      { response_headers: ['X-User'] },
      {},
      {},
      {
        'security/policies': { req: { policies: ["req_headers['X-User'][0] == 'ada'"] } },
      },
    );
    equal((await ask({ 'x-user': 'ada' })).statusCode, 500);
    decide = accept({ 'X-User': 'ada' });
    equal((await ask()).statusCode, 200);
  });

  describe('that caches decisions', () => {
    const cached = { cache_ttl: '1h', cache_headers: ['Authorization'], response_headers: ['X-User'] };

    it('sends another request to the server for another client, method, host, query or path', async () => {
      decide = accept({ 'X-User': 'ada' });
      await serve(cached);
      const all: [Record<string, string>, object?][] = [
        [{ authorization: 'a' }],
        [{ authorization: 'b' }],
        [{}],
        [{ authorization: 'a', host: 'other' }],
        [{ authorization: 'a' }, { url: '/a/c?d=f' }],
        [{ authorization: 'a' }, { url: '/a/d?d=e' }],
        [{ authorization: 'a' }, { remoteAddress: '127.0.0.2' }],
      ];
      for (let round = 0; round < 2; round++) for (const one of all) equal((await ask(...one)).statusCode, 200);
      equal(server.requests.length, all.length);
      equal(backend.requests.at(-1)!.headers['x-user'], 'ada');
    });

    for (const [title, decision] of [
      ['no-store', accept({ 'Cache-Control': 'no-store' })],
      ['max-age=0', accept({ 'Cache-Control': 'max-age=0' })],
      ['a cookie', accept({ 'Set-Cookie': 'a=b' })],
      ['401', (_seen, response) => response.writeHead(401).end()],
      ['503', (_seen, response) => response.writeHead(503).end()],
    ] as readonly (readonly [string, Answering])[]) {
      it(`does not cache a response with ${title}`, async () => {
        decide = decision;
        await serve(cached);
        await ask({ authorization: 'a' });
        await ask({ authorization: 'a' });
        equal(server.requests.length, 2);
      });
    }

    it('shares a decision between concurrent requests', async () => {
      const waiting: (() => void)[] = [];
      decide = (_seen, response) => void waiting.push(() => response.writeHead(200).end());
      await serve(cached);
      const all = [ask({ authorization: 'a' }), ask({ authorization: 'a' })];
      await until(() => waiting.length === 1 && gateway!.status.calls === 2);
      waiting[0]!();
      deepEqual(
        (await Promise.all(all)).map(({ statusCode }) => statusCode),
        [200, 200],
      );
      equal(server.requests.length, 1);
    });
  });

  it('cancels the call of a client that disconnects, and reports no failure', async () => {
    const sinks = rememberingSinks();
    let [asked, cancelled] = [0, 0];
    decide = (_seen, response) => {
      asked++;
      response.once('close', () => cancelled++);
    };
    await serve({}, {}, { sinks });
    const { port } = await gateway!.listen();
    const request = httpRequest({ port, path: '/a/b' });
    request.on('error', () => {}).end();
    await until(() => asked === 1);
    request.destroy();
    await until(() => cancelled === 1 && gateway!.status.calls === 0);
    ok(!sinks.lines.some((line) => line.includes('[ExternalAuth]')));
  });
});
