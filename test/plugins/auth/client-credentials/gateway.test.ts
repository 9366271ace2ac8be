import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { OAuth2Server } from 'oauth2-mock-server';
import type { Operations } from '#kernel';
import { makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import {
  type Answering,
  json,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';

const program = bundledProgram();

describe('a gateway with auth/client-credentials', () => {
  let backend: TestBackend;
  let server: TestBackend;
  let respond: Answering;
  let issue: Answering;
  let gateway: Operations | undefined;

  beforeEach(async () => {
    respond = json({ ok: true });
    issue = json({ access_token: 't1', token_type: 'bearer', expires_in: 3600 });
    backend = await startBackend((seen, response) => respond(seen, response));
    server = await startBackend((seen, response) => issue(seen, response));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.close();
    await backend.close();
  });

  const client = (more: object = {}) => ({
    'auth/client-credentials': {
      client_id: 'gate',
      client_secret: 'hush-hush',
      token_url: `${server.url}/token`,
      ...more,
    },
  });
  const endpoint = (extra: object, more: object = {}, target = '/b') => ({
    endpoint: '/a',
    backend: [{ host: [backend.url], url_pattern: target, extra_config: extra }],
    ...more,
  });
  const serve = async (endpoints: readonly object[], root: object = {}, options: object = {}) => {
    gateway = await startGateway({ endpoints, ...root }, options);
  };
  const ask = (headers: Record<string, string> = {}) => gateway!.inject({ url: '/a', headers });
  const tokens = () => backend.requests.map(({ headers }) => headers.authorization);

  it("sends its own token with every request instead of the client's credentials", async () => {
    await serve([endpoint(client(), { input_headers: ['*'] })]);
    for (let count = 0; count < 3; count++) {
      equal((await ask({ authorization: 'Bearer mine', 'authoriza.tion': 'x' })).statusCode, 200);
    }
    deepEqual(tokens(), ['Bearer t1', 'Bearer t1', 'Bearer t1']);
    equal(server.requests.length, 1);
    deepEqual(
      [server.requests[0]!.method, server.requests[0]!.body.toString()],
      ['POST', 'grant_type=client_credentials'],
    );
  });

  it('does not call the backend if the token server is down, and reveals no secret', async () => {
    const sinks = rememberingSinks();
    issue = (seen, response) => json({ error: 'no', error_description: seen.body.toString() }, 401)(seen, response);
    await serve(
      [endpoint(client()), { ...endpoint(client()), endpoint: '/raw', output_encoding: 'no-op' }],
      {},
      { sinks },
    );
    for (const url of ['/a', '/raw']) {
      const { statusCode, body } = await gateway!.inject({ url });
      deepEqual([statusCode, body], [500, '']);
    }
    await server.close();
    equal((await ask()).statusCode, 500);
    equal(backend.requests.length, 0);
    await until(() => sinks.lines.some((line) => line.includes('oauth2: backend ')));
    const text = sinks.lines.join('\n');
    ok(text.includes(`[ENDPOINT: /a] Get "${backend.url}/b": oauth2: no grant_type=client_credentials`), text);
    equal(text.includes('hush-hush'), false);
  });

  it('returns a partial response if one of several backends has no token', async () => {
    issue = json({}, 500);
    const { backend: backends } = endpoint(client());
    await serve([endpoint({}, { backend: [...backends, { host: [backend.url], url_pattern: '/c', group: 'c' }] })]);
    const { statusCode, headers, body } = await ask();
    deepEqual([statusCode, headers['x-gateway-completed'], JSON.parse(body)], [200, 'false', { c: { ok: true } }]);
  });

  it('waits for a token until the endpoint times out, and uses the late token for later requests', async () => {
    let release = () => {};
    issue = (seen, response) => {
      release = () => json({ access_token: 'late' })(seen, response);
    };
    await serve([endpoint(client(), { timeout: '2s' })]);
    equal((await ask()).statusCode, 500);
    await until(() => server.requests.length === 1);
    release();
    await until(async () => (await ask()).statusCode === 200);
    deepEqual([server.requests.length, ...new Set(tokens())], [1, 'Bearer late']);
  });

  it('sends its token to redirects on the same host only', async () => {
    const other = await startBackend(json({ other: true }));
    let location = '/moved';
    respond = (seen, response) =>
      seen.target === '/b' ? response.writeHead(302, { location }).end() : json({ ok: true })(seen, response);
    await serve([endpoint(client(), { input_headers: ['Authorization'] })]);
    await ask();
    location = `${other.url.replace('127.0.0.1', 'localhost')}/x`;
    equal((await ask({ authorization: 'mine' })).json().other, true);
    deepEqual(tokens(), ['Bearer t1', 'Bearer t1', 'Bearer t1']);
    equal(other.requests[0]!.headers.authorization, undefined);
    await other.close();
  });

  it('shares one token between all its backends and keeps it across reloads', async () => {
    const endpoints = [endpoint(client()), { ...endpoint(client()), endpoint: '/c' }];
    await serve(endpoints);
    await ask();
    await gateway!.reload({ version: 3, endpoints, name: 'another' });
    equal((await gateway!.inject('/c')).statusCode, 200);
    equal(server.requests.length, 1);
    await gateway!.reload({ version: 3, endpoints: [endpoint(client({ client_secret: 'other' }))] });
    await ask();
    equal(server.requests.length, 2);
  });

  it('counts a failed token request as a backend failure, which opens the circuit breaker', async () => {
    issue = json({}, 500);
    const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 2 } };
    await serve([endpoint({ ...client(), ...breaker })]);
    for (let count = 0; count < 6; count++) equal((await ask()).statusCode, 500);
    ok(server.requests.length < 10, `${server.requests.length} requests`);
  });

  it("calls the token server with the root's TLS settings, not the backend's", async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const pair = certificates.issue('server', authority);
    const secure = createTlsServer({ cert: pair.certificatePem, key: pair.privateKeyPem }, (_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"access_token":"secure"}');
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const url = `https://localhost:${(secure.address() as AddressInfo).port}/token`;
    const ofBackend = { 'backend/http/client': { client_tls: { allow_insecure_connections: true } } };
    const endpoints = [endpoint({ ...client({ token_url: url }), ...ofBackend })];
    await serve(endpoints);
    equal((await ask()).statusCode, 500);
    await gateway!.reload({ version: 3, endpoints, client_tls: { ca_certs: [authority.certificate] } });
    equal((await ask()).statusCode, 200);
    deepEqual(tokens(), ['Bearer secure']);
    secure.closeAllConnections();
    secure.close();
    certificates.remove();
  });

  it('uses tokens of a standard identity provider', async () => {
    const provider = new OAuth2Server();
    await provider.issuer.keys.generate('RS256');
    await provider.start(0, '127.0.0.1');
    await serve([endpoint(client({ token_url: `${provider.issuer.url}/token`, scopes: 'a,b' }))]);
    equal((await ask()).statusCode, 200);
    const claims = JSON.parse(Buffer.from(tokens()[0]!.split('.')[1]!, 'base64url').toString());
    equal(claims.scope, 'a b');
    await provider.stop();
  });

  describe('with two workers', function () {
    this.timeout(60_000);

    it('shares one token between both', async () => {
      issue = (seen, response) =>
        json({ access_token: `t${server.requests.length}`, expires_in: 3600 })(seen, response);
      await serve([endpoint(client())], {}, { workers: { count: 2, program, args: [] } });
      const url = `http://127.0.0.1:${(await gateway!.listen()).port}/a`;
      const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const askAll = () =>
        Promise.all(
          agents.map(async (agent) => {
            const [response] = await once(get(url, { agent }), 'response');
            response.resume();
            await once(response, 'end');
            return response.statusCode;
          }),
        );
      for (let round = 0; round < 3; round++) deepEqual(new Set(await askAll()), new Set([200]));
      equal(server.requests.length, 1);
      deepEqual(new Set(tokens()), new Set(['Bearer t1']));
      for (const agent of agents) agent.destroy();
    });
  });
});
