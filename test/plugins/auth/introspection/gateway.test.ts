import { deepEqual, equal, ok } from 'node:assert/strict';
import { type ClientRequest as HttpRequest, request as httpRequest, type ServerResponse } from 'node:http';
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

describe('a gateway with auth/introspection', () => {
  let backend: TestBackend;
  let server: TestBackend;
  let respond: Answering;
  let gateway: Operations | undefined;

  beforeEach(async () => {
    respond = json({ active: true, sub: 'ada', scope: 'read' });
    backend = await startBackend(json({ ok: true }));
    server = await startBackend((seen, response) => respond(seen, response));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.close();
    await backend.close();
  });

  const client = (more: object = {}) => ({
    introspection_url: `${server.url}/introspect`,
    client_id: 'gate',
    client_secret: 'hush-hush',
    ...more,
  });
  const endpoint = (own: object, more: object = {}, extra: object = {}) => ({
    endpoint: '/a',
    backend: [{ host: [backend.url], url_pattern: '/b' }],
    extra_config: { 'auth/introspection': own, ...extra },
    ...more,
  });
  const serve = async (endpoints: readonly object[], root: object = {}, options: object = {}) => {
    gateway = await startGateway({ endpoints, ...root }, options);
  };
  const ask = (url = '/a', headers: Record<string, string> = { authorization: 'Bearer t' }) =>
    gateway!.inject({ url, headers });

  it('uses the authorization server of the root for endpoints without their own, with a shared cache', async () => {
    const endpoints = [
      endpoint({ scopes: ['read'] }),
      endpoint({ scopes: ['write'] }, { endpoint: '/w' }),
      endpoint(client({ introspection_url: `${server.url}/other` }), { endpoint: '/own' }),
    ];
    await serve(endpoints, { extra_config: { 'auth/introspection': client() } });
    const statuses = [];
    for (const url of ['/a', '/w', '/a', '/own']) statuses.push((await ask(url)).statusCode);
    deepEqual(statuses, [200, 403, 200, 200]);
    deepEqual(
      server.requests.map(({ target }) => target),
      ['/introspect', '/other'],
    );
  });

  it('provides the claims to paths, headers, policies and CEL conditions', async () => {
    const own = client({ propagate_claims: [['sub', 'X-User']] });
    const extra = {
      'security/policies': { req: { policies: ["JWT.sub == 'ada'"] }, jwt: { policies: ["JWT.scope == 'read'"] } },
      'validation/cel': [{ check_expr: "JWT.sub != 'eve'" }],
    };
    const to = [{ host: [backend.url], url_pattern: '/users/{JWT.sub}' }];
    await serve([endpoint(own, { input_headers: ['X-User'], backend: to }, extra)]);
    equal((await ask('/a', { authorization: 'Bearer t', 'x-user': 'root' })).statusCode, 200);
    deepEqual([backend.requests[0]!.target, backend.requests[0]!.headers['x-user']], ['/users/ada', 'ada']);
    respond = json({ active: true, sub: 'eve', scope: 'read' });
    ok((await ask('/a', { authorization: 'Bearer of-eve' })).statusCode >= 400);
    respond = json({ active: true, sub: 'ada', scope: 'write' });
    equal((await ask('/a', { authorization: 'Bearer for-writing' })).statusCode, 401);
    equal(backend.requests.length, 1);
  });

  it('never logs tokens or secrets, even if they are in the query', async () => {
    const sinks = rememberingSinks();
    await serve([endpoint(client({ query_key: 'token' }))], {}, { sinks });
    equal((await gateway!.inject('/a?x=1&token=very-secret')).statusCode, 200);
    respond = (seen, response) => json({ error: seen.body.toString(), ...seen.headers }, 500)(seen, response);
    equal((await gateway!.inject('/a?token=very-secret-2')).statusCode, 503);
    await server.close();
    equal((await gateway!.inject('/a?token=very-secret-3')).statusCode, 503);
    const text = sinks.lines.join('\n');
    ok(text.includes('token=***'), text);
    for (const secret of ['very-secret', 'hush-hush', btoa('gate:hush-hush')]) equal(text.includes(secret), false);
  });

  it('sends requests to the authorization server again after an outage', async () => {
    await serve([endpoint(client())]);
    respond = (_seen, response) => response.destroy();
    equal((await ask()).statusCode, 503);
    respond = json({ active: true });
    equal((await ask()).statusCode, 200);
  });

  describe('when clients disconnect', () => {
    const waiting: ServerResponse[] = [];
    const open = (port: number): HttpRequest => {
      const request = httpRequest({ port, path: '/a', headers: { authorization: 'Bearer t' } });
      request.on('error', () => {}).end();
      return request;
    };

    it('cancels the request when the last client that waits for it disconnects, and reports no failure', async () => {
      const sinks = rememberingSinks();
      waiting.length = 0;
      let cancelled = 0;
      respond = (_seen, response) => {
        waiting.push(response);
        response.once('close', () => cancelled++);
      };
      await serve([endpoint(client())], {}, { sinks });
      const { port } = await gateway!.listen();
      const [first, second] = [open(port), open(port)];
      await until(() => waiting.length === 1 && gateway!.status.calls === 2);
      first.destroy();
      await until(() => gateway!.status.calls === 1);
      equal(cancelled, 0);
      second.destroy();
      await until(() => cancelled === 1);
      await until(() => gateway!.status.calls === 0);
      equal(
        sinks.lines.some((line) => line.includes('[Introspection]')),
        false,
      );
    });
  });
});
