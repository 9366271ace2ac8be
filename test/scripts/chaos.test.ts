import { deepEqual, ok } from 'node:assert/strict';
import { runChaos } from '../../scripts/chaos/run.ts';

describe('reloads under load', () => {
  for (const workers of [1, 3]) {
    it(`lose no request, mix no answer and cut no stream, with ${workers} ${workers === 1 ? 'process' : 'workers'}`, async function () {
      this.timeout(120_000);
      const { reloads, broken, tally } = await runChaos({ reloads: 24, requests: 2000, workers });
      deepEqual(tally.failures, []);
      ok(reloads >= 24 && broken >= 8);
      ok(tally.requests >= 2000 && tally.events > 0);
    });
  }
});
