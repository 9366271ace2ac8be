import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';

const program = bundledProgram();

describe('a gateway with API keys', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const keys = [
    { key: 'k-adm', roles: ['admin', 'user'] },
    { key: 'k-usr', roles: ['user'] },
  ];
  const config = (own: object | null, service: object = {}, endpoint: object = {}) => ({
    version: 3,
    host: [backend.url],
    extra_config: { 'auth/api-keys': { keys, propagate_role: 'X-Role', ...service } },
    endpoints: [
      {
        endpoint: '/a',
        extra_config: own && { 'auth/api-keys': own },
        backend: [{ url_pattern: '/' }],
        ...endpoint,
      },
      { endpoint: '/open', backend: [{ url_pattern: '/open' }] },
    ],
  });
  const ask = (url: string, headers: Record<string, string> = {}) => gateway!.inject({ url, headers });
  const seen = () => backend.requests.at(-1)!;

  it("sends the caller's role to the backend regardless of input_headers, but neither the key nor headers with a similar name", async () => {
    for (const input_headers of [[], ['X-Role'], ['*']]) {
      gateway = await startGateway(config({ roles: ['user'] }, { identifier: 'X-Key' }, { input_headers }));
      const headers = { 'x-key': 'k-usr', 'x-role': 'root', x_role: 'root', 'x.role': 'root' };
      equal((await ask('/a', headers)).statusCode, 200);
      const { 'x-role': role, x_role, 'x.role': dotted, 'x-key': key } = seen().headers;
      deepEqual([role, x_role, dotted], ['user', undefined, undefined]);
      equal(key, input_headers[0] === '*' ? 'k-usr' : undefined);
      await gateway.close();
    }
  });

  it('forwards the query parameter that holds the key only if input_query_strings lists it', async () => {
    const own = { roles: ['user'], strategy: 'query_string', identifier: 'apikey' };
    gateway = await startGateway(config(own, {}, { input_query_strings: ['x'] }));
    equal((await ask('/a?apikey=k-usr&x=1')).statusCode, 200);
    equal(seen().target, '/?x=1');
    await gateway.close();
    gateway = await startGateway(config(own, {}, { input_query_strings: ['*'] }));
    await ask('/a?apikey=k-usr&x=1');
    equal(seen().target, '/?apikey=k-usr&x=1');
  });

  it('requires no key at endpoints without auth/api-keys', async () => {
    gateway = await startGateway(config({ roles: ['admin'] }));
    deepEqual([(await ask('/open')).statusCode, (await ask('/a')).statusCode], [200, 401]);
  });

  it('never logs a key, valid or invalid, even if it is in the query', async () => {
    const sinks = rememberingSinks();
    const logging = { 'telemetry/logging': { level: 'DEBUG', stdout: true, access_log_format: 'httpdCommon' } };
    const own = { roles: ['admin'], strategy: 'query_string', identifier: 'apikey' };
    const written = config(own, { keys: [...keys, { key: 'k secret', roles: ['admin'] }] });
    const extra_config = { ...written.extra_config, ...logging };
    gateway = await startGateway({ ...written, extra_config }, { sinks });
    const statuses = [];
    for (const search of ['a=1&apikey=k+secret&b=2', 'apikey=k%20wrong', '%61pikey=k%20secret', 'apikey=k-usr']) {
      statuses.push((await ask(`/a?${search}`)).statusCode);
    }
    deepEqual(statuses, [200, 401, 200, 403]);
    await until(() => sinks.lines.filter((line) => line.includes('GET /a?')).length === 4);
    const text = sinks.lines.join('');
    for (const key of ['secret', 'wrong', 'k-usr']) ok(!text.includes(key), text);
    ok(text.includes('/a?a=1&apikey=***&b=2 '), text);
  });

  it('does not log the key of a request that is rejected earlier or matches no endpoint', async () => {
    const sinks = rememberingSinks();
    const components = {
      'telemetry/logging': { level: 'DEBUG', stdout: true, access_log_format: 'httpdCommon' },
      'qos/ratelimit/service': { max_rate: 1, capacity: 1, every: '10m' },
    };
    const own = { roles: ['admin'], strategy: 'query_string', identifier: 'apikey' };
    for (const [service, endpoint] of [
      [{}, own],
      [{ strategy: 'query_string', identifier: 'apikey' }, { roles: ['admin'] }],
    ] as const) {
      const written = config(endpoint, service);
      gateway = await startGateway({ ...written, extra_config: { ...written.extra_config, ...components } }, { sinks });
      const statuses = [];
      for (const url of ['/a?apikey=k-adm', '/a?x=1&apikey=k-adm', '/none?apikey=k-adm']) {
        statuses.push((await ask(url)).statusCode);
      }
      deepEqual(statuses, [200, 503, 404]);
      await gateway.close();
    }
    await until(() => sinks.lines.filter((line) => line.includes('apikey=***')).length === 6);
    ok(!sinks.lines.join('').includes('k-adm'), sinks.lines.join(''));
  });

  it('requires all credentials of an endpoint and checks API keys before tokens', async () => {
    const validator = { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' };
    const written = config(null, { identifier: 'X-Key' });
    const [first, ...rest] = written.endpoints;
    const extra_config = { 'auth/validator': validator, 'auth/api-keys': { roles: ['admin'] } };
    gateway = await startGateway({ ...written, endpoints: [{ ...first, extra_config }, ...rest] });
    deepEqual(
      [(await ask('/a', { 'x-key': 'k-usr' })).statusCode, (await ask('/a', { 'x-key': 'k-adm' })).statusCode],
      [403, 401],
    );
  });

  it("does not count rejected requests toward the endpoint's rate limit", async () => {
    const written = config({ roles: ['admin'] });
    const limit = { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' } };
    Object.assign((written.endpoints[0] as { extra_config: object }).extra_config, limit);
    gateway = await startGateway(written);
    deepEqual([(await ask('/a')).statusCode, (await ask('/a', { authorization: 'k-adm' })).statusCode], [401, 200]);
  });

  it('accepts new keys and rejects removed keys after a reload', async () => {
    gateway = await startGateway(config({ roles: [] }));
    equal((await ask('/a', { authorization: 'k-usr' })).statusCode, 200);
    await gateway.reload(config({ roles: [] }, { keys: [{ key: 'k-new' }] }));
    deepEqual(
      [
        (await ask('/a', { authorization: 'k-usr' })).statusCode,
        (await ask('/a', { authorization: 'k-new' })).statusCode,
      ],
      [401, 200],
    );
  });

  it("does not serve a user's cached response to a caller with another role", async () => {
    const cached = { backend: [{ url_pattern: '/kept', extra_config: { 'qos/http-cache': { shared: true } } }] };
    await backend.close();
    backend = await startBackend((request, response) => {
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=60' })
        .end(JSON.stringify({ role: request.headers['x-role'] ?? null }));
    });
    gateway = await startGateway(config({ roles: ['admin', 'user'] }, {}, cached));
    const roles = [];
    for (const key of ['k-adm', 'k-usr', 'k-adm']) roles.push((await ask('/a', { authorization: key })).json().role);
    deepEqual(roles, ['admin', 'user', 'admin']);
  });

  describe('with several workers', function () {
    this.timeout(60_000);

    it('applies the rate limit of a key to all workers together', async () => {
      gateway = await startGateway(config({ roles: [], client_max_rate: 0.01 }), {
        workers: { count: 2, program, args: [] },
      });
      const { port } = await gateway.listen();
      const statuses = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const headers = { authorization: 'k-usr', connection: 'close' };
          const response = await fetch(`http://127.0.0.1:${port}/a`, { headers });
          await response.text();
          return response.status;
        }),
      );
      equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
      equal(statuses.filter((status) => status === 429).length, 11);
    });
  });
});
