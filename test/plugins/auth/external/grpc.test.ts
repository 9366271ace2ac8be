import { deepEqual, equal, ok } from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { ServerCredentials, status } from '@grpc/grpc-js';
import { HeaderBag } from '#contract';
import type { Operations } from '#kernel';
import { decodeDecision } from '../../../../plugins/auth/external/check-response.ts';
import { makeCertificates } from '../../../support/certificates.ts';
import { chanceFrom } from '../../../support/chance.ts';
import { until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { type AuthorizationServer, type Check, startAuthorization } from '../../../support/grpc/authorization.ts';

describe('a gateway with an ext_authz server over gRPC', () => {
  let backend: TestBackend;
  let server: AuthorizationServer;
  let decide: Check;
  let gateway: Operations | undefined;

  beforeEach(async () => {
    decide = (_call, answer) => answer(null, { status: { code: 0 } });
    backend = await startBackend(json({ ok: true }));
    server = await startAuthorization((call, answer) => decide(call, answer));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    server.close();
    await backend.close();
  });

  const serve = async (config: object = {}, more: object = {}, root: object = {}, options: object = {}) => {
    const endpoint = {
      endpoint: '/a/{b}',
      backend: [{ host: [backend.url], url_pattern: '/b' }],
      extra_config: { 'auth/external': { url: `grpc://${server.host}`, ...config } },
      ...more,
    };
    gateway = await startGateway({ endpoints: [endpoint], ...root }, options);
  };
  const ask = (headers: Record<string, string> = {}, more: object = {}) =>
    gateway!.inject({ url: '/a/c?d=e', headers, ...more } as never);
  const option = (key: string, value: string, more: object = {}) => ({ header: { key, value }, ...more });

  it("sends it a description of the client's request", async () => {
    await serve(
      { context_extensions: { tenant: 'shop' }, request_headers: ['Authorization', 'cookie'] },
      { method: 'POST' },
    );
    const headers = { authorization: 'Bearer t', host: 'shop.example', 'x-other': 'a', cookie: 'a=b' };
    equal((await ask(headers, { method: 'POST', payload: '{}' })).statusCode, 200);
    const { source, request, context_extensions: extensions } = server.checks[0]!;
    const { headers: seen, time: _, ...http } = { ...request.http, time: request.time };
    deepEqual(
      [source.address.socket_address.address, extensions, http],
      [
        '127.0.0.1',
        { tenant: 'shop' },
        {
          ...{ id: '', method: 'POST', path: '/a/c?d=e', host: 'shop.example', scheme: 'http', size: '2' },
          ...{ protocol: 'HTTP/1.1', body: '', raw_body: Buffer.alloc(0) },
        },
      ],
    );
    deepEqual(seen, {
      authorization: 'Bearer t',
      cookie: 'a=b',
      ':method': 'POST',
      ':path': '/a/c?d=e',
      ':authority': 'shop.example',
      ':scheme': 'http',
    });
    ok(Math.abs(Number(request.time.seconds) - Date.now() / 1000) < 60);
  });

  it('sends bodies as text, or as bytes if they are not UTF-8', async () => {
    await serve({ forward_body: true }, { method: 'POST' });
    await ask({}, { method: 'POST', payload: 'zwölf' });
    await ask({}, { method: 'POST', payload: Buffer.from([0xff, 1]) });
    const bodies = server.checks.map(({ request: { http } }) => [http.body, http.raw_body.toString('hex')]);
    deepEqual(bodies, [
      ['zwölf', ''],
      ['', 'ff01'],
    ]);
  });

  it("changes the client's request as the server requires", async () => {
    decide = (_call, answer) =>
      answer(null, {
        status: { code: 0 },
        ok_response: {
          headers: [
            option('x-set', 'new'),
            option('x-append', 'two', { append: { value: true } }),
            option('x-add', 'no', { append_action: 1 }),
            option('x-added', 'yes', { append_action: 1 }),
            option('x-replace', 'no', { append_action: 3 }),
            option('host', 'evil.test'),
            option('transfer-encoding', 'chunked'),
            option('x-bad', 'a\r\nx-injected: b'),
          ],
          headers_to_remove: ['authorization', ':path', 'host'],
          response_headers_to_add: [option('x-served-by', 'authz'), option('set-cookie', 'a=b')],
        },
      });
    await serve({}, { input_headers: ['*'] });
    const headers = { 'x-set': 'old', 'x-append': 'one', 'x-add': 'kept', authorization: 'Bearer t', x_set: 'forged' };
    const { statusCode, headers: got } = await ask(headers);
    deepEqual([statusCode, got['x-served-by'], got['set-cookie']], [200, 'authz', 'a=b']);
    const seen = backend.requests[0]!.headers;
    deepEqual(
      ['x-set', 'x-append', 'x-add', 'x-added', 'x-replace', 'authorization', 'x_set', 'x-bad', 'x-injected'].map(
        (name) => seen[name],
      ),
      ['new', 'one, two', 'kept', 'yes', undefined, undefined, undefined, undefined, undefined],
    );
    equal(seen.host, backend.host);
  });

  for (const [denied, expected] of [
    [undefined, [403, '', undefined]],
    [{ status: { code: 401 }, body: 'no', headers: [option('www-authenticate', 'Bearer')] }, [401, 'no', 'Bearer']],
    [{ status: { code: 302 }, headers: [option('www-authenticate', 'a')] }, [302, '', 'a']],
    [{ status: { code: 100 } }, [403, '', undefined]],
    [{ status: { code: 7777 }, headers: [option('content-length', '9')] }, [403, '', undefined]],
  ] as const) {
    it(`rejects a request if the server responds with ${JSON.stringify(denied ?? 'the status alone')}`, async () => {
      decide = (_call, answer) => answer(null, { status: { code: 7 }, ...(denied && { denied_response: denied }) });
      await serve();
      const { statusCode, body, headers } = await ask();
      deepEqual([statusCode, body, headers['www-authenticate']], expected);
      equal(backend.requests.length, 0);
    });
  }

  for (const [title, code, isOutage] of [
    ['is unavailable', status.UNAVAILABLE, true],
    ['runs out of time', status.DEADLINE_EXCEEDED, true],
    ['fails', status.INTERNAL, false],
    ['does not know the method', status.UNIMPLEMENTED, false],
    ['rejects the gateway', status.UNAUTHENTICATED, false],
  ] as const) {
    it(`rejects requests while the server ${title}, and ${isOutage ? 'accepts' : 'rejects'} them with on_failure_allow`, async () => {
      decide = (_call, answer) => answer({ code, details: 'no' });
      await serve();
      equal((await ask()).statusCode, 503);
      await gateway!.close();
      await serve({ on_failure_allow: true, response_headers: ['X-User'] }, { input_headers: ['X-User'] });
      equal((await ask({ 'x-user': 'root' })).statusCode, isOutage ? 200 : 503);
      equal(backend.requests[0]?.headers['x-user'], undefined);
    });
  }

  it('rejects requests while the server does not respond or is unreachable', async () => {
    decide = () => {};
    await serve({ timeout: '20ms' });
    equal((await ask()).statusCode, 503);
    server.close();
    equal((await ask()).statusCode, 503);
  });

  it('caches accepting decisions', async () => {
    await serve({ cache_ttl: '1h', cache_headers: ['Authorization'] });
    for (const authorization of ['a', 'a', 'b', 'a']) equal((await ask({ authorization })).statusCode, 200);
    equal(server.checks.length, 2);
  });

  it('uses the TLS settings of the service', async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const { certificatePem, privateKeyPem } = certificates.issue('server', authority);
    const pair = { cert_chain: Buffer.from(certificatePem), private_key: Buffer.from(privateKeyPem) };
    const secure = await startAuthorization(
      (call, answer) => decide(call, answer),
      ServerCredentials.createSsl(null, [pair]),
    );
    const url = `grpcs://localhost:${secure.host.split(':')[1]}`;
    await serve({ url });
    equal((await ask()).statusCode, 503);
    await gateway!.close();
    await serve({ url }, {}, { client_tls: { ca_certs: [authority.certificate] } });
    equal((await ask()).statusCode, 200);
    secure.close();
    certificates.remove();
  });

  it('cancels the call of a client that disconnects, and reports no failure', async () => {
    const sinks = rememberingSinks();
    let cancelled = 0;
    decide = (call) => void call.on('cancelled', () => cancelled++);
    await serve({}, {}, {}, { sinks });
    const { port } = await gateway!.listen();
    const request = httpRequest({ port, path: '/a/b' });
    request.on('error', () => {}).end();
    await until(() => server.checks.length === 1);
    request.destroy();
    await until(() => cancelled === 1 && gateway!.status.calls === 0);
    ok(!sinks.lines.some((line) => line.includes('[ExternalAuth]')));
  });

  it('treats every invalid response as no decision, or as a decision with valid headers', () => {
    const chance = chanceFrom(7);
    for (let round = 0; round < 5000; round++) {
      const bytes = Uint8Array.from({ length: chance.below(40) }, () => chance.below(round % 2 ? 40 : 256));
      try {
        const decision = decodeDecision(bytes);
        if (!decision.accepted)
          ok(decision.status >= 200 && decision.status <= 599 && decision.headers instanceof HeaderBag);
      } catch (error) {
        ok(error instanceof Error);
      }
    }
  });
});
