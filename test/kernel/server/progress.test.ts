import { equal } from 'node:assert/strict';
import { Progress, pauseOf } from '../../../kernel/server/port/progress.ts';

describe('the write progress of a response', () => {
  const waiting = { waits: true, bytes: 100, rest: 50 };

  it('measures the time for which waiting data has made no progress', () => {
    const progress = new Progress();
    equal(progress.stalledMs(waiting, 1000), 0);
    equal(progress.stalledMs(waiting, 1300), 300);
    equal(progress.stalledMs({ ...waiting, rest: 49 }, 1400), 0);
    equal(progress.stalledMs({ ...waiting, rest: 49 }, 1450), 50);
    equal(progress.stalledMs({ ...waiting, bytes: 150 }, 1500), 0);
  });

  it('measures no stall while no data waits, and starts again with the next waiting data', () => {
    const progress = new Progress();
    progress.stalledMs(waiting, 0);
    equal(progress.stalledMs({ ...waiting, waits: false }, 5000), 0);
    equal(progress.stalledMs(waiting, 6000), 0);
    equal(progress.stalledMs(waiting, 6400), 400);
  });

  it('is checked often enough for the time limit, and at least every 5 s', () => {
    equal(pauseOf(100), 25);
    equal(pauseOf(1), 1);
    equal(pauseOf(60_000), 5000);
  });
});
