import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Call, offer, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { type Embedder, embedders } from '../../../../plugins/ai/semantic-cache/embedder.ts';
import { plugin } from '../../../../plugins/ai/semantic-cache/index.ts';
import { MAX_VECTORS, vectorSets } from '../../../../plugins/ai/semantic-cache/redis-vector-sets.ts';
import { encode } from '../../../../plugins/ai/semantic-cache/vectors.ts';
import { type RedisConnection, redisConnections } from '../../../../plugins/clients/redis/port.ts';
import { until } from '../../../support/conditions.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../../support/redis.ts';
import { redis8, withoutEarlierRedis, withoutRedis8 } from '../../../support/redis-versions.ts';
import { connectionTo } from '../../../support/vector-sets.ts';

const vector = (...numbers: number[]) => encode(Float32Array.from(numbers));

for (const [kind, sets, without] of [
  ['a simulated Redis 8', 'of the tests', withoutRedis],
  ['Redis 8', 'own', withoutRedis8],
] as const) {
  (without ? describe.skip : describe)(`vector sets in ${kind}${without ?? ''}`, () => {
    let redis: TestRedis;
    let connection: RedisConnection;
    let now: number;

    before(async () => {
      redis = await startRedis([], undefined, sets === 'own' ? redis8! : undefined);
    });
    after(() => redis.close());
    beforeEach(async () => {
      await redis.command('FLUSHALL');
      connection = connectionTo(redis, sets);
      now = 0;
    });

    const open = () => vectorSets(connection, { now: () => now });
    const near = (key: string, wanted: string, distance: number) => open().near(key, wanted, distance, new Call());
    const keep = (key: string, text: string, stored: string, ttlMs = 60_000) =>
      open().keep(key, { text, vector: stored, response: `response to ${text}`, ttlMs }, new Call());

    it('return the scores that the documentation of Redis states', async () => {
      const points = { A: [1, 1], B: [-1, -1], C: [-1, 1], D: [1, -1], E: [1, 0] };
      for (const [text, numbers] of Object.entries(points)) await keep('{points}', text, vector(...numbers));
      const source = `return redis.call('VSIM', KEYS[1], 'FP32', ARGV[1], 'WITHSCORES', 'COUNT', '4', 'EF', '200')`;
      const args = [Buffer.from(vector(1, 1), 'base64')];
      const reply = (await connection.run({ source, sha1: '' }, ['{points}:vectors'], args, new Call())) as string[];
      deepEqual([reply[0], reply[2], new Set([reply[4], reply[6]])], ['A', 'E', new Set(['C', 'D'])]);
      deepEqual(
        [1, 3, 5, 7].map((at) => Number(reply[at]).toFixed(4)),
        ['1.0000', '0.8536', '0.5000', '0.5000'],
      );
    });

    it('find texts within the cosine distance, the nearest first', async () => {
      await keep('{v}', 'far', vector(0, 1));
      await keep('{v}', 'near', vector(1, 0.5));
      await keep('{v}', 'same', vector(1, 0));
      deepEqual(await near('{v}', vector(1, 0), 0), ['same']);
      deepEqual(await near('{v}', vector(1, 0), 0.2), ['same', 'near']);
      deepEqual(await near('{v}', vector(1, 0), 1), ['same', 'near', 'far']);
      deepEqual(await near('{v}', vector(-1, 0), 0.5), []);
    });

    it('never find texts of other variants', async () => {
      await keep('{a}', 'same', vector(1, 0));
      deepEqual(await near('{b}', vector(1, 0), 2), []);
      deepEqual(await near('{a}:vectors', vector(1, 0), 2), []);
    });

    it('replace the vector of a text', async () => {
      await keep('{v}', 'text', vector(1, 0));
      await keep('{v}', 'text', vector(0, 1));
      deepEqual([await near('{v}', vector(1, 0), 0.5), await near('{v}', vector(0, 1), 0.5)], [[], ['text']]);
    });

    it('store the response, and expire as a whole with the last response', async () => {
      await keep('{v}', 'first', vector(1, 0), 50_000);
      await keep('{v}', 'second', vector(0, 1), 10_000);
      equal(await redis.command('GET', '{v}:first'), 'response to first');
      for (const key of ['{v}:first', '{v}:vectors', '{v}:expiries']) {
        const left = Number(await redis.command('PTTL', key));
        equal(left > 40_000 && left <= 50_000, true, `${key}: ${left}`);
      }
    });

    it('drop texts whose response has expired when another text is stored', async () => {
      await keep('{v}', 'old', vector(1, 0));
      await redis.command('ZADD', '{v}:expiries', '1', 'old');
      await keep('{v}', 'new', vector(0, 1));
      deepEqual(await near('{v}', vector(1, 0), 0.5), []);
      deepEqual(await redis.command('ZRANGE', '{v}:expiries', '0', '-1'), ['new']);
    });

    it(`contain at most ${MAX_VECTORS.toLocaleString('en')} texts, and drop those that expire first`, async () => {
      await keep('{v}', 'first', vector(1, 0), 1_000);
      const fill = `for at = 1, ${MAX_VECTORS} do redis.call('ZADD', KEYS[1], 9e15, at) end return 1`;
      await redis.command('EVAL', fill, '1', '{v}:expiries');
      await keep('{v}', 'last', vector(0, 1), 60_000);
      equal(await redis.command('ZCARD', '{v}:expiries'), MAX_VECTORS);
      deepEqual(await near('{v}', vector(1, 0), 0.5), []);
    });

    it('answer requests with the same meaning and the same key_variants', async () => {
      const embedder: Embedder = {
        identity: 'test',
        embed: async (text) => Float32Array.from(text.includes('capital') ? [1, 0] : [0, 1]),
      };
      let calls = 0;
      const harness = await openHarness(
        plugin,
        'endpoint',
        { redis_connection: 'shared', key_variants: ['req_headers.X-User'] },
        {
          endpoint: { input_headers: ['*'], method: 'POST' },
          offers: [
            offer(embedders, new Map([['default', embedder]])),
            offer(redisConnections, new Map([['shared', connection]])),
          ],
          next: () => Reply.data({ answer: ++calls }),
        },
      );
      const ask = async (body: string, user: string) =>
        (await harness.send({ method: 'POST', body, headers: { 'x-user': user } } as never)).data?.['answer'];
      equal(await ask('capital', 'ada'), 1);
      await until(async () => (await redis.command('DBSIZE')) === 3);
      deepEqual(
        [await ask('the capital', 'ada'), await ask('the capital', 'bob'), await ask('weather', 'ada')],
        [1, 2, 3],
      );
      await until(async () => (await redis.command('DBSIZE')) === 7);
      await redis.command('DEL', ...((await redis.command('KEYS', '*=')) as string[]));
      equal(await ask('the capital!', 'ada'), 4);
      await harness.close();
    });

    it('store no response to a text whose vector has another number of dimensions', async () => {
      await keep('{v}', 'first', vector(1, 0));
      await rejects(keep('{v}', 'second', vector(1, 0, 0)), /dimension mismatch/);
      equal(await redis.command('EXISTS', '{v}:second'), 0);
    });
  });
}

(withoutEarlierRedis ? describe.skip : describe)(`vector sets in an earlier Redis${withoutEarlierRedis ?? ''}`, () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.close());

  it('are not used if Redis does not support them, and are tried again after a minute', async () => {
    let now = 0;
    let runs = 0;
    const own = connectionTo(redis, 'own');
    const counted: RedisConnection = { ...own, run: (...parts) => own.run(...parts).finally(() => runs++) };
    const sets = vectorSets(counted, { now: () => now });
    const kept = { text: 'text', vector: vector(1, 0), response: 'response', ttlMs: 1000 };
    equal(await sets.near('{v}', vector(1, 0), 0, new Call()), null);
    equal(await sets.keep('{v}', kept, new Call()), null);
    equal(runs, 1);
    now = 60_000;
    equal(await sets.keep('{v}', kept, new Call()), null);
    deepEqual([runs, await redis.command('EXISTS', '{v}:text')], [2, 0]);
  });

  it('are not used if the Redis user has no permission for them', async () => {
    const refusing: RedisConnection = {
      ...connectionTo(redis, 'own'),
      run: ({ source }, keys, args) => {
        const denied = `local redis = { pcall = function() return { err = "NOPERM The user executing the script can't run this command or subcommand" } end }\n`;
        return redis.command('EVAL', denied + source, String(keys.length), ...keys, ...args);
      },
    };
    equal(await vectorSets(refusing, { now: () => 0 }).near('{v}', vector(1, 0), 0, new Call()), null);
  });
});
