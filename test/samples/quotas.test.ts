import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { until } from '../support/conditions.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import { followGuide } from './guide.ts';
import { serveSample } from './serve.ts';

describe('the sample "quotas"', () => {
  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/quotas/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  (withoutRedis ? describe.skip : describe)(`with Redis ${withoutRedis ?? ''}`.trim(), () => {
    let redis: TestRedis;
    let sample: Awaited<ReturnType<typeof serveSample>>;

    before(async () => {
      redis = await startRedis();
      sample = await serveSample('quotas', (text) => text.replace('127.0.0.1:6379', redis.address));
    });
    after(async () => {
      await sample.close();
      await redis.close();
    });

    const ask = async (count: number, url: string, headers = {}) => {
      const statuses: number[] = [];
      for (; count > 0; count--) statuses.push((await sample.gateway.inject({ url, headers })).statusCode);
      return statuses;
    };

    it('has a guide whose commands print the output that it shows', async () => {
      await followGuide('quotas', { ports: { 6379: Number(redis.address.split(':').at(-1)) } });
      await redis.command('FLUSHALL');
    });

    it('limits callers according to their plan', async () => {
      const gold = { 'x-plan': 'gold', 'x-user': 'ada' };
      equal(
        (await sample.gateway.inject({ url: '/users/1', headers: gold })).headers['x-quota-remaining'],
        '"hour";n=2, "month";n=999',
      );
      deepEqual(await ask(2, '/users/1'), [200, 429]);
    });

    it('limits clients without Redis only by rate limits, while quotas reject all requests', async () => {
      deepEqual(await ask(3, '/home/1'), [200, 200, 429]);
      await redis.stop();
      await until(async () => (await ask(1, '/home/1'))[0] === 200);
      deepEqual(await ask(1, '/users/1', { 'x-plan': 'gold', 'x-user': 'bob' }), [500]);
    });
  });
});
