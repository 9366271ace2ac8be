import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Mutex } from '../../../kernel/control/mutex.ts';

describe('turns', () => {
  let turns: Mutex;
  beforeEach(() => {
    turns = new Mutex();
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('are granted at once if none is taken, and returned', async () => {
    equal(turns.locked, false);
    const leave = await turns.acquire(0);
    equal(turns.locked, true);
    leave();
    equal(turns.locked, false);
  });

  it('are taken in the order in which they were asked for', async () => {
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

  it('are rejected at once to those who do not wait', async () => {
    await turns.acquire(0);
    await rejects(turns.acquire(0), { code: 'RELOAD_IN_PROGRESS' });
  });

  it('are rejected to those whose wait is over, and never taken by them', async () => {
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

  it('are not refused later to those who have got one', async () => {
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
