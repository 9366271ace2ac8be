import { deepEqual, equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';
import { json, startBackend, startGateway } from '../../support/gateway.ts';
import { startRedis, withoutRedis } from '../../support/redis.ts';

const settings = {
  host: 'localhost:6379',
  tokenizer: 'header',
  tokenizer_field: 'X-Id',
  burst: 2,
  rate: 1,
  period: '60s',
};
const AT = '/extra_config/plugin~1http-server';

describe('the KrakenD plugin "redis-ratelimit"', () => {
  const config = (own: unknown, more: object = {}) => ({
    version: 3,
    extra_config: { 'plugin/http-server': { name: ['redis-ratelimit'], 'redis-ratelimit': own }, ...more },
    endpoints: [{ endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] }],
  });
  const found = async (document: object) => {
    const registry = new Registry(catalogue, toolServices());
    const { errors, warnings } = await examine(document, {}, registry, false);
    await registry.close();
    return [errors, warnings].map((all) => all.map(({ code, pointer }) => [code, pointer]));
  };

  (withoutRedis ? it.skip : it)('is read as the limit of the service in Redis', async () => {
    const redis = await startRedis();
    const backend = await startBackend(json({ ok: true }));
    let gateway: Operations | undefined;
    try {
      const document = config({ ...settings, host: redis.address });
      gateway = await startGateway({
        ...document,
        host: [backend.url],
        endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/' }] }],
      });
      const statuses = [];
      for (const id of ['a', 'a', 'a', 'b']) {
        statuses.push((await gateway.inject({ url: '/a', headers: { 'x-id': id } })).statusCode);
      }
      deepEqual(statuses, [200, 200, 429, 200]);
      equal(((await redis.command('KEYS', 'sluice:ratelimit:client:service*')) as string[]).length, 2);
    } finally {
      await gateway?.close();
      await backend.close();
      await redis.close();
    }
  });

  it('causes a warning and works if other Redis connections are declared', async () => {
    const redis = { redis: { connection_pools: [{ name: 'other', address: 'a' }] } };
    deepEqual(await found(config(settings, redis)), [[], [['CONFIG_OLD_PLUGIN', `${AT}/redis-ratelimit`]]]);
    deepEqual(await found(config({ ...settings, tokenizer: 'ip', tokenizer_field: undefined })), [
      [],
      [['CONFIG_OLD_PLUGIN', `${AT}/redis-ratelimit`]],
    ]);
  });

  for (const [what, own, code, pointer] of [
    ['no settings', undefined, 'REDIS_RATELIMIT_FORM', AT],
    ['no host', { ...settings, host: 1 }, 'REDIS_RATELIMIT_FORM', `${AT}/redis-ratelimit/host`],
    [
      'a burst that is not a number',
      { ...settings, burst: '2' },
      'REDIS_RATELIMIT_FORM',
      `${AT}/redis-ratelimit/burst`,
    ],
    ['an unknown field', { ...settings, bursts: 2 }, 'REDIS_RATELIMIT_FORM', `${AT}/redis-ratelimit/bursts`],
    [
      'clients identified by a token',
      { ...settings, tokenizer: 'jwt' },
      'CONFIG_NOT_SUPPORTED',
      `${AT}/redis-ratelimit/tokenizer`,
    ],
  ] as const) {
    it(`is rejected with ${what}`, async () => {
      const [errors] = await found(config(own));
      deepEqual(errors, [[code, pointer]]);
    });
  }

  it('cannot be combined with the native rate limit that it is converted to', async () => {
    const [errors] = await found(
      config(settings, {
        'qos/ratelimit/service/redis': { connection_name: 'x', max_rate: 1 },
        redis: { connection_pools: [{ name: 'x', address: 'a' }] },
      }),
    );
    deepEqual(errors, [['REDIS_RATELIMIT_FORM', AT]]);
  });
});
