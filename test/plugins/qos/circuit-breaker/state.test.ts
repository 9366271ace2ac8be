import { deepEqual, equal, rejects } from 'node:assert/strict';
import { CancelledError, Reply } from '#contract';
import {
  type BreakerSettings,
  createBreaker,
  enter,
  follow,
  leave,
  OPEN,
} from '../../../../plugins/qos/circuit-breaker/state.ts';
import { bad, breaker, good } from './fixture.ts';

describe('the states of a circuit breaker', () => {
  it('opens at the first failure beyond max_errors and then no longer calls the backend', async () => {
    const { behind, gate, send } = await breaker();
    deepEqual(await send(4), [
      'invalid status code',
      'invalid status code',
      'invalid status code',
      'circuit breaker is open',
    ]);
    equal(behind.calls, 3);
    equal((await gate.send('GET /')).status, 500);
  });

  it('opens at the first failure when max_errors is 0', async () => {
    const { behind, send } = await breaker({ max_errors: 0 });
    await send(3);
    equal(behind.calls, 1);
  });

  it('counts failures in a row only', async () => {
    const { behind, send } = await breaker();
    for (const respond of [bad, bad, good, bad, bad, good]) {
      behind.answer = respond;
      await send();
    }
    equal(behind.calls, 6);
  });

  it('closes again when the trial after the timeout succeeds', async () => {
    const { behind, clock, send } = await breaker();
    await send(4);
    behind.answer = good;
    clock.time += 1100;
    deepEqual(await send(2), ['200', '200']);
    equal(behind.calls, 5);
  });

  it('starts from no failures after it has closed again', async () => {
    const { behind, clock, send } = await breaker();
    await send(3);
    behind.answer = good;
    clock.time += 1000;
    await send();
    behind.answer = bad;
    await send(2);
    equal(behind.calls, 6);
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('opens for a full timeout again when the trial fails', async () => {
    const { behind, clock, send } = await breaker();
    await send(4);
    clock.time += 1100;
    await send(2);
    equal(behind.calls, 4);
    clock.time += 999;
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 1;
    await send();
    equal(behind.calls, 5);
  });

  it('stays open for a minute when timeout is 0', async () => {
    const { behind, clock, send } = await breaker({ timeout: 0 });
    await send(3);
    clock.time += 59_999;
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 1;
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('forgets the failures of an earlier window', async () => {
    const { behind, clock, send } = await breaker({ interval: 1 });
    await send(2);
    clock.time += 1200;
    await send(2);
    equal(behind.calls, 4);
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('remembers failures until the window ends, to the millisecond', async () => {
    const { behind, clock, send } = await breaker({ interval: 2 });
    clock.time += 5000;
    await send(2);
    clock.time += 999;
    await send(2);
    equal(behind.calls, 3);
  });

  it('begins its next window where the last one ended', async () => {
    const { clock, send } = await breaker({ interval: 1, max_errors: 1 });
    clock.time += 1500;
    await send();
    clock.time += 499;
    await send();
    deepEqual(await send(), ['circuit breaker is open']);
  });

  it('lets no second trial through, however long the first one takes', async () => {
    const { behind, clock, gate, send } = await breaker();
    await send(3);
    clock.time += 1000;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    behind.answer = () => promise;
    const trial = gate.send('GET /');
    clock.time += 5000;
    deepEqual(await send(), ['too many requests']);
    resolve(good());
    await trial;
    equal(behind.calls, 4);
  });

  it('counts a throw as a failure', async () => {
    const { behind, gate, send } = await breaker({ max_errors: 1 }, () => Promise.reject(new Error('bug')));
    await rejects(gate.send('GET /'), /bug/);
    behind.answer = () => {
      throw new Error('bug');
    };
    await rejects(gate.send('GET /'), /bug/);
    deepEqual(await send(), ['circuit breaker is open']);
  });

  it('counts its windows from the moment it closed, whenever calls come', async () => {
    const { behind, clock, send } = await breaker({ interval: 1, max_errors: 1 });
    clock.time += 1900;
    await send();
    clock.time += 100;
    await send();
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('never forgets failures when interval is 0', async () => {
    const { behind, clock, send } = await breaker({ interval: 0 });
    await send(2);
    clock.time += 1e9;
    await send(2);
    equal(behind.calls, 3);
  });

  it('lets one trial through while half-open and refuses the others at once', async () => {
    const { behind, clock, gate, send } = await breaker();
    await send(3);
    clock.time += 1000;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    behind.answer = () => promise;
    const trial = gate.send('GET /');
    deepEqual(await send(2), ['too many requests', 'too many requests']);
    resolve(good());
    equal((await trial).status, 200);
    equal(behind.calls, 4);
  });

  it('ignores a late result of an earlier state', async () => {
    const { behind, clock, gate, send } = await breaker();
    const late = Promise.withResolvers<Reply>();
    behind.answer = () => late.promise;
    const slow = gate.send('GET /');
    behind.answer = bad;
    await send(3);
    clock.time += 1000;
    const trying = Promise.withResolvers<Reply>();
    behind.answer = () => trying.promise;
    const trial = gate.send('GET /');
    late.resolve(good());
    await slow;
    deepEqual(await send(), ['too many requests']);
    trying.resolve(bad());
    await trial;
    deepEqual(await send(), ['circuit breaker is open']);
  });

  it('ignores a late failure of an earlier window', async () => {
    const { behind, clock, gate, send } = await breaker({ interval: 1, max_errors: 0 });
    const late = Promise.withResolvers<Reply>();
    behind.answer = () => late.promise;
    const slow = gate.send('GET /');
    clock.time += 1000;
    late.resolve(bad());
    await slow;
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('makes another trial after a cancelled one', async () => {
    const { behind, clock, send } = await breaker();
    await send(3);
    clock.time += 1000;
    behind.answer = () => Reply.failed(new CancelledError());
    await send();
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('does not stay half-open for ever when a trial throws or rejects', async () => {
    const { behind, clock, gate, send } = await breaker();
    await send(3);
    for (const respond of [
      () => {
        throw new Error('bug');
      },
      () => Promise.reject(new Error('bug')),
    ]) {
      clock.time += 1000;
      behind.answer = respond;
      await rejects(gate.send('GET /'), /bug/);
      deepEqual(await send(), ['circuit breaker is open']);
    }
  });
});

describe('a circuit breaker that follows that of another worker', () => {
  function following() {
    const clock = { time: 1_000_000, now: () => clock.time };
    const settings: BreakerSettings = { clock, maxErrors: 1, intervalMs: 0, openMs: 1000, changed() {} };
    return { clock, settings, breaker: createBreaker(clock) };
  }

  it('opens with it, and tries again when its time is over', () => {
    const { clock, settings, breaker } = following();
    follow(breaker, clock, { state: 'open', ageMs: 400 });
    equal(enter(breaker, settings), OPEN);
    clock.time += 599;
    equal(enter(breaker, settings), OPEN);
    clock.time += 1;
    leave(breaker, settings, enter(breaker, settings), 'success');
    equal(breaker.state, 'closed');
  });

  it('closes with it', () => {
    const { clock, settings, breaker } = following();
    follow(breaker, clock, { state: 'open', ageMs: 0 });
    follow(breaker, clock, { state: 'closed', ageMs: 0 });
    equal(enter(breaker, settings) >= 0, true);
  });

  it('continues to count its own failures if it is closed already', () => {
    const { clock, settings, breaker } = following();
    const fail = () => leave(breaker, settings, enter(breaker, settings), 'failure');
    fail();
    follow(breaker, clock, { state: 'closed', ageMs: 0 });
    fail();
    equal(breaker.state, 'open');
  });

  it('ignores how a call ends that was made before', () => {
    const { clock, settings, breaker } = following();
    const ticket = enter(breaker, settings);
    follow(breaker, clock, { state: 'open', ageMs: 0 });
    leave(breaker, settings, ticket, 'success');
    equal(breaker.state, 'open');
  });
});
