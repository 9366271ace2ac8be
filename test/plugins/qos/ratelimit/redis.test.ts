import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { connect } from 'node:net';
import { Pool } from 'undici';
import { offer } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { redisConnections } from '../../../../plugins/clients/redis/port.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/router/redis.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../../support/redis.ts';

const program = bundledProgram();
const two = { connection_name: 'c', max_rate: 2, capacity: 2, every: '10m' };
const byId = {
  connection_name: 'c',
  client_max_rate: 1,
  client_capacity: 1,
  every: '10m',
  strategy: 'header',
  key: 'X-Id',
};

describe('the configuration of a rate limit in Redis', () => {
  const offers = [
    offer(redisConnections, new Map([['counters', { name: 'counters', isOneServer: true, run: async () => [0, 0] }]])),
  ];
  const issues = (config: object, ...expected: (string | undefined)[][]) =>
    rejects(openHarness(plugin, 'endpoint', config, { offers }), ({ errors }) => {
      deepEqual(
        errors.map((error: { code: string; pointer: string; hint?: string }) => [
          error.code,
          error.pointer,
          error.hint,
        ]),
        expected,
      );
      return true;
    });

  it('must name a declared connection', () =>
    issues({ ...two, connection_name: 'nope' }, [
      'REDIS_CONNECTION',
      '/connection_name',
      '"redis": {"connection_pools": [{"name": "nope", "address": "localhost:6379"}]} at the root',
    ]));
  it('suggests a similar connection name', () =>
    issues({ ...two, connection_name: 'counter' }, [
      'REDIS_CONNECTION',
      '/connection_name',
      'did you mean "counters"?',
    ]));
  it('must name a connection', async () => {
    const { connection_name: _none, ...unnamed } = two;
    await rejects(
      openHarness(plugin, 'endpoint', unnamed, { offers }),
      ({ errors: [error] }) => error.code === 'REDIS_CONNECTION',
    );
  });
  it('is validated like a limit in memory', () =>
    issues({ ...two, connection_name: 'counters', every: '10ms' }, [
      'RATELIMIT_EVERY',
      '/every',
      'set the rate for a period of 1s',
    ]));
  it('must use a path parameter of the endpoint', () =>
    issues({ connection_name: 'counters', client_max_rate: 1, strategy: 'param', key: 'id' }, [
      'RATELIMIT_KEY',
      '/key',
      undefined,
    ]));
  it('accepts the legacy field for the connection, with lower precedence', async () => {
    const gate = await openHarness(
      plugin,
      'endpoint',
      { ...two, connection_pool: 'nope', connection_name: 'counters' },
      { offers },
    );
    equal((await gate.send('GET /')).status, 200);
  });
  it('is inactive with rates of 0', async () => {
    const gate = await openHarness(plugin, 'endpoint', { connection_name: 'counters', max_rate: 0 }, { offers });
    deepEqual(gate.attached, {});
  });
});

(withoutRedis ? describe.skip : describe)(`a limit in Redis ${withoutRedis ?? ''}`.trim(), function () {
  this.timeout(60_000);
  let redis: TestRedis;
  let backend: TestBackend;
  let gateways: Operations[];

  before(async () => {
    redis = await startRedis();
    backend = await startBackend(json({ ok: true }));
  });
  after(async () => {
    await redis.close();
    await backend.close();
  });
  beforeEach(async () => {
    gateways = [];
    await redis.command('FLUSHALL');
  });
  afterEach(async () => {
    for (const gateway of gateways) await gateway.close();
  });

  const endpoint = (path: string, extra: object = {}) => ({
    endpoint: path,
    extra_config: extra,
    backend: [{ host: [backend.url], url_pattern: '/' }],
  });
  const config = (limit: object, root: object = {}, server: object = {}) => ({
    version: 3,
    extra_config: {
      redis: { connection_pools: [{ name: 'c', address: redis.address, command_timeout: '20s', ...server }] },
      'telemetry/logging': { level: 'WARNING', stdout: true },
      ...root,
    },
    endpoints: [endpoint('/a', { [plugin.name]: limit }), endpoint('/b', { [plugin.name]: limit }), endpoint('/c')],
  });
  const start = async (given: object, options = {}): Promise<Operations> => {
    const gateway = await startGateway(given, options);
    gateways.push(gateway);
    return gateway;
  };
  const ask = async (gateway: Operations, url = '/a', id = 'x') =>
    (await gateway.inject({ url, headers: { 'x-id': id } })).statusCode;

  it('shares one limit between gateways', async () => {
    const [first, second] = [await start(config(two)), await start(config(two))];
    deepEqual([await ask(first), await ask(second), await ask(first)], [200, 200, 503]);
  });

  it('keeps its count when the gateway restarts', async () => {
    const first = await start(config(two));
    deepEqual([await ask(first), await ask(first)], [200, 200]);
    await first.close();
    equal(await ask(await start(config(two))), 503);
  });

  it('counts clients separately', async () => {
    const gateway = await start(config(byId));
    deepEqual([await ask(gateway), await ask(gateway), await ask(gateway, '/a', 'b')], [200, 429, 200]);
  });

  it('accepts the legacy field for the connection', async () => {
    const { connection_name: name, ...rest } = two;
    const gateway = await start(config({ ...rest, connection_pool: name }));
    deepEqual([await ask(gateway), await ask(gateway), await ask(gateway)], [200, 200, 503]);
  });

  it('rejects a client without identity, with Retry-After', async () => {
    const gateway = await start(config(byId));
    equal((await gateway.inject('/a')).statusCode, 429);
    await ask(gateway);
    const { statusCode, body, headers } = await gateway.inject({ url: '/a', headers: { 'x-id': 'x' } });
    deepEqual([statusCode, body, headers['ratelimit-limit']], [429, '', '1']);
    ok(Number(headers['retry-after']) > 590 && Number(headers['retry-after']) <= 600);
  });

  it("checks the client's limit first, in the same command, so that a rejected client consumes no shared token", async () => {
    const gateway = await start(config({ ...byId, max_rate: 2, capacity: 2 }));
    const calls = async () =>
      /cmdstat_eval(?:sha)?:calls=(\d+)/g[Symbol.matchAll](String(await redis.command('INFO', 'commandstats')));
    await redis.command('CONFIG', 'RESETSTAT');
    deepEqual(
      [
        await ask(gateway),
        await ask(gateway),
        await ask(gateway),
        await ask(gateway, '/a', 'y'),
        await ask(gateway, '/a', 'z'),
      ],
      [200, 429, 429, 200, 503],
    );
    const total = [...(await calls())].reduce((sum, [, count]) => sum + Number(count), 0);
    // Expects five commands, and the script itself once.
    ok(total === 5 || total === 6, String(total));
  });

  it('adds a token at each interval, by the clock of the Redis server', async () => {
    const gateway = await start(config({ connection_name: 'c', max_rate: 20, capacity: 1 }));
    equal(await ask(gateway), 200);
    await until(async () => (await ask(gateway)) === 200);
  });

  it('counts each endpoint separately, and stores a long identity as its digest', async () => {
    const gateway = await start(config(byId));
    const long = 'token-'.repeat(40);
    deepEqual(
      [await ask(gateway, '/a', long), await ask(gateway, '/a', long), await ask(gateway, '/b', long)],
      [200, 429, 200],
    );
    const keys = (await redis.command('KEYS', '*')) as string[];
    equal(keys.length, 2);
    ok(
      keys.every((key) => !key.includes('token-') && key.length < 100),
      keys.join(),
    );
  });

  it('lets a counter expire one interval after its bucket would be full', async () => {
    const gateway = await start(config(two));
    await ask(gateway);
    const [key] = (await redis.command('KEYS', '*')) as string[];
    equal(key, 'sluice:ratelimit:all:GET:/a');
    const ms = Number(await redis.command('PTTL', key!));
    ok(ms > 1_190_000 && ms <= 1_200_000, String(ms));
  });

  it('resets an invalid counter, and a counter with a time in the future', async () => {
    const gateway = await start(config(two));
    for (const state of ['nonsense', '0 99999999999999.000']) {
      await redis.command('SET', 'sluice:ratelimit:all:GET:/a', state);
      const statuses = [await ask(gateway), await ask(gateway), await ask(gateway)];
      deepEqual(statuses, state === 'nonsense' ? [200, 200, 503] : [503, 503, 503]);
      const { headers } = await gateway.inject('/a');
      ok(Number(headers['retry-after']) <= 300);
    }
  });

  it('does not let client identities collide with other keys', async () => {
    const gateway = await start(config(byId));
    for (const id of ['{x}', 'a b', '%7Bx%7D', "');return 1--", '__proto__']) {
      deepEqual([id, await ask(gateway, '/a', id), await ask(gateway, '/a', id)], [id, 200, 429]);
    }
    equal(((await redis.command('KEYS', '*')) as string[]).length, 5);
  });

  it('runs after the limit in memory', async () => {
    const given = config(byId);
    Object.assign(given.endpoints[0]!.extra_config, {
      'qos/ratelimit/router': { max_rate: 2, capacity: 2, every: '10m' },
    });
    const gateway = await start(given);
    deepEqual([await ask(gateway), await ask(gateway), await ask(gateway, '/a', 'y')], [200, 429, 503]);
    equal(((await redis.command('KEYS', '*')) as string[]).length, 1);
  });

  it('has one bucket for all endpoints at the root, checked before endpoint components', async () => {
    const root = { 'qos/ratelimit/service/redis': { ...two, capacity: 3 } };
    const given = {
      ...config(two, root),
      endpoints: [endpoint('/a', { 'security/bot-detector': { deny: ['x'] } }), endpoint('/c')],
    };
    const [first, second] = [await start(given), await start(given)];
    deepEqual(
      [
        await ask(first),
        await ask(second, '/c'),
        await ask(second, '/nope'),
        await ask(first, '/c'),
        await ask(second),
      ],
      [200, 200, 404, 200, 503],
    );
  });

  it('can be used in a tier, for all gateways together', async () => {
    const tier = { tier_value: 'gold', ratelimit_redis: byId };
    const root = { 'qos/ratelimit/tiered': { tier_key: 'X-Plan', tiers: [tier, { tier_value_as: '*' }] } };
    const given = { ...config(two, root), endpoints: [endpoint('/a')] };
    const [first, second] = [await start(given), await start(given)];
    const by = async (gateway: Operations, plan: string) =>
      (await gateway.inject({ url: '/a', headers: { 'x-id': 'u', 'x-plan': plan } })).statusCode;
    deepEqual([await by(first, 'gold'), await by(second, 'gold'), await by(second, 'free')], [200, 429, 200]);
  });

  it('is exact for two gateways with two workers each', async () => {
    const workers = { count: 2, program, args: [] };
    const limit = { connection_name: 'c', max_rate: 40, capacity: 40, every: '10m' };
    const pools: Pool[] = [];
    try {
      for (let each = 0; each < 2; each++) {
        const gateway = await start(config(limit), { workers });
        const { port } = await gateway.listen();
        pools.push(new Pool(`http://127.0.0.1:${port}`, { connections: 20 }));
      }
      const statuses = await Promise.all(
        Array.from({ length: 200 }, async (_, at) => {
          const { statusCode, body } = await pools[at % 2]!.request({ method: 'GET', path: '/a' });
          await body.dump();
          return statusCode;
        }),
      );
      const count = (status: number) => statuses.filter((one) => one === status).length;
      deepEqual([count(200), count(503)], [40, 160]);
      equal(
        String(await redis.command('CLIENT', 'LIST', 'TYPE', 'normal'))
          .trim()
          .split('\n').length,
        5,
      );
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
    }
  });

  describe('during Redis failures', () => {
    const allow = (limit: object) => ({ ...limit, on_failure_allow: true });
    const tokens = async () => Number(String(await redis.command('GET', 'sluice:ratelimit:all:GET:/a')).split(' ')[0]);

    it('rejects requests with 500 immediately without calling the backend if Redis is unreachable, and logs this', async () => {
      const sinks = rememberingSinks();
      const away = { address: `127.0.0.1:${await freePort()}`, dial_timeout: '100s', command_timeout: '100s' };
      const gateway = await start({ ...config(two, {}, away), timeout: '300s' }, { sinks });
      await ask(gateway);
      const before = backend.requests.length;
      const { statusCode, body } = await gateway.inject('/a');
      deepEqual([statusCode, body, backend.requests.length], [500, '', before]);
      ok(
        sinks.lines.some((line) => /ERROR \[ENDPOINT: \/a\].*a request is rejected: redis c: not connected/.test(line)),
        sinks.lines.join('\n'),
      );
    });

    it('accepts requests without counting if Redis is unreachable and this is configured, with one warning a second', async () => {
      const sinks = rememberingSinks();
      const gateway = await start(config(allow(two), {}, { address: `127.0.0.1:${await freePort()}` }), { sinks });
      for (let requested = 0; requested < 50; requested++) equal(await ask(gateway), 200);
      const warnings = sinks.lines.filter((line) => line.includes('is accepted without being counted'));
      ok(warnings.length >= 1 && warnings.length < 50, warnings.join('\n'));
    });

    it('waits only once for command_timeout if Redis is slow, then rejects requests immediately; commands that were sent are counted at most once', async () => {
      const gateway = await start(config({ ...two, max_rate: 50, capacity: 50 }, {}, { command_timeout: '3s' }));
      equal(await ask(gateway), 200);
      redis.pause();
      try {
        deepEqual(await Promise.all([ask(gateway), ask(gateway), ask(gateway)]), [500, 500, 500]);
        // The test would time out if each of these requests waited three seconds.
        for (let requested = 0; requested < 30; requested++) equal(await ask(gateway), 500);
      } finally {
        redis.resume();
      }
      await until(async () => (await ask(gateway, '/b')) === 200);
      equal(await tokens(), 46);
      equal(await ask(gateway), 200);
    });

    it('does not log disconnected clients as rejected requests if Redis is slow', async () => {
      const sinks = rememberingSinks();
      const gateway = await start(config(two, {}, { command_timeout: '10s' }), { sinks });
      const { port } = await gateway.listen();
      redis.pause();
      try {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n');
        await until(() => gateway.status.calls === 1);
        socket.resetAndDestroy();
        await until(() => gateway.status.calls === 0);
      } finally {
        redis.resume();
      }
      deepEqual(
        sinks.lines.filter((line) => line.includes('ERROR')),
        [],
      );
    });

    it('accepts requests while Redis is slow, if so configured, and leaves time for the backend', async () => {
      const given = config(allow(two), {}, { command_timeout: '10s' });
      const gateway = await start({ ...given, timeout: '6s' });
      equal(await ask(gateway), 200);
      redis.pause();
      try {
        equal(await ask(gateway), 200);
      } finally {
        redis.resume();
      }
    });

    it('rejects requests while Redis restarts, then counts again', async () => {
      const server = await startRedis();
      try {
        const gateway = await start(config(byId, {}, { address: server.address, max_retry_backoff: '20ms' }));
        deepEqual([await ask(gateway), await ask(gateway)], [200, 429]);
        await server.stop();
        await until(async () => (await ask(gateway)) === 500);
        await server.start();
        const statuses: number[] = [];
        await until(async () => {
          statuses.push(await ask(gateway));
          return statuses.at(-1) === 200;
        });
        ok(
          statuses.slice(0, -1).every((status) => status === 500),
          statuses.join(),
        );
        equal(await ask(gateway), 429);
      } finally {
        await server.close();
      }
    });

    it('rejects requests with 500 or accepts them, without counting, if Redis is out of memory', async () => {
      const server = await startRedis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']);
      try {
        const refusing = await start(config(two, {}, { address: server.address }));
        deepEqual([await ask(refusing), await ask(refusing)], [500, 500]);
        const allowing = await start(config(allow(two), {}, { address: server.address }));
        deepEqual([await ask(allowing), await ask(allowing), await ask(allowing)], [200, 200, 200]);
        equal(await server.command('DBSIZE'), 0);
      } finally {
        await server.close();
      }
    });

    it('rejects requests with 500 or accepts them, without counting, if Redis is a read-only replica', async () => {
      const replica = await startRedis(['--replicaof', '127.0.0.1', String(redis.port)]);
      try {
        const gateway = await start(config(two, {}, { address: replica.address }));
        equal(await ask(gateway), 500);
        await replica.command('REPLICAOF', 'NO', 'ONE');
        await until(async () => (await ask(gateway)) === 200);
      } finally {
        await replica.close();
      }
    });

    it('counts everything exactly once even if Redis has lost its scripts', async () => {
      const gateway = await start(config({ ...two, max_rate: 5, capacity: 5 }));
      equal(await ask(gateway), 200);
      await redis.command('SCRIPT', 'FLUSH');
      deepEqual(await Promise.all([ask(gateway), ask(gateway), ask(gateway)]), [200, 200, 200]);
      equal(await tokens(), 1);
    });

    it('rejects requests with 500 if a key has another type, and leaves the key unchanged', async () => {
      const gateway = await start(config(two));
      await redis.command('HSET', 'sluice:ratelimit:all:GET:/a', 'a', '1');
      equal(await ask(gateway), 500);
      equal(await redis.command('TYPE', 'sluice:ratelimit:all:GET:/a'), 'hash');
    });
  });
});
