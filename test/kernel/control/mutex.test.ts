import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Mutex } from '../../../kernel/control/mutex.ts';

describe('a mutex', () => {
  let turns: Mutex;
  beforeEach(() => {
    turns = new Mutex();
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('is acquired at once if it is free, and released', async () => {
    equal(turns.locked, false);
    const leave = await turns.acquire(0);
    equal(turns.locked, true);
    leave();
    equal(turns.locked, false);
  });

  it('is acquired in the order of the requests', async () => {
    const order: string[] = [];
    const pass = async (name: string) => {
      const leave = await turns.acquire(Number.POSITIVE_INFINITY);
      order.push(`${name} enters`);
      await turn();
      order.push(`${name} leaves`);
      leave();
    };
    await Promise.all(['a', 'b', 'c'].map(pass));
    deepEqual(order, ['a enters', 'a leaves', 'b enters', 'b leaves', 'c enters', 'c leaves']);
    equal(turns.locked, false);
  });

  it('is denied immediately to callers that do not wait', async () => {
    await turns.acquire(0);
    await rejects(turns.acquire(0), { code: 'RELOAD_IN_PROGRESS' });
  });

  it('is denied to callers whose wait time is over, and never acquired for them', async () => {
    const leave = await turns.acquire(0);
    const late = turns.acquire(100);
    const patient = turns.acquire(1000);
    mock.timers.tick(99);
    const state = await Promise.race([late.catch(() => 'refused'), turn('waits')]);
    equal(state, 'waits');
    mock.timers.tick(1);
    await rejects(late, { code: 'RELOAD_IN_PROGRESS' });
    leave();
    const leaveAgain = await patient;
    equal(turns.locked, true);
    leaveAgain();
    equal(turns.locked, false);
  });

  it("stays with a caller that has acquired it, even when the caller's maximum wait is over", async () => {
    const leave = await turns.acquire(0);
    const next = turns.acquire(100);
    const behind = turns.acquire(Number.POSITIVE_INFINITY);
    leave();
    const leaveNext = await next;
    mock.timers.tick(100);
    leaveNext();
    (await behind)();
    equal(turns.locked, false);
  });
});
