import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { YieldScheduler } from '../../../kernel/contract/internal.ts';

describe('long work in slices', () => {
  let now = 0;
  beforeEach(() => {
    now = 1000;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.reset());

  it('has its stretch over after half a millisecond, and a new one after the turn of the others', async () => {
    const scheduler = new YieldScheduler();
    now += 0.5;
    equal(scheduler.due, false);
    now += 0.5;
    equal(scheduler.due, true);
    let hadTurn = false;
    setImmediate(() => {
      hadTurn = true;
    });
    await scheduler.yield();
    equal(hadTurn, true);
    equal(scheduler.due, false);
  });
});
