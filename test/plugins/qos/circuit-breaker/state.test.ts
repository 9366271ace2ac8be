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
  it('open at the first failure beyond max_errors, so that the backend is no longer called', async () => {
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

  it('open at the first failure if max_errors is 0', async () => {
    const { behind, send } = await breaker({ max_errors: 0 });
    await send(3);
    equal(behind.calls, 1);
  });

  it('count consecutive failures only', async () => {
    const { behind, send } = await breaker();
    for (const respond of [bad, bad, good, bad, bad, good]) {
      behind.answer = respond;
      await send();
    }
    equal(behind.calls, 6);
  });

  it('close if the trial call after the timeout succeeds', async () => {
    const { behind, clock, send } = await breaker();
    await send(4);
    behind.answer = good;
    clock.time += 1100;
    deepEqual(await send(2), ['200', '200']);
    equal(behind.calls, 5);
  });

  it('restart at zero failures after closing', async () => {
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

  it('return to open for another timeout if the trial call fails', async () => {
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

  it('stay open for a minute if timeout is 0', async () => {
    const { behind, clock, send } = await breaker({ timeout: 0 });
    await send(3);
    clock.time += 59_999;
    deepEqual(await send(), ['circuit breaker is open']);
    clock.time += 1;
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('drop the failures of an earlier interval', async () => {
    const { behind, clock, send } = await breaker({ interval: 1 });
    await send(2);
    clock.time += 1200;
    await send(2);
    equal(behind.calls, 4);
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('keep failures exactly until the interval ends', async () => {
    const { behind, clock, send } = await breaker({ interval: 2 });
    clock.time += 5000;
    await send(2);
    clock.time += 999;
    await send(2);
    equal(behind.calls, 3);
  });

  it('start the next interval where the previous one ended', async () => {
    const { clock, send } = await breaker({ interval: 1, max_errors: 1 });
    clock.time += 1500;
    await send();
    clock.time += 499;
    await send();
    deepEqual(await send(), ['circuit breaker is open']);
  });

  it('allow one trial call at a time, however long it takes', async () => {
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

  it('count an exception as a failure', async () => {
    const { behind, gate, send } = await breaker({ max_errors: 1 }, () => Promise.reject(new Error('bug')));
    await rejects(gate.send('GET /'), /bug/);
    behind.answer = () => {
      throw new Error('bug');
    };
    await rejects(gate.send('GET /'), /bug/);
    deepEqual(await send(), ['circuit breaker is open']);
  });

  it('start the interval when the circuit breaker closes, regardless of calls', async () => {
    const { behind, clock, send } = await breaker({ interval: 1, max_errors: 1 });
    clock.time += 1900;
    await send();
    clock.time += 100;
    await send();
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('never drop failures if interval is 0', async () => {
    const { behind, clock, send } = await breaker({ interval: 0 });
    await send(2);
    clock.time += 1e9;
    await send(2);
    equal(behind.calls, 3);
  });

  it('allow one trial call while half-open and reject other calls immediately', async () => {
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

  it('ignore a late result of a call from an earlier state', async () => {
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

  it('ignore a late failure of a call from an earlier interval', async () => {
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

  it('allow another trial call if the first one is canceled', async () => {
    const { behind, clock, send } = await breaker();
    await send(3);
    clock.time += 1000;
    behind.answer = () => Reply.failed(new CancelledError());
    await send();
    behind.answer = good;
    deepEqual(await send(), ['200']);
  });

  it('do not stay half-open forever if a trial call throws or rejects', async () => {
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

describe('a circuit breaker that follows the breaker of another worker', () => {
  function following() {
    const clock = { time: 1_000_000, now: () => clock.time };
    const settings: BreakerSettings = { clock, maxErrors: 1, intervalMs: 0, openMs: 1000, changed() {} };
    return { clock, settings, breaker: createBreaker(clock) };
  }

  it('opens when the other one opens, and allows a trial call after the timeout', () => {
    const { clock, settings, breaker } = following();
    follow(breaker, clock, { state: 'open', ageMs: 400 });
    equal(enter(breaker, settings), OPEN);
    clock.time += 599;
    equal(enter(breaker, settings), OPEN);
    clock.time += 1;
    leave(breaker, settings, enter(breaker, settings), 'success');
    equal(breaker.state, 'closed');
  });

  it('closes when the other one closes', () => {
    const { clock, settings, breaker } = following();
    follow(breaker, clock, { state: 'open', ageMs: 0 });
    follow(breaker, clock, { state: 'closed', ageMs: 0 });
    equal(enter(breaker, settings) >= 0, true);
  });

  it('keeps counting its own failures if it is already closed', () => {
    const { clock, settings, breaker } = following();
    const fail = () => leave(breaker, settings, enter(breaker, settings), 'failure');
    fail();
    follow(breaker, clock, { state: 'closed', ageMs: 0 });
    fail();
    equal(breaker.state, 'open');
  });

  it('ignores the results of calls that began before it opened or closed', () => {
    const { clock, settings, breaker } = following();
    const ticket = enter(breaker, settings);
    follow(breaker, clock, { state: 'open', ageMs: 0 });
    leave(breaker, settings, ticket, 'success');
    equal(breaker.state, 'open');
  });
});
