import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { Pool } from 'undici';
import { type Call, offer, Reply } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../kernel/testing/index.ts';
import { redisConnections } from '../../../plugins/clients/redis/port.ts';
import { plugin as processorsPlugin } from '../../../plugins/governance/processors/index.ts';
import { plugin } from '../../../plugins/governance/quota/index.ts';
import { quotas } from '../../../plugins/shared/ports/quotas.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';

const program = bundledProgram();
const name = 'governance/quota';

const gold = {
  name: 'gold',
  limits: [
    { amount: 3, unit: 'day' },
    { amount: 100, unit: 'month' },
  ],
};
const free = { name: 'free', limits: [{ amount: 1, unit: 'day' }] };
const metered = { name: 'metered', limits: [{ amount: 10, unit: 'day' }] };
const processor = { name: 'api', connection_name: 'c', rules: [gold, free, metered] };
const byHeader = (rule: string) => ({ rule_name: rule, tier_value: rule, key: 'X-User', comment: 'by name' });
const quota = { quota_name: 'api', tier_key: 'X-Plan', tiers: ['gold', 'free', 'metered'].map(byHeader) };

/** Noon of a Wednesday: no window ends while a test runs. */
const NOON = Date.UTC(2026, 5, 17, 12);

(withoutRedis ? describe.skip : describe)(`governance/quota ${withoutRedis ?? ''}`.trim(), function () {
  this.timeout(60_000);
  let redis: TestRedis;
  let backend: TestBackend;
  let gateways: Operations[];
  /** Response of the backends. */
  let body: unknown;
  let status: number;
  let headers: Record<string, string>;

  before(async () => {
    redis = await startRedis();
    backend = await startBackend((_seen, response) =>
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body)),
    );
  });
  after(async () => {
    await redis.close();
    await backend.close();
  });
  beforeEach(async () => {
    [gateways, body, status, headers] = [[], { ok: true }, 200, {}];
    await redis.command('FLUSHALL');
    mock.timers.enable({ apis: ['Date'], now: NOON });
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const gateway of gateways) await gateway.close();
  });

  const endpoint = (path: string, extra: object = {}, ofBackend: object = {}) => ({
    endpoint: path,
    extra_config: extra,
    backend: [{ host: [backend.url], url_pattern: '/', extra_config: ofBackend }],
  });
  const root = (processors: object = {}, server: object = {}) => ({
    redis: { connection_pools: [{ name: 'c', address: redis.address, command_timeout: '20s', ...server }] },
    'governance/processors': { quotas: [{ ...processor, ...processors }] },
    'telemetry/logging': { level: 'WARNING', stdout: true },
  });
  const serve = async (extra: object, endpoints: object[], more: object = {}, options = {}): Promise<Operations> => {
    const gateway = await startGateway({ extra_config: extra, endpoints, ...more }, options);
    gateways.push(gateway);
    return gateway;
  };
  const atA = (more: object = {}, processors: object = {}, server: object = {}, options = {}) =>
    serve(root(processors, server), [endpoint('/a', { [name]: { ...quota, ...more } })], {}, options);
  const ask = (gateway: Operations, plan: string | null = 'gold', user: string | null = 'u1', url = '/a') =>
    gateway.inject({
      url,
      headers: { ...(plan !== null && { 'x-plan': plan }), ...(user !== null && { 'x-user': user }) },
    });
  const statuses = async (count: number, ...given: Parameters<typeof ask>) => {
    const all: number[] = [];
    for (; count > 0; count--) all.push((await ask(...given)).statusCode);
    return all;
  };

  it('counts requests in all windows of the tier, and returns remaining and retry headers', async () => {
    const gateway = await atA();
    const first = await ask(gateway);
    deepEqual(
      [
        first.statusCode,
        first.headers['x-quota-limit'],
        first.headers['x-quota-remaining'],
        first.headers['retry-after'],
      ],
      [200, '"day";n=3, "month";n=100', '"day";n=2, "month";n=99', undefined],
    );
    deepEqual(await statuses(2, gateway), [200, 200]);
    const fourth = await ask(gateway);
    deepEqual(
      [fourth.statusCode, fourth.body, fourth.headers['x-quota-remaining'], fourth.headers['retry-after']],
      [429, '', '"day";n=0, "month";n=97', String(12 * 3600)],
    );
    equal(backend.requests.length >= 3, true);
  });

  it('counts separately for each rule', async () => {
    const gateway = await atA();
    await statuses(4, gateway);
    deepEqual(await statuses(2, gateway, 'free'), [200, 429]);
  });

  it('rejects callers without a tier with 400, or accepts them uncounted', async () => {
    const requested = backend.requests.length;
    const refusing = await atA();
    deepEqual([await statuses(1, refusing, 'x'), backend.requests.length], [[400], requested]);
    const allowing = await atA({ on_unmatched_tier_allow: true });
    const { statusCode, headers: seen } = await ask(allowing, 'x');
    deepEqual([statusCode, seen['x-quota-limit'], await redis.command('DBSIZE')], [200, undefined, 0]);
  });

  it('rejects unidentified callers with 400', async () => {
    const gateway = await atA();
    deepEqual(await statuses(1, gateway, 'gold', null), [400]);
    equal(await redis.command('DBSIZE'), 0);
  });

  it('counts a weight from the response body, which can exceed the remaining quota', async () => {
    body = { usage: { total: 6 } };
    const gateway = await atA({ weight_key: 'usage.total' });
    const [first, second, third] = [
      await ask(gateway, 'metered'),
      await ask(gateway, 'metered'),
      await ask(gateway, 'metered'),
    ];
    deepEqual(
      [first, second, third].map(({ statusCode, headers: { 'x-quota-remaining': left } }) => [statusCode, left]),
      [
        [200, '"day";n=4'],
        [200, '"day";n=0'],
        [429, '"day";n=0'],
      ],
    );
  });

  it('keeps its counters when the gateway restarts', async () => {
    const first = await atA();
    await statuses(3, first);
    await first.close();
    deepEqual(await statuses(1, await atA()), [429]);
  });

  it('shares its counters between the root, endpoints and backends that use it', async () => {
    const use = { [name]: quota };
    const gateway = await serve(root(), [endpoint('/a', use), endpoint('/b', use), endpoint('/c', {}, use)]);
    deepEqual(await statuses(1, gateway, 'free', 'u2', '/a'), [200]);
    deepEqual(await statuses(1, gateway, 'free', 'u2', '/b'), [429]);
    deepEqual(await statuses(1, gateway, 'free', 'u2', '/c'), [429]);
    const service = await serve({ ...root(), ...use }, [endpoint('/a')]);
    deepEqual(await statuses(1, service, 'free', 'u2'), [429]);
    deepEqual(await statuses(2, service, 'free', 'u3'), [200, 429]);
    deepEqual(await statuses(1, gateway, 'free', 'u3', '/b'), [429]);
  });

  it('rejects requests with 500 while Redis is down, or accepts them if so configured', async () => {
    const server = { address: `127.0.0.1:${await freePort()}` };
    const sinks = rememberingSinks();
    const requested = backend.requests.length;
    const refusing = await atA({}, {}, server, { sinks });
    deepEqual([await statuses(2, refusing), backend.requests.length], [[500, 500], requested]);
    ok(sinks.lines.some((line) => /ERROR .*\[Quota: api\].*a request is rejected: redis c: not connected/.test(line)));
    const allowing = await atA({}, { on_failure_allow: true }, server);
    const { statusCode, headers: seen } = await ask(allowing);
    deepEqual([statusCode, seen['x-quota-limit']], [200, undefined]);
  });

  it('returns no headers if they are disabled', async () => {
    const gateway = await atA({ disable_quota_headers: true });
    for (const plan of ['free', 'free']) {
      const { headers: seen } = await ask(gateway, plan);
      deepEqual(
        [seen['x-quota-limit'], seen['x-quota-remaining'], seen['retry-after']],
        [undefined, undefined, undefined],
      );
    }
  });

  it('does not count a rejected request in any window', async () => {
    const gateway = await atA();
    await statuses(6, gateway);
    const keys = ((await redis.command('KEYS', '*')) as string[]).sort();
    deepEqual(keys, [
      `sluice:quota:{api gold u1}:day:${Date.UTC(2026, 5, 17) / 1000}`,
      `sluice:quota:{api gold u1}:month:${Date.UTC(2026, 5, 1) / 1000}`,
    ]);
    deepEqual(await redis.command('MGET', ...keys), ['3', '3']);
  });

  it('resets with every window, and keeps a counter in Redis for an hour longer', async () => {
    const gateway = await atA();
    await statuses(3, gateway);
    const [key] = (await redis.command('KEYS', '*day*')) as string[];
    const ms = Number(await redis.command('PTTL', key!));
    ok(ms > 13 * 3_600_000 - 60_000 && ms <= 13 * 3_600_000, String(ms));
    mock.timers.setTime(Date.UTC(2026, 5, 17, 23, 59, 59, 999));
    const last = await ask(gateway);
    deepEqual([last.statusCode, last.headers['retry-after']], [429, '1']);
    mock.timers.setTime(Date.UTC(2026, 5, 18));
    deepEqual((await ask(gateway)).headers['x-quota-remaining'], '"day";n=2, "month";n=96');
  });

  it('returns the longest of the exhausted windows in Retry-After', async () => {
    const limits = [
      { amount: 1, unit: 'hour' },
      { amount: 1, unit: 'day' },
      { amount: 9, unit: 'year' },
    ];
    const gateway = await atA({}, { rules: [{ name: 'gold', limits }, free, metered] });
    await ask(gateway);
    equal((await ask(gateway)).headers['retry-after'], String(12 * 3600));
  });

  it('needs one round trip for all limits of a rule', async () => {
    const gateway = await atA();
    await ask(gateway);
    await redis.command('CONFIG', 'RESETSTAT');
    await statuses(5, gateway);
    const calls = /cmdstat_evalsha:calls=(\d+)/.exec(String(await redis.command('INFO', 'commandstats')))?.[1];
    equal(calls, '5');
  });

  it("stores a caller's name as a digest if configured or if the name is long", async () => {
    const hashing = await atA({}, { hash_keys: true });
    await ask(hashing, 'gold', 'ada');
    const plain = await atA();
    await ask(plain, 'gold', 'ada'.repeat(40));
    const keys = (await redis.command('KEYS', '*')) as string[];
    equal(keys.length, 4);
    ok(
      keys.every((key) => !key.includes('ada')),
      keys.join(),
    );
  });

  it('identifies callers by address and path parameter, and distinguishes crafted names', async () => {
    const tiers = [
      { rule_name: 'free', tier_value: 'ip', strategy: 'ip' },
      { rule_name: 'free', tier_value_as: '*', strategy: 'param', key: 'id' },
    ];
    const gateway = await serve(root(), [endpoint('/u/{id}', { [name]: { ...quota, tiers } })]);
    deepEqual(await statuses(2, gateway, 'ip', null, '/u/1'), [200, 429]);
    for (const id of ['1', '%7Bx%7D', 'a%20b', '__proto__', '127.0.0.2']) {
      deepEqual([id, ...(await statuses(2, gateway, null, null, `/u/${id}`))], [id, 200, 429]);
    }
  });

  it('accepts an expression as the tier key', async () => {
    const tiers = [{ ...byHeader('free'), tier_value: "value.startsWith('f')", tier_value_as: 'policy' }];
    const gateway = await atA({ tiers });
    deepEqual(await statuses(2, gateway, 'fff'), [200, 429]);
    deepEqual(await statuses(1, gateway, 'ggg'), [400]);
  });

  it("runs after the endpoint's rate limits, which therefore reject requests without counting them", async () => {
    const router = { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' } };
    const gateway = await serve(root(), [endpoint('/a', { [name]: quota, ...router })]);
    deepEqual(await statuses(3, gateway), [200, 503, 503]);
    deepEqual(await redis.command('GET', `sluice:quota:{api gold u1}:day:${Date.UTC(2026, 5, 17) / 1000}`), '1');
  });

  it('at the root runs before the components of an endpoint', async () => {
    const bots = { 'security/bot-detector': { deny: ['lightMyRequest'] } };
    const gateway = await serve({ ...root(), [name]: quota }, [endpoint('/a', bots)]);
    deepEqual(
      [...(await statuses(2, gateway, 'free')), (await ask(gateway, 'free', 'u', '/nope')).statusCode],
      [403, 429, 404],
    );
  });

  it('at a backend fails that backend, with 429 if it is the only one', async () => {
    const use = { [name]: quota };
    const both = {
      endpoint: '/both',
      backend: [
        { host: [backend.url], url_pattern: '/', group: 'x', extra_config: use },
        { host: [backend.url], url_pattern: '/', group: 'y' },
      ],
    };
    const gateway = await serve(root(), [endpoint('/a', {}, use), both]);
    deepEqual(await statuses(2, gateway, 'free'), [200, 429]);
    const merged = await ask(gateway, 'free', 'u1', '/both');
    deepEqual(
      [merged.statusCode, merged.headers['x-gateway-completed'], Object.keys(merged.json())],
      [200, 'false', ['y']],
    );
  });

  describe('with a weight', () => {
    const used = async () =>
      Number(await redis.command('GET', `sluice:quota:{api metered u1}:day:${Date.UTC(2026, 5, 17) / 1000}`));

    it('counts 1, with a warning, if the response does not contain the weight', async () => {
      const sinks = rememberingSinks();
      const gateway = await atA({ weight_key: 'usage.total' }, {}, {}, { sinks });
      for (const wrong of [
        {},
        { usage: 5 },
        { usage: { total: '5' } },
        { usage: { total: -5 } },
        { usage: { total: null } },
      ]) {
        body = wrong;
        await ask(gateway, 'metered');
      }
      equal(await used(), 5);
      ok(sinks.lines.some((line) => /WARN.*no weight at "usage.total"/.test(line)));
    });

    it('rounds fractional weights, and accepts 0', async () => {
      const gateway = await atA({ weight_key: 'n' });
      for (const n of [0.5, 0, 2.25]) {
        body = { n };
        await ask(gateway, 'metered');
      }
      equal(await used(), 2.75);
    });

    it('reads the weight from a header with the no-op encoding', async () => {
      headers = { 'X-Used': '7' };
      const gateway = await serve(root(), [
        {
          ...endpoint('/a', { [name]: { ...quota, weight_key: 'X-Used', weight_strategy: 'header' } }),
          output_encoding: 'no-op',
        },
      ]);
      deepEqual(await statuses(3, gateway, 'metered'), [200, 200, 429]);
      equal(await used(), 14);
    });

    it('counts nothing for a failed response', async () => {
      const gateway = await atA({ weight_key: 'n' });
      status = 500;
      deepEqual(await statuses(2, gateway, 'metered'), [500, 500]);
      equal(await redis.command('DBSIZE'), 0);
    });

    it("counts the weight of a backend's response", async () => {
      body = { n: 10 };
      const gateway = await serve(root(), [endpoint('/a', {}, { [name]: { ...quota, weight_key: 'n' } })]);
      deepEqual(await statuses(2, gateway, 'metered'), [200, 429]);
    });

    it('counts the response of a client that disconnects meanwhile', async () => {
      const verdict = { retrySeconds: null, allowances: [] };
      const counted: unknown[] = [];
      let client: Call;
      const rule = {
        look: async () => verdict,
        async add(caller: string, weight: number, call: Call) {
          client.cancel();
          counted.push([caller, weight, call.reason]);
          return verdict;
        },
      };
      const rules = new Map([['metered', rule]]);
      const offers = [offer(quotas, new Map([['api', { rules, settle: () => undefined }]]) as never)];
      const config = { ...quota, tiers: [byHeader('metered')], weight_key: 'n' };
      const next = (_request: unknown, call: Call) => {
        client = call;
        return Reply.data({ n: 4 });
      };
      const gate = await openHarness(plugin, 'endpoint', config, { offers, next });
      const { status } = await gate.send({ headers: { 'X-Plan': 'metered', 'X-User': 'u1' } });
      deepEqual([status, counted], [200, [['u1', 4, null]]]);
      await gate.close();
    });

    it('returns the response even if its weight cannot be counted', async () => {
      body = { n: 1 };
      const sinks = rememberingSinks();
      const gateway = await atA({ weight_key: 'n' }, {}, { command_timeout: '3s' }, { sinks });
      await ask(gateway, 'metered');
      const slow = await startBackend((_seen, response) => {
        redis.pause();
        json(body)({} as never, response);
      });
      try {
        await gateway.reload({
          version: 3,
          extra_config: root({}, { command_timeout: '3s' }),
          endpoints: [
            {
              ...endpoint('/a', { [name]: { ...quota, weight_key: 'n' } }),
              backend: [{ host: [slow.url], url_pattern: '/' }],
            },
          ],
        });
        equal((await ask(gateway, 'metered')).statusCode, 200);
        await until(() => sinks.lines.some((line) => /ERROR.*a response is not counted/.test(line)));
      } finally {
        redis.resume();
        await slow.close();
      }
    });
  });

  describe('that remembers rejections', () => {
    const cache = { rejecter_cache: { N: 100, P: 0.01 } };
    const scripts = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(String(await redis.command('INFO', 'commandstats')))?.[1] ?? 0);

    it('does not query Redis again for a rejected caller before the window ends', async () => {
      const gateway = await atA({}, cache);
      await statuses(2, gateway, 'free');
      await redis.command('CONFIG', 'RESETSTAT');
      mock.timers.setTime(Date.UTC(2026, 5, 17, 23, 59, 50));
      const { statusCode, headers: seen } = await ask(gateway, 'free');
      deepEqual(
        [statusCode, seen['retry-after'], seen['x-quota-remaining'], await scripts()],
        [429, '10', '"day";n=0', 0],
      );
      mock.timers.setTime(Date.UTC(2026, 5, 18));
      deepEqual(await statuses(1, gateway, 'free'), [200]);
      equal(await scripts(), 1);
    });

    it('forgets all rejected callers after the cleanup interval', async () => {
      mock.timers.reset();
      mock.timers.enable({ apis: ['Date', 'setInterval'], now: NOON });
      const gateway = await atA({}, { rejecter_cache: { ...cache.rejecter_cache, cleanup_interval: '10s' } });
      await statuses(2, gateway, 'free');
      await redis.command('FLUSHALL');
      deepEqual(await statuses(1, gateway, 'free'), [429]);
      mock.timers.tick(10_000);
      deepEqual(await statuses(1, gateway, 'free'), [200]);
    });

    it('rejects remembered callers even while Redis is down', async () => {
      const server = await startRedis();
      try {
        const gateway = await atA({}, cache, { address: server.address });
        await statuses(2, gateway, 'free');
        await server.stop();
        await until(async () => (await ask(gateway, 'free', 'other')).statusCode === 500);
        deepEqual(await statuses(1, gateway, 'free'), [429]);
      } finally {
        await server.close();
      }
    });
  });

  describe('during Redis failures', () => {
    it('makes no calls to Redis until a reload after the maximum number of attempts has failed', async () => {
      const server = await startRedis();
      await server.stop();
      const sinks = rememberingSinks();
      const processors = { on_failure_max_retries: 1, on_failure_allow: true };
      try {
        const gateway = await atA({}, processors, { address: server.address, max_retry_backoff: '10ms' }, { sinks });
        await ask(gateway);
        // Advances the clock by a second, after which the gateway tries again.
        await until(async () => {
          await ask(gateway);
          return sinks.lines.some((line) => line.includes('requests are not counted until a reload'));
        });
        await server.start();
        deepEqual(await statuses(5, gateway, 'free'), [200, 200, 200, 200, 200]);
        equal(await server.command('DBSIZE'), 0);
        await gateway.reload({
          version: 3,
          timeout: '9s',
          extra_config: root(processors, { address: server.address, max_retry_backoff: '10ms' }),
          endpoints: [endpoint('/a', { [name]: quota })],
        });
        await until(async () => (await ask(gateway, 'free')).statusCode === 429);
      } finally {
        await server.close();
      }
    });

    it('rejects requests while Redis restarts, then counts again', async () => {
      const server = await startRedis();
      try {
        const gateway = await atA({}, {}, { address: server.address, max_retry_backoff: '20ms' });
        deepEqual(await statuses(2, gateway, 'free'), [200, 429]);
        await server.stop();
        await until(async () => (await ask(gateway, 'free')).statusCode === 500);
        await server.start();
        await until(async () => (await ask(gateway, 'free')).statusCode === 200);
        deepEqual(await statuses(1, gateway, 'free'), [429]);
      } finally {
        await server.close();
      }
    });

    it('waits only once for command_timeout if Redis is slow, then rejects or accepts requests immediately', async () => {
      const refusing = await atA({}, {}, { command_timeout: '3s' });
      const allowing = await atA({}, { on_failure_allow: true }, { command_timeout: '3s', client_name: 'allowing' });
      await ask(refusing, 'metered');
      await ask(allowing, 'metered');
      redis.pause();
      try {
        // The test would time out if each of these requests waited three seconds.
        deepEqual(await statuses(30, refusing, 'metered'), new Array(30).fill(500));
        deepEqual(await statuses(30, allowing, 'metered'), new Array(30).fill(200));
      } finally {
        redis.resume();
      }
    });

    it('does not count disconnected clients as Redis failures if Redis is slow, and counts later requests', async () => {
      const sinks = rememberingSinks();
      const gateway = await atA({}, { on_failure_max_retries: 1 }, {}, { sinks });
      const { port } = await gateway.listen();
      await ask(gateway);
      redis.pause();
      try {
        for (let client = 0; client < 3; client++) {
          const socket = connect(port, '127.0.0.1').on('error', () => {});
          socket.write('GET /a HTTP/1.1\r\nHost: a\r\nX-Plan: metered\r\nX-User: leaves\r\n\r\n');
          await until(() => gateway.status.calls === 1);
          socket.resetAndDestroy();
          await until(() => gateway.status.calls === 0);
        }
      } finally {
        redis.resume();
      }
      const { statusCode, headers } = await ask(gateway, 'gold', 'stays');
      deepEqual([statusCode, headers['x-quota-remaining'] !== undefined], [200, true]);
      deepEqual(
        sinks.lines.filter((line) => line.includes('nothing is counted')),
        [],
      );
    });

    it('rejects requests with 500 or accepts them, without counting, if Redis is out of memory', async () => {
      const server = await startRedis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']);
      try {
        deepEqual(await statuses(1, await atA({}, {}, { address: server.address })), [500]);
        deepEqual(
          await statuses(2, await atA({}, { on_failure_allow: true }, { address: server.address }), 'free'),
          [200, 200],
        );
        equal(await server.command('DBSIZE'), 0);
      } finally {
        await server.close();
      }
    });

    it('counts everything exactly once even if Redis has lost its scripts', async () => {
      const gateway = await atA();
      await ask(gateway);
      await redis.command('SCRIPT', 'FLUSH');
      deepEqual(await statuses(3, gateway), [200, 200, 429]);
    });

    it('rejects with 500 if a counter is not a number, and leaves the key unchanged', async () => {
      const gateway = await atA();
      await ask(gateway, 'free');
      const [key] = (await redis.command('KEYS', '*')) as string[];
      await redis.command('SET', key!, 'text');
      deepEqual(await statuses(1, gateway, 'free'), [500]);
      equal(await redis.command('GET', key!), 'text');
    });
  });

  it('is exact for two gateways with two workers each', async () => {
    mock.timers.reset();
    const rules = [{ name: 'gold', limits: [{ amount: 40, unit: 'year' }] }, free, metered];
    const workers = { count: 2, program, args: [] };
    const pools: Pool[] = [];
    try {
      for (let each = 0; each < 2; each++) {
        const gateway = await atA({}, { rules }, {}, { workers });
        const { port } = await gateway.listen();
        pools.push(new Pool(`http://127.0.0.1:${port}`, { connections: 20 }));
      }
      const all = await Promise.all(
        Array.from({ length: 200 }, async (_, at) => {
          const sent = { 'x-plan': 'gold', 'x-user': 'u1' };
          const response = await pools[at % 2]!.request({ method: 'GET', path: '/a', headers: sent });
          await response.body.dump();
          return response.statusCode;
        }),
      );
      deepEqual([all.filter((one) => one === 200).length, all.filter((one) => one === 429).length], [40, 160]);
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
    }
  });

  describe('in the configuration', () => {
    const use = (more: object) => ({ [name]: { ...quota, ...more } });
    const issues = async (extra: object, endpoints: object[], ...expected: [string, string][]) =>
      rejects(serve(extra, endpoints), ({ errors }) => {
        deepEqual(
          errors.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer]),
          expected,
        );
        return true;
      });
    const at = '/endpoints/0/extra_config/governance~1quota';
    const processors = '/extra_config/governance~1processors/quotas/0';

    it('must name existing quotas and rules', async () => {
      await issues(root(), [endpoint('/a', use({ quota_name: 'nope' }))], ['QUOTA_UNKNOWN', `${at}/quota_name`]);
      const tiers = [byHeader('gold'), byHeader('silver')];
      await issues(root(), [endpoint('/a', use({ tiers }))], ['QUOTA_RULE', `${at}/tiers/1/rule_name`]);
    });
    it('must identify the caller', async () => {
      for (const tier of [{ key: '' }, { key: 'a b' }, { strategy: 'param', key: 'id' }]) {
        const tiers = [{ ...byHeader('gold'), ...tier }];
        await issues(root(), [endpoint('/a', use({ tiers }))], ['QUOTA_KEY', `${at}/tiers/0/key`]);
      }
    });
    it('must name a declared connection', () =>
      issues(
        root({ connection_name: 'nope' }),
        [endpoint('/a')],
        ['REDIS_CONNECTION', `${processors}/connection_name`],
      ));
    it('must not repeat a name or a window', async () => {
      await issues(root({ rules: [gold, gold] }), [endpoint('/a')], ['QUOTA_NAME', `${processors}/rules/1/name`]);
      const limits = [...gold.limits, { amount: 5, unit: 'day' }];
      await issues(
        root({ rules: [{ ...gold, limits }] }),
        [endpoint('/a')],
        ['QUOTA_LIMITS', `${processors}/rules/0/limits/2/unit`],
      );
    });
    it('requires decoded data for a weight in the body', () =>
      rejects(serve(root(), [{ ...endpoint('/a', use({ weight_key: 'n' })), output_encoding: 'no-op' }])));
    it('warns about settings without effect on remembered rejections', async () => {
      const config = {
        quotas: [
          {
            ...processor,
            connection_name: 'r',
            rejecter_cache: { N: 10_000_000, P: 0.1, hash_name: 'optimal' },
            deny_queue_size: 8,
            deny_queue_flush_interval: '1s',
            deny_queue_flush_threshold: 10,
          },
        ],
      };
      const offers = [offer(redisConnections, new Map([['r', {}]]) as never)];
      const gate = await openHarness(processorsPlugin, 'service', config, { offers });
      deepEqual(gate.warnings.map(({ code, pointer }) => [code, pointer]).sort(), [
        ['OPTION_UNUSED', '/quotas/0/deny_queue_flush_interval'],
        ['OPTION_UNUSED', '/quotas/0/deny_queue_flush_threshold'],
        ['OPTION_UNUSED', '/quotas/0/deny_queue_size'],
        ['OPTION_UNUSED', '/quotas/0/rejecter_cache/hash_name'],
        ['QUOTA_CALLERS', '/quotas/0/rejecter_cache/N'],
      ]);
      await gate.close();
    });
    it('warns about a weight at the root', async () => {
      const rules = new Map([['gold', {}]]);
      const offers = [offer(quotas, new Map([['api', { rules, settle: () => undefined }]]) as never)];
      const config = { ...quota, tiers: [byHeader('gold')], weight_key: 'n' };
      const { warnings } = await openHarness(plugin, 'service', config, { offers });
      deepEqual(
        warnings.map(({ code, pointer }) => [code, pointer]),
        [['OPTION_UNUSED', '/weight_key']],
      );
    });
  });
});
