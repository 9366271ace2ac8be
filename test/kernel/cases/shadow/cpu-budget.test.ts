import { equal, ok } from 'node:assert/strict';
import { CpuBudget } from '../../../../kernel/cases/shadow/cpu-budget.ts';

describe('the processor budget of a shadow run', () => {
  let now: number;
  let cpuMs: number;
  let budget: CpuBudget;
  const source = { now: () => now, cpuMs: () => cpuMs };
  beforeEach(() => {
    [now, cpuMs] = [1000, 0];
    budget = new CpuBudget(source);
  });

  /** Requests that use this much processor time each, as many as are admitted until the clock reaches a time. */
  function run(costMs: number, untilMs: number, stepMs = 1): { admitted: number; skipped: number } {
    let [admitted, skipped] = [0, 0];
    for (; now < untilMs; now += stepMs) {
      const finished = budget.admit();
      if (!finished) skipped++;
      else {
        admitted++;
        cpuMs += costMs;
        finished();
      }
    }
    return { admitted, skipped };
  }

  it('is a fifth of a core on average, with a burst of one second', () => {
    const { skipped } = run(50, 101_000, 10);
    ok(skipped > 0);
    ok(cpuMs <= 0.2 * 100_000 + 1000 + 50, `${cpuMs} ms`);
    ok(cpuMs >= 0.2 * 100_000, `${cpuMs} ms`);
  });

  it('admits every request of a candidate that needs less', () => {
    equal(run(1, 11_000, 10).skipped, 0);
  });

  it('includes the time of building the candidate', () => {
    cpuMs = 3000;
    equal(budget.admit(), null);
    now += 9_000;
    equal(budget.admit(), null);
    now += 1_100;
    ok(budget.admit());
  });

  it('does not save up more than one second of processor time', () => {
    now += 3_600_000;
    equal(budget.admit() === null, false);
    cpuMs += 1001;
    equal(budget.admit(), null);
  });

  it('reserves the cost of requests in progress', () => {
    const running: (() => void)[] = [];
    for (let finished = budget.admit(); finished; finished = budget.admit()) running.push(finished);
    equal(running.length, 10);
    running[0]!();
    ok(budget.admit());
  });

  it('learns the cost of requests', () => {
    run(50, 200_000, 100);
    now += 3_600_000;
    let running = 0;
    while (budget.admit()) running++;
    ok(running < 30, `${running} at once`);
  });
});
