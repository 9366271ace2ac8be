import { deepEqual, equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { until } from '../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import { Switch } from './switch.ts';

/** Number of requests that a client can send in ten minutes. */
const LIMIT = 10;
const limit = { connection_name: 'c', client_max_rate: LIMIT, client_capacity: LIMIT, every: '10m', strategy: 'ip' };

(withoutRedis ? describe.skip : describe)(
  `a rate limit in Redis during a failover ${withoutRedis ?? ''}`.trim(),
  function () {
    this.timeout(60_000);
    let backend: TestBackend;
    let primary: TestRedis;
    let replica: TestRedis;
    let address: Switch;
    let gateway: Operations;

    before(async () => {
      backend = await startBackend(json({ ok: true }));
    });
    after(() => backend.close());
    beforeEach(async () => {
      primary = await startRedis();
      replica = await startRedis(['--replicaof', `127.0.0.1 ${primary.port}`, '--repl-diskless-sync-delay', '0']);
      address = await Switch.open(primary.port);
      gateway = await startGateway({
        extra_config: {
          redis: { connection_pools: [{ name: 'c', address: `127.0.0.1:${address.port}`, command_timeout: '20s' }] },
        },
        endpoints: [
          {
            endpoint: '/a',
            timeout: '40s',
            extra_config: { 'qos/ratelimit/router/redis': limit },
            backend: [{ host: [backend.url], url_pattern: '/' }],
          },
        ],
      });
    });
    afterEach(async () => {
      await gateway.close();
      await address.close();
      await Promise.all([primary.close(), replica.close()]);
    });

    const ask = async (): Promise<number> => (await gateway.inject('/a')).statusCode;
    const askTimes = async (times: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let count = 0; count < times; count++) statuses.push(await ask());
      return statuses;
    };
    /** Commands that a server has executed for the gateway. */
    const counted = async (server: TestRedis): Promise<number> => {
      const text = String(await server.command('INFO', 'commandstats'));
      const calls = [...text.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+).*?failed_calls=(\d+)/g)];
      return calls.reduce((sum, [, all, failed]) => sum + Number(all) - Number(failed), 0);
    };
    const inSync = () => until(async () => Number(await primary.command('WAIT', '1', '1000')) === 1);
    const promote = async (): Promise<void> => {
      await replica.command('REPLICAOF', 'NO', 'ONE');
      address.retarget(replica.port);
    };
    const allowed = (times: number) => [...new Array<number>(times).fill(200), 429];

    it('fails only the request whose response is lost, counts it once, and continues on the replica', async () => {
      deepEqual(await askTimes(3), [200, 200, 200]);
      const before = await counted(primary);
      await address.fail('mute');
      const caught = ask();
      await until(async () => (await counted(primary)) > before);
      await inSync();
      await primary.stop();
      equal(await caught, 500);
      await promote();
      await address.mend();
      await until(async () => (await ask()) === 200);
      deepEqual(await askTimes(LIMIT - 4), allowed(LIMIT - 5));
    });

    it('leaves a primary that has become a replica at its first error', async () => {
      deepEqual(await askTimes(3), [200, 200, 200]);
      await inSync();
      await promote();
      await primary.command('REPLICAOF', '127.0.0.1', String(replica.port));
      await until(async () => (await ask()) === 200);
      deepEqual(await askTimes(LIMIT - 3), allowed(LIMIT - 4));
    });

    it('counts from zero after Redis has restarted without its data', async () => {
      deepEqual(await askTimes(LIMIT + 1), allowed(LIMIT));
      await primary.stop();
      equal(await ask(), 500);
      await primary.start();
      await until(async () => (await ask()) === 200);
      deepEqual(await askTimes(LIMIT), allowed(LIMIT - 1));
    });
  },
);
