import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type ModuleElement, refusalsOf, startModules } from '../../support/modules.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;

const pool = (address: string, more: object = {}) => ({
  connection_pools: [{ name: 'shared', address, command_timeout: '20s', ...more }],
});
const processors = {
  quotas: [
    {
      name: 'plans',
      connection_name: 'shared',
      rules: [{ name: 'gold', limits: [{ amount: 2, unit: 'year' }] }],
    },
  ],
};

describe('the host services of modules', function () {
  this.timeout(30_000);
  let backend: TestBackend;
  let redis: TestRedis;
  before(async () => {
    backend = await startBackend(json({ ok: true }));
    if (!withoutRedis) redis = await startRedis();
  });
  after(async () => {
    await backend.close();
    await redis?.close();
  });

  const config = (root: object) => ({
    host: [backend.url],
    endpoints: [
      {
        endpoint: '/a',
        extra_config: { 'plugin/middleware': { name: ['host'] } },
        backend: [{ url_pattern: '/b' }],
      },
    ],
    extra_config: root,
  });
  const element = (factory: (host: Loose) => unknown): ModuleElement => ({
    name: 'host',
    middleware: (_config: unknown, host: Loose) => factory(host),
  });
  const place = '/endpoints/0/extra_config/plugin~1middleware/name/0';

  for (const [what, ask, expected] of [
    [
      'an undeclared connection',
      (host: Loose) => host.redis('missing'),
      ['REDIS_CONNECTION', /no connection of "redis" at the root is named "missing"/],
    ],
    [
      'a misspelled connection, asynchronously',
      async (host: Loose) => {
        await new Promise(setImmediate);
        return host.redis('share');
      },
      ['REDIS_CONNECTION', /"share"/],
    ],
    ['an undeclared quota', (host: Loose) => host.quota('p'), ['QUOTA_UNKNOWN', /is named "p"/]],
    [
      'an undeclared rule of a quota',
      (host: Loose) => host.quota('plans').rule('silver'),
      ['QUOTA_RULE', /no rule of the quota "plans" is named "silver"/],
    ],
  ] as const) {
    it(`reject a configuration whose factory uses ${what}, with the location of the name`, async () => {
      const root = { redis: pool('127.0.0.1:1'), 'governance/processors': processors };
      const [refusal] = await refusalsOf(startModules(config(root), element(ask)));
      deepEqual([refusal?.code, refusal?.pointer], [expected[0], place]);
      match(refusal?.message ?? '', expected[1]);
      ok(refusal?.hint);
    });
  }

  it('explain in an error how to declare a missing connection', async () => {
    const [refusal] = await refusalsOf(
      startModules(
        config({}),
        element((host) => host.redis('shared')),
      ),
    );
    equal(refusal?.code, 'REDIS_CONNECTION');
    match(refusal?.hint ?? '', /"redis": \{"connection_pools"/);
  });

  (withoutRedis ? describe.skip : describe)(`with Redis ${withoutRedis ?? ''}`.trim(), () => {
    let gateway: Operations | undefined;
    beforeEach(() => redis.command('FLUSHALL'));
    afterEach(async () => {
      await gateway?.close();
      gateway = undefined;
    });

    /** The return value of a handler that uses its host. */
    const given = async (
      use: (host: Loose) => () => unknown,
      connection: object = {},
      address = redis.address,
    ): Promise<Loose> => {
      const handler = element((host) => {
        const run = use(host);
        return async () => ({ data: { given: await run() } });
      });
      const root = { redis: pool(address, connection), 'governance/processors': processors };
      gateway = await startModules(config(root), handler);
      return JSON.parse((await gateway.inject('/a')).body).given;
    };
    const failure = (run: () => Promise<unknown>) => () =>
      run().then(
        () => 'no failure',
        (error: Loose) => [error.code ?? error.name, error.message],
      );

    it('read, write, count and delete keys in Redis', async () => {
      const got = await given((host) => {
        const client = host.redis('shared');
        return async () => [
          client.name,
          await client.get('a'),
          (await client.set('a', 'ä', { ttlMs: 60_000 })) ?? 'set',
          await client.get('a'),
          await client.increment('n', { ttlMs: 60_000 }),
          await client.increment('n', { by: 4 }),
          await client.delete('a'),
          await client.delete('a'),
        ];
      });
      deepEqual(got, ['shared', null, 'set', 'ä', 1, 5, true, false]);
      ok(Number(await redis.command('PTTL', 'n')) > 50_000);
    });

    it('run scripts and commands with a single key', async () => {
      const got = await given((host) => {
        const client = host.redis('shared');
        return async () => [
          await client.command('HSET', 'users', 'ada', 1, 'bob', 2),
          await client.command('HGETALL', 'users'),
          await client.eval('return {KEYS[1], ARGV[1], redis.call("EXISTS", KEYS[1])}', ['users'], [7]),
        ];
      });
      deepEqual(got, [2, ['ada', '1', 'bob', '2'], ['users', '7', 1]]);
    });

    it('report Redis errors, even for queued commands, and reject arguments that are too large or not strings', async () => {
      const got = await given((host) => {
        const client = host.redis('shared');
        return async () => [
          await failure(() => client.command('NONSENSE', 'a'))(),
          await failure(() => client.command('SUBSCRIBE', 'a'))(),
          await failure(() => client.set('a', { no: 'text' }))(),
          await failure(() => client.set('a', 'x'.repeat(2 ** 21)))(),
          await failure(() => client.command('SADD', 'a', ...Array.from({ length: 1000 }, String)))(),
          await failure(() => client.eval('x'.repeat(2 ** 17), []))(),
          await failure(() => client.increment('n', { ttlMs: -1 }))(),
        ];
      });
      match(got[0][1], /redis shared: .*unknown|Unknown/i);
      deepEqual(
        got.map(([code]: [string]) => code),
        ['REDIS_FAILED', 'REDIS_FAILED', 'TypeError', 'RangeError', 'RangeError', 'RangeError', 'RangeError'],
      );
    });

    it('fail immediately without Redis, and the request is rejected unless the module catches the error', async () => {
      const got = await given(
        (host) => {
          const client = host.redis('shared');
          return failure(() => client.get('a'));
        },
        {},
        `127.0.0.1:${await freePort()}`,
      );
      equal(got[0], 'REDIS_FAILED');
      await gateway!.close();
      gateway = await startModules(
        config({ redis: pool(`127.0.0.1:${await freePort()}`) }),
        element((host) => {
          const client = host.redis('shared');
          return async () => client.get('a');
        }),
      );
      const response = await gateway.inject('/a');
      deepEqual([response.statusCode, response.body], [500, '']);
    });

    it('fail within the timeout if Redis does not respond', async () => {
      const ask = given(
        (host) => {
          const client = host.redis('shared');
          return async () => {
            await client.get('a');
            redis.pause();
            return failure(() => client.get('a'))();
          };
        },
        { command_timeout: '3s' },
      );
      const got = await ask.finally(() => redis.resume());
      deepEqual(got, ['REDIS_FAILED', 'redis shared: no response within 3000ms']);
    });

    it('count in quotas and return the remaining amount', async () => {
      const got = await given((host) => {
        const rule = host.quota('plans').rule('gold');
        return async () => [
          await rule.take('ada'),
          await rule.look('ada'),
          await rule.add('ada', 5),
          await rule.take('ada'),
          await failure(() => rule.take(''))(),
          await failure(() => rule.add('ada', -1))(),
        ];
      });
      const left = (remaining: number) => [{ unit: 'year', amount: 2, remaining }];
      deepEqual(got[0], { allowed: true, retrySeconds: null, allowances: left(1) });
      deepEqual(got[1].allowances, left(1));
      deepEqual([got[3].allowed, got[3].allowances], [false, left(0)]);
      ok(got[3].retrySeconds >= 1);
      deepEqual([got[4][0], got[5][0]], ['TypeError', 'RangeError']);
    });

    it('use the connections of the active configuration after a reload', async () => {
      const handler = element((host) => {
        const client = host.redis('shared');
        return async () => ({ data: { given: await failure(() => client.get('a'))() } });
      });
      gateway = await startModules(config({ redis: pool(`127.0.0.1:${await freePort()}`) }), handler);
      match((await gateway.inject('/a')).body, /REDIS_FAILED/);
      await gateway.reload({ version: 3, ...config({ redis: pool(redis.address) }) } as Loose);
      await until(async () => (await gateway!.inject('/a')).body.includes('no failure'));
    });
  });
});
