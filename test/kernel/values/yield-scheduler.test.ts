import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { scheduler } from '../../../kernel/contract/internal.ts';
import { turnsDuring } from '../../support/turns.ts';

describe('long work that yields to requests', () => {
  let now: number;
  beforeEach(async () => {
    now = performance.now();
    mock.method(performance, 'now', () => now);
    await scheduler.yield();
    // Advances the clock, so that the last observed request was long ago.
    now += 1000;
  });
  afterEach(() => mock.reset());

  it('yields after half a millisecond', async () => {
    equal(scheduler.due, false);
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

  it('starts a new slice with every turn of the event loop', async () => {
    equal(scheduler.due, false);
    now += 5;
    await new Promise((resolve) => setImmediate(resolve));
    equal(scheduler.due, false);
  });

  it('continues after one turn without recent requests', async () => {
    equal((await turnsDuring(() => scheduler.yield())) <= 2, true);
  });

  it('pauses for a millisecond between two slices, so that requests are served', async () => {
    scheduler.noticeRequest();
    for (let slice = 0; slice < 2; slice++) {
      let isOver = false;
      setTimeout(() => {
        isOver = true;
      }, 1);
      await scheduler.yield();
      equal(isOver, true);
    }
  });

  it('uses longer slices if requests take longer, up to three milliseconds', async () => {
    for (const [othersMs, sliceMs] of [
      [0, 0.5],
      [8, 2],
      [100, 3],
    ] as const) {
      setImmediate(() => {
        now += othersMs;
      });
      await scheduler.yield();
      equal(scheduler.due, false);
      now += sliceMs;
      equal(scheduler.due, false);
      now += 0.01;
      equal(scheduler.due, true);
    }
  });
});
