import { deepEqual, ok } from 'node:assert/strict';
import { runCampaign } from '../../scripts/chaos/failures/campaign.ts';
import { runChaos } from '../../scripts/chaos/run.ts';
import { repetitions } from '../support/budget.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';

describe('reloads under load', () => {
  for (const workers of [1, 3]) {
    it(`lose no request, mix no responses and break no stream, with ${workers} ${workers === 1 ? 'process' : 'workers'}`, async function () {
      this.timeout(120_000);
      const least = { reloads: repetitions(12, 24), requests: repetitions(1000, 2000) };
      const { reloads, broken, tally } = await runChaos({ ...least, workers });
      deepEqual(tally.failures, []);
      ok(reloads >= least.reloads && broken >= least.reloads / 3);
      ok(tally.requests >= least.requests && tally.events > 0);
    });
  }
});

(withoutRedis ? describe.skip : describe)(`injected failures of the system ${withoutRedis ?? ''}`.trim(), () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.close());

  // Tries two plans; `node scripts/chaos.ts --minutes 2` tries all of them.
  it('fail only the requests that arrive while no file descriptors are left, lose no saved change and end no process', async function () {
    this.timeout(120_000);
    const { rounds, failures } = await runCampaign({ rounds: 2, seed: 1, workers: 1, redis: redis.address });
    deepEqual(failures, []);
    ok(rounds[0]!.plan.startsWith('no descriptors (100') && (rounds[0]!.statuses['500'] ?? 0) > 0);
  });
});
