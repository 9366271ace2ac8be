import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { Call, CancelledError, defineSlot, type Log, type Outcome } from '#contract';
import { DeadlineError, silentLog } from '../../../kernel/contract/internal.ts';
import { until } from '../../support/conditions.ts';

const user = defineSlot<string>('test user');
const outcome: Outcome = { status: 200, completed: true, reason: null };

describe('the class Call:', () => {
  describe('values of a call', () => {
    it('are visible to the whole request', () => {
      const call = new Call();
      const section = call.fork();
      section.set(user, 'ada');
      equal(call.get(user), 'ada');
      equal(call.fork().get(user), 'ada');
      call.finish();
    });

    it('set with with() are not visible to sibling calls', () => {
      const call = new Call();
      call.set(user, 'ada');
      const first = call.with(user, 'bob');
      const second = call.with(user, 'eve');
      deepEqual([first.get(user), second.get(user), call.get(user)], ['bob', 'eve', 'ada']);
    });

    it('set with with() are visible to calls forked from the call', () => {
      const section = new Call().with(user, 'bob');
      equal(section.fork().get(user), 'bob');
      equal(section.with(defineSlot('other'), 1).get(user), 'bob');
    });

    it('are found by the name of their slot, regardless of which module defined it', () => {
      const call = new Call();
      call.set(defineSlot('test user'), 'ada');
      equal(call.get(user), 'ada');
    });
  });

  describe('a call derived with with()', () => {
    it('shares deadline and cancellation with the original', () => {
      const call = new Call(silentLog, 60_000);
      const section = call.with(user, 'bob');
      equal(section.deadline, call.deadline);
      section.cancel();
      ok(call.reason instanceof CancelledError);
      ok(section.signal.aborted);
    });
  });

  describe('a canceled call', () => {
    it('cancels the calls forked from it, at every level', () => {
      const call = new Call();
      const grandchild = call.fork().fork();
      call.cancel();
      ok(grandchild.reason instanceof CancelledError);
    });

    it('does not cancel the call that it was forked from', () => {
      const call = new Call();
      call.fork().cancel();
      equal(call.reason, null);
    });

    it('cancels a call that is forked from it later, at once', () => {
      const call = new Call();
      call.cancel();
      ok(call.fork(60_000).reason instanceof CancelledError);
    });

    it('notifies each listener once, in order, and none that has unsubscribed', () => {
      const call = new Call();
      const heard: string[] = [];
      call.onCancel(() => heard.push('first'));
      const second = call.onCancel(() => heard.push('second'));
      call.onCancel(() => heard.push('third'));
      second.off();
      second.off();
      call.cancel();
      call.cancel();
      deepEqual(heard, ['first', 'third']);
    });

    it('notifies a later listener at once', () => {
      const call = new Call();
      const reason = new CancelledError();
      call.cancel(reason);
      const heard: Error[] = [];
      call.onCancel((reported) => heard.push(reported)).off();
      deepEqual(heard, [reason]);
    });

    it('has one AbortSignal, aborted with the reason, regardless of when the signal is first requested', () => {
      const reason = new CancelledError();
      const before = new Call();
      const { signal } = before;
      equal(signal.aborted, false);
      before.cancel(reason);
      const after = new Call();
      after.cancel(reason);
      for (const call of [before, after]) {
        equal(call.signal, call.signal);
        deepEqual([call.signal.aborted, call.signal.reason], [true, reason]);
      }
      equal(before.signal, signal);
    });

    it('keeps the first reason if it is canceled twice', () => {
      const call = new Call();
      const reason = new CancelledError();
      call.cancel(reason);
      call.cancel(new DeadlineError());
      equal(call.reason, reason);
    });

    it('allows unsubscribing while others are being notified', () => {
      const call = new Call();
      const heard: string[] = [];
      call.onCancel(() => {
        heard.push('first');
        second.off();
      });
      const second = call.onCancel(() => heard.push('second'));
      call.cancel();
      deepEqual(heard, ['first']);
    });
  });

  describe('the deadline of a call', () => {
    it('can only be moved earlier', () => {
      const call = new Call(silentLog, 1_000);
      const { deadline } = call;
      call.limit(2_000);
      equal(call.deadline, deadline);
      call.limit(10);
      ok(call.deadline < deadline);
      call.finish();
    });

    it('cancels the call when it passes', async () => {
      const call = new Call(silentLog, 1);
      const reason = await new Promise<Error>((resolve) => call.onCancel(resolve));
      ok(reason instanceof DeadlineError);
    });

    it('of a fork is never later than the deadline of the call', () => {
      const call = new Call(silentLog, 1_000);
      const fork = call.fork(60_000);
      equal(fork.deadline, call.deadline);
      fork.finish();
      call.finish();
    });
  });

  describe('the timer of a call', () => {
    let timers: number;
    beforeEach(() => {
      mock.timers.enable({ apis: ['setTimeout'] });
      timers = 0;
      const { setTimeout, clearTimeout } = globalThis;
      const running = new Set<unknown>();
      mock.method(globalThis, 'setTimeout', (...given: Parameters<typeof setTimeout>) => {
        const timer = setTimeout(...given);
        running.add(timer);
        timers = running.size;
        return timer;
      });
      mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
        running.delete(timer);
        timers = running.size;
        clearTimeout(timer);
      });
    });
    afterEach(() => mock.reset());

    it('runs only if there is a deadline and a listener', () => {
      new Call().onCancel(() => {});
      equal(timers, 0);
      equal(new Call().deadline, Number.POSITIVE_INFINITY);
      const call = new Call(silentLog, 10);
      equal(timers, 0);
      call.onCancel(() => {});
      equal(timers, 1);
      ok(new Call(silentLog, 10).signal);
      equal(timers, 2);
      call.onCancel(() => {});
      equal(timers, 2);
    });

    it('is not needed to detect that a deadline has passed', () => {
      const call = new Call(silentLog, -5);
      ok(call.reason instanceof DeadlineError);
      equal(timers, 0);
      equal(new Call(silentLog, 1_000).reason, null);
    });

    it('is not started for a finished call', () => {
      const call = new Call(silentLog, 10);
      call.finish();
      call.onCancel(() => {});
      equal(timers, 0);
    });

    it('is replaced when the deadline is moved earlier', () => {
      const call = new Call(silentLog, 1_000);
      call.onCancel(() => {});
      call.limit(10);
      equal(timers, 1);
      mock.timers.tick(9);
      equal(call.signal.aborted, false);
      mock.timers.tick(1);
      ok(call.reason instanceof DeadlineError);
    });

    it('stops when the call is finished or canceled', () => {
      const finished = new Call(silentLog, 10);
      const cancelled = new Call(silentLog, 10);
      for (const call of [finished, cancelled]) call.onCancel(() => {});
      finished.finish();
      cancelled.cancel();
      equal(timers, 0);
      mock.timers.tick(10);
      equal(finished.reason, null);
      ok(cancelled.reason instanceof CancelledError);
    });

    it('is not started for a canceled call', () => {
      const call = new Call();
      call.cancel();
      call.limit(10);
      equal(timers, 0);
    });

    it('is started with the timeout and the log of its endpoint', () => {
      const call = new Call();
      const log = collecting([]);
      call.onCancel(() => {});
      call.enter(log, 10);
      equal(call.log, log);
      ok(call.remainingMs > 0 && call.remainingMs <= 10);
      mock.timers.tick(10);
      ok(call.reason instanceof DeadlineError);
    });

    it('fires at once if the deadline has passed', () => {
      const call = new Call(silentLog, -5);
      call.onCancel(() => {});
      mock.timers.tick(1);
      ok(call.reason instanceof DeadlineError);
    });
  });

  describe('a finished call', () => {
    it('is removed once from the list of its parent', () => {
      const call = new Call();
      const forks = [call.fork(), call.fork(), call.fork()];
      forks[1]!.finish();
      forks[1]!.finish();
      forks[1]!.cancel();
      call.cancel();
      deepEqual(
        forks.map(({ reason }) => reason === call.reason),
        [true, false, true],
      );
    });

    it('is no longer canceled by its parent', () => {
      const call = new Call();
      const fork = call.fork();
      fork.finish();
      call.cancel();
      equal(fork.reason, null);
    });
  });

  describe('an ended call', () => {
    it('notifies its listeners and those of its forks once', () => {
      const call = new Call();
      const reported: Outcome[] = [];
      call.fork().onEnd((end) => reported.push(end));
      call.end(outcome);
      call.end(outcome);
      deepEqual(reported, [outcome]);
    });

    it('logs what a listener throws and notifies the other listeners', () => {
      const lines: string[] = [];
      const call = new Call(collecting(lines));
      let reported = 0;
      call.onEnd(() => {
        throw new Error('no such exporter');
      });
      call.onEnd(() => reported++);
      call.end(outcome);
      equal(reported, 1);
      ok(lines[0]!.includes('no such exporter'), lines[0]);
    });
  });

  describe('background work of a call', () => {
    it('continues without a gateway, and its failure is logged', async () => {
      const lines: string[] = [];
      const call = new Call(collecting(lines));
      equal(call.host, null);
      call.background(Promise.reject(new Error('queue is away')));
      await until(() => lines.length > 0);
      ok(lines[0]!.includes('queue is away'), lines[0]);
    });

    it('is tracked by the gateway until it ends, and its failure is logged', async () => {
      const lines: string[] = [];
      const held: Promise<unknown>[] = [];
      const call = new Call(collecting(lines), undefined, { background: (work) => held.push(work) });
      call.fork().background(Promise.reject(new Error('queue is away')));
      equal(held.length, 1);
      await held[0];
      ok(lines[0]!.includes('queue is away'), lines[0]);
    });
  });
});

function collecting(lines: string[]): Log {
  return { ...silentLog, error: (message) => void lines.push(typeof message === 'function' ? message() : message) };
}
