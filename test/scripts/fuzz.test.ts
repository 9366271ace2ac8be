import { deepEqual, equal, rejects } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runCampaign } from '../../scripts/fuzz/campaign.ts';
import { keptInputs } from '../../scripts/fuzz/corpus.ts';
import { Find, judge } from '../../scripts/fuzz/judge.ts';
import { afterPatience } from '../../scripts/fuzz/patience.ts';
import { exactJson } from '../../scripts/fuzz/targets/exact-json.ts';
import { targets as loads } from '../../scripts/fuzz/targets/index.ts';
import { repetitions } from '../support/budget.ts';
import { until } from '../support/conditions.ts';

const targets = await Promise.all(Object.values(loads).map((load) => load()));

/** Time for random inputs of each target, in milliseconds; `npm run fuzz` searches for longer. */
const LIMIT_MS = repetitions(200, 5_000);

/** The same inputs in every run, so that a failure is caused by a change; `npm run fuzz` uses new ones. */
const seed = Number(process.env['SLUICE_FUZZ_SEED'] ?? 1);

describe(`fuzzing with random input (SLUICE_FUZZ_SEED=${seed})`, function () {
  this.timeout(180_000);

  for (const target of targets) {
    describe(target.name, () => {
      for (const { id, input } of keptInputs(target.name)) {
        it(`finds no error with the stored input ${id}`, async () => {
          const open = await target.open();
          try {
            await judge(target, open, input);
          } finally {
            await open.close();
          }
        });
      }

      it('finds no error with new input', async () => {
        const { find } = await runCampaign(target, { limitMs: LIMIT_MS, seed });
        equal(find && `${JSON.stringify(find.input)}\n${find.message}`, null);
      });
    });
  }

  it('does not treat input as too slow while the machine does not let the process run', async () => {
    let isLate = false;
    afterPatience(100, () => {
      isLate = true;
    });
    spin(300);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    equal(isLate, false);
    await until(() => isLate);
  });

  it('has targets whose code exists', () => {
    const missing = targets
      .flatMap(({ rooms }) => rooms)
      .filter((room) => !existsSync(fileURLToPath(new URL(`../../${room}`, import.meta.url))));
    deepEqual(missing, []);
  });

  it('reports violations of an invariant, and input that takes too long', async () => {
    const failing = {
      accept: () => {
        throw new Error('no');
      },
      close: async () => {},
    };
    await rejects(judge(exactJson, failing, ''), Find);
    const slow = { accept: () => spin(20), close: async () => {} };
    await rejects(judge({ ...exactJson, boundMs: 5 }, slow, ''), /takes \d+ ms/);
  });
});

/** Consumes CPU time, regardless of the load of the machine. */
function spin(ms: number): void {
  const since = process.threadCpuUsage();
  while (process.threadCpuUsage(since).user < ms * 1_000);
}
