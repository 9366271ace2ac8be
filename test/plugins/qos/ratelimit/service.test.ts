import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { InjectOptions } from 'light-my-request';
import type { Log } from '#contract';
import type { Operations } from '#kernel';
import { silentLog } from '../../../../kernel/contract/internal.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/service.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { issue, makeKeyFiles, makeSigner } from '../../auth/fixture.ts';

const two = { max_rate: 2, capacity: 2, every: '10m' };
const byToken = { client_max_rate: 2, client_capacity: 2, every: '10m', strategy: 'header', key: 'Authorization' };

describe('qos/ratelimit/service', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const endpoint = (path: string, extra: object = {}) => ({
    endpoint: path,
    extra_config: extra,
    backend: [{ host: [backend.url], url_pattern: '/' }],
  });
  const config = (limit: object, endpoints = [endpoint('/a'), endpoint('/b')], root: object = {}) => ({
    version: 3,
    extra_config: { [plugin.name]: limit, ...root },
    endpoints,
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given));
  };
  const ask = async (...requests: (string | InjectOptions)[]) => {
    const statuses: number[] = [];
    for (const request of requests) statuses.push((await gateway.inject(request)).statusCode);
    return statuses;
  };
  const as = (authorization: string, url: string): InjectOptions => ({ url, headers: { authorization } });

  it('has one bucket for all endpoints', async () => {
    await start(two);
    deepEqual(await ask('/a', '/b', '/a'), [200, 200, 503]);
  });

  it('has one bucket per client for all endpoints', async () => {
    await start(byToken);
    deepEqual(await ask(as('x', '/a'), as('x', '/b'), as('x', '/a'), as('y', '/a')), [200, 200, 429, 200]);
  });

  it('does not count requests that match no endpoint', async () => {
    await start(two);
    deepEqual(await ask('/nope', '/nope', '/nope', '/nope', '/nope', '/a'), [404, 404, 404, 404, 404, 200]);
    deepEqual(await ask({ method: 'POST', url: '/a' }, '/b', '/a'), [405, 200, 503]);
  });

  describe('with static files', () => {
    const files = { 'server/static-filesystem': { prefix: '/files', path: 'samples/website/public' } };

    it('counts requests below their prefix like endpoints, whether or not the file exists', async () => {
      await start({ ...two, max_rate: 4, capacity: 4 }, undefined, files);
      const post: InjectOptions = { method: 'POST', url: '/files/style.css' };
      deepEqual(
        await ask('/files/style.css', '/files/none', '/a', post, '/files/style.css', '/a'),
        [200, 404, 200, 405, 503, 503],
      );
      const { headers, body } = await gateway.inject('/files/style.css');
      deepEqual([headers['x-gateway-completed'], body], [undefined, '']);
    });

    it('uses the same buckets of clients for static files', async () => {
      await start(byToken, undefined, files);
      const style = '/files/style.css';
      deepEqual(await ask(as('x', style), as('x', '/a'), as('x', style), as('y', style)), [200, 200, 429, 200]);
    });

    it('applies only the shared limit to static files if clients are identified by a path parameter', async () => {
      const byParam = { client_max_rate: 1, client_capacity: 1, every: '10m', strategy: 'param', key: 'id' };
      await start({ ...two, ...byParam }, [endpoint('/u/{id}')], files);
      deepEqual(await ask('/files/style.css', '/files/style.css', '/files/style.css'), [200, 200, 503]);
      await gateway.close();
      await start(byParam, [endpoint('/u/{id}')], files);
      deepEqual(await ask('/files/style.css', '/files/style.css'), [200, 200]);
    });
  });

  it('applies before the limit of an endpoint, and in addition to it', async () => {
    const router = { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' } };
    await start({ ...two, max_rate: 5, capacity: 3 }, [endpoint('/a', router), endpoint('/b')]);
    deepEqual(await ask('/a', '/a', '/b', '/b'), [200, 503, 200, 503]);
  });

  it('counts before authentication', async () => {
    const ada = await makeSigner('RS256', 'ada');
    const files = makeKeyFiles();
    const validator = { alg: 'RS256', jwk_local_path: files.write({ keys: [ada.jwk] }) };
    try {
      await start({ max_rate: 1, capacity: 1, every: '10m' }, [endpoint('/a', { 'auth/validator': validator })]);
      const token = await issue(ada, { sub: 'ada', exp: 4_000_000_000 });
      deepEqual(await ask('/a', as(`Bearer ${token}`, '/a')), [401, 503]);
    } finally {
      files.remove();
    }
  });

  it("does not count the gateway's own paths", async () => {
    await start(two);
    deepEqual(await ask(...new Array(5).fill('/__health'), '/a', '/b', '/a'), [200, 200, 200, 200, 200, 200, 200, 503]);
  });

  it("checks the client's limit first, which consumes no shared token if it rejects", async () => {
    await start({ ...byToken, client_max_rate: 1, client_capacity: 1, max_rate: 2, capacity: 2 });
    deepEqual(
      await ask(as('x', '/a'), as('x', '/b'), as('x', '/b'), as('y', '/b'), as('z', '/a')),
      [200, 429, 429, 200, 503],
    );
  });

  it('returns 429 for a request without the header that identifies its client', async () => {
    await start(byToken);
    const requested = backend.requests.length;
    const { statusCode, body, headers } = await gateway.inject('/a');
    deepEqual([statusCode, body, headers['x-gateway-completed']], [429, '', undefined]);
    equal(backend.requests.length, requested);
  });

  it('identifies clients by a path parameter on endpoints that have it', async () => {
    const limit = { client_max_rate: 1, client_capacity: 1, every: '10m', strategy: 'param', key: 'id' };
    await start({ ...limit, max_rate: 4, capacity: 4 }, [endpoint('/u/{id}'), endpoint('/o/{id}'), endpoint('/b')]);
    deepEqual(await ask('/u/1', '/o/1', '/u/2', '/b', '/b', '/b'), [200, 429, 200, 200, 200, 503]);
  });

  it('does not limit endpoints without the path parameter unless the shared limit is set', async () => {
    await start({ client_max_rate: 1, every: '10m', strategy: 'param', key: 'id' }, [endpoint('/b')]);
    deepEqual(await ask('/b', '/b'), [200, 200]);
  });

  it('neither counts nor rejects CORS preflights, and sends CORS headers with rejections', async () => {
    await start({ max_rate: 1, capacity: 1, every: '10m' }, [endpoint('/a')], {
      'security/cors': { allow_origins: ['*'] },
    });
    const origin = 'https://a.io';
    const preflight: InjectOptions = {
      method: 'OPTIONS',
      url: '/a',
      headers: { origin, 'access-control-request-method': 'GET' },
    };
    deepEqual(await ask(preflight, preflight, '/a', preflight), [204, 204, 200, 204]);
    const refused = await gateway.inject({ url: '/a', headers: { origin } });
    deepEqual([refused.statusCode, refused.headers['access-control-allow-origin']], [503, '*']);
  });

  it('runs before all components of an endpoint, including bot detection', async () => {
    await start({ max_rate: 1, capacity: 1, every: '10m' }, [
      endpoint('/a', { 'security/bot-detector': { deny: ['bot'] } }),
    ]);
    const bot = { url: '/a', headers: { 'user-agent': 'bot' } };
    deepEqual(await ask(bot, bot), [403, 503]);
  });

  it('keeps its counts across a reload, and applies a changed limit immediately', async () => {
    await start(two);
    deepEqual(await ask('/a', '/a', '/a'), [200, 200, 503]);
    await gateway.reload({ ...config(two), timeout: '9s' });
    deepEqual(await ask('/a'), [503]);
    await gateway.reload(config({ max_rate: 1000, capacity: 1000 }));
    deepEqual(await ask('/a', '/b'), [200, 200]);
  });

  it('is inactive with rates of 0', async () => {
    await start({ max_rate: 0 });
    deepEqual(await ask('/a', '/a', '/a'), [200, 200, 200]);
  });

  it('logs its limits at start', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, debug: (line) => lines.push(String(line)) };
    await openHarness(plugin, 'service', two, { services: { log } });
    deepEqual(lines, ['[Ratelimit] Rate 2 every 600000ms, capacity 2']);
  });

  it('rejects a configuration without a limit', async () => {
    await rejects(start({ every: '1m' }), (error: { errors: { code: string; pointer: string }[] }) => {
      deepEqual(
        error.errors.map(({ code, pointer }) => [code, pointer]),
        [['RATELIMIT_RATE', '/extra_config/qos~1ratelimit~1service']],
      );
      return true;
    });
  });
});
