import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { VectorLists } from '../../../../plugins/ai/semantic-cache/vector-lists.ts';
import { encode } from '../../../../plugins/ai/semantic-cache/vectors.ts';
import { until } from '../../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { startRedis, type TestRedis } from '../../../support/redis.ts';
import { redis8, withoutEarlierRedis, withoutRedis8 } from '../../../support/redis-versions.ts';

for (const [kind, vectorKeys, program, without] of [
  ['Redis', 1, null, withoutEarlierRedis],
  ['Redis 8', 2, redis8, withoutRedis8],
] as const) {
  (without ? describe.skip : describe)(`gateways with a semantic cache in ${kind}${without ?? ''}`, () => {
    let redis: TestRedis;
    let backend: TestBackend;
    let server: TestBackend;
    let gateways: Operations[];

    before(async () => {
      redis = await startRedis([], undefined, program ?? undefined);
    });
    after(() => redis.close());

    beforeEach(async () => {
      await redis.command('FLUSHALL');
      backend = await startBackend((seen, response) => json({ seen: backend.requests.length })(seen, response));
      server = await startBackend((seen, response) => {
        const { input } = JSON.parse(seen.body.toString()) as { input: string };
        json({ data: [{ embedding: input.includes('capital') ? [1, 0] : [0, 1] }] })(seen, response);
      });
      gateways = [];
    });
    afterEach(async () => {
      for (const gateway of gateways) await gateway.close();
      await server.close();
      await backend.close();
    });

    const start = async (config: object = {}) => {
      const cache = { req_content: 'req_body.prompt', redis_connection: 'shared', ...config };
      const gateway = await startGateway({
        extra_config: {
          redis: { connection_pools: [{ name: 'shared', address: redis.address }] },
          'ai/semantic-cache': { embedders: [{ name: 'default', url: `${server.url}/embeddings` }] },
        },
        endpoints: [
          {
            ...{ endpoint: '/chat', method: 'POST', input_headers: ['X-User'] },
            backend: [{ host: [backend.url], url_pattern: '/' }],
            extra_config: { 'ai/semantic-cache': { key_variants: ['req_headers.X-User'], ...cache } },
          },
        ],
      });
      gateways.push(gateway);
      return async (prompt: string, user = 'ada') => {
        const headers = { 'x-user': user };
        const { body } = await gateway.inject({ method: 'POST', url: '/chat', headers, payload: { prompt } });
        return JSON.parse(body).seen as number;
      };
    };
    /** Waits for a number of responses, each of which has a key of its own, next to those of the vectors. */
    const stored = (count: number) =>
      until(async () => (await redis.command('DBSIZE')) === (count === 0 ? 0 : count + vectorKeys));

    it('share responses to prompts with the same meaning', async () => {
      const [first, second] = [await start(), await start()];
      equal(await first('capital'), 1);
      await stored(1);
      deepEqual([await second('the capital'), await second('capital'), await second('weather')], [1, 1, 2]);
      await stored(2);
      deepEqual([await first('the weather'), backend.requests.length], [2, 2]);
    });

    it('never share responses between requests that differ in key_variants', async () => {
      const [first, second] = [await start(), await start()];
      await first('capital', 'ada');
      await stored(1);
      equal(await second('capital', 'bob'), 2);
    });

    it('answer from the backend while Redis is unreachable, and from the cache afterwards', async () => {
      const ask = await start();
      await ask('capital');
      await stored(1);
      await redis.stop();
      equal(await ask('the capital'), 2);
      await redis.start();
      await until(async () => new Set([await ask('capital'), await ask('capital')]).size === 1);
    });

    it('drop responses after their ttl', async () => {
      const ask = await start({ ttl: '2s' });
      equal(await ask('capital'), 1);
      await stored(1);
      await stored(0);
      ok((await ask('the capital')) > 1);
    });

    it('store only hashes of prompts', async () => {
      const ask = await start();
      await ask('the secret capital');
      await stored(1);
      const keys = (await redis.command('KEYS', '*')) as string[];
      const texts = await Promise.all(keys.map((key) => redis.command('DUMP', key)));
      ok(![...keys, ...texts.map(String)].join().includes('secret'));
    });
  });
}

describe('copies of vectors from Redis', () => {
  const vector = encode(new Float32Array(4096).fill(1 / 64));

  it('take at most 64 MiB; beyond that the least recently used variants are dropped', () => {
    const lists = new VectorLists();
    for (let variant = 0; variant < 5; variant++) {
      for (let number = 0; number < 990; number++) lists.add(String(variant), `${number}-0`, String(number), vector);
    }
    equal(lists.size, 4);
    deepEqual([lists.nearest('0', vector, 0), lists.last('0')], [undefined, '0-0']);
    deepEqual([lists.nearest('4', vector, 0), lists.last('4')], ['989', '989-0']);
  });

  it('count the memory of each entry in addition to its vector', () => {
    const lists = new VectorLists();
    const small = encode(new Float32Array([1]));
    for (let variant = 0; variant < 170_000; variant++) lists.add(String(variant), '1-0', 'a', small);
    ok(lists.size < 170_000, `${lists.size} variants`);
  });

  it('contain at most 2,000 vectors of a variant', () => {
    const lists = new VectorLists();
    const small = encode(new Float32Array([1]));
    for (let number = 0; number < 2001; number++) lists.add('v', `${number}-0`, String(number), small);
    lists.drop('v', '2000');
    equal(lists.nearest('v', small, 0), '1999');
  });
});
