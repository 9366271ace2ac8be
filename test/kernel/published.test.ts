import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { createGateway, type Gateway } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { freePort } from '../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

describe('an endpoint over a real port', () => {
  let backend: TestBackend;
  let gateway: Gateway | null = null;

  beforeEach(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    await backend.close();
  });

  const start = async (endpoint: object): Promise<Gateway> => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/' }], ...endpoint }],
    });
    return gateway;
  };

  const statuses = async (...headers: Record<string, string>[]): Promise<number[]> => {
    const results: number[] = [];
    for (const each of headers) results.push((await gateway!.inject({ url: '/x', headers: each })).statusCode);
    return results;
  };

  it('cannot be called with inject() once the gateway is closed', async () => {
    const closed = await start({});
    equal((await closed.inject('/x')).statusCode, 200);
    await closed.close();
    await rejects(closed.inject('/x'), { code: 'GATEWAY_CLOSED', message: 'inject() was called after close()' });
  });

  const published = async (): Promise<string[]> => {
    const results: string[] = [];
    for (const method of methods) {
      const { statusCode } = await gateway!.inject({ method, url: '/x' });
      if (statusCode === 200) results.push(method);
      else equal(statusCode, 405, method);
    }
    return results;
  };

  for (const method of methods) {
    it(`answers only ${method} if its method is ${method}`, async () => {
      await start({ method });
      deepEqual(await published(), [method]);
    });
  }

  it('answers only GET if it has no method', async () => {
    await start({});
    deepEqual(await published(), ['GET']);
  });

  it('calls its backend for every request, regardless of its caching headers', async () => {
    await start({ cache_ttl: '1h' });
    deepEqual(await statuses({}, {}), [200, 200]);
    equal(backend.requests.length, 2);
  });

  it('answers 429 to a client over its limit, without calling the backend', async () => {
    const limit = { client_max_rate: 1, client_capacity: 1, every: '10m', strategy: 'header', key: 'X-Client' };
    await start({ extra_config: { 'qos/ratelimit/router': limit } });
    const [a, b] = [{ 'x-client': 'a' }, { 'x-client': 'b' }];
    deepEqual(await statuses(a, a, b), [200, 429, 200]);
    equal(backend.requests.length, 2);
  });

  it('answers 503 if all clients together exceed the limit, without calling the backend', async () => {
    await start({ extra_config: { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' } } });
    deepEqual(await statuses({ 'x-client': 'a' }, { 'x-client': 'b' }), [200, 503]);
    equal(backend.requests.length, 1);
  });
});

describe('the port in a configuration', () => {
  it('is the port that the gateway listens on', async () => {
    const port = await freePort();
    const config = { version: 3 as const, port, listen_ip: '127.0.0.1', endpoints: [] };
    const gateway = await createGateway(config, { sinks: silentSinks });
    equal((await gateway.listen()).port, port);
    equal((await fetch(`http://127.0.0.1:${port}/__health`)).status, 200);
    await gateway.close();
  });
});

describe('the debug endpoint, used as a backend', () => {
  const listening = async (level: string) => {
    const { lines, ...sinks } = rememberingSinks();
    const service = {
      version: 3,
      debug_endpoint: true,
      extra_config: { 'telemetry/logging': { level, stdout: true } },
    };
    const gateway = await startGateway(service, { sinks });
    const { port } = await gateway.listen();
    const look = {
      endpoint: '/look/{id}',
      input_headers: ['X-Listed'],
      input_query_strings: ['listed'],
      backend: [{ host: [`http://127.0.0.1:${port}`], url_pattern: '/__debug/{id}' }],
    };
    await gateway.reload({ ...service, endpoints: [look] });
    const response = await gateway.inject({
      url: '/look/7?listed=1&other=2',
      headers: { 'x-listed': 'yes', 'x-other': 'no', cookie: 'k=v' },
    });
    deepEqual(JSON.parse(response.body), { message: 'pong' });
    await gateway.close();
    return lines.filter((line) => line.includes('[ENDPOINT: /__debug/*]'));
  };

  it('logs exactly the parameters and headers that a backend would receive', async () => {
    const logged = (await listening('DEBUG')).join('');
    match(logged, /URL: \/__debug\/7\?listed=1/);
    match(logged, /Query: \{"listed":\["1"\]\}/);
    match(logged, /"X-Listed":\["yes"\]/);
    ok(!/other|cookie/i.test(logged), logged);
  });

  it('logs nothing unless the level is DEBUG', async () => {
    deepEqual(await listening('INFO'), []);
  });
});
