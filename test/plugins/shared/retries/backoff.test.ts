import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { agentSchema } from '../../../../kernel/contract/agent.ts';
import { backOff, backoffField, backoffMs } from '../../../../plugins/shared/retries/backoff.ts';

describe('the backoff strategies for reconnecting', () => {
  const firstOf = (strategy: Parameters<typeof backoffMs>[0], random?: () => number) =>
    [0, 1, 2, 3, 10].map((attempt) => backoffMs(strategy, attempt, random));
  const least = () => 0;
  const most = () => 1 - Number.EPSILON;

  it('"linear" waits as many seconds as attempts were made, none before the first one, and at most a minute', () => {
    deepEqual(firstOf('linear'), [0, 1000, 2000, 3000, 10_000]);
    deepEqual(
      [59, 60, 61, 100_000].map((attempt) => backoffMs('linear', attempt)),
      [59_000, 60_000, 60_000, 60_000],
    );
  });

  it('"linear-jitter" waits up to a third shorter or longer, but never zero', () => {
    deepEqual(firstOf('linear-jitter', least), [1, 670, 1340, 2010, 6700]);
    deepEqual(firstOf('linear-jitter', most), [1, 1330, 2660, 3990, 13_300]);
  });

  it('"exponential" doubles the delay from a second up to a minute', () => {
    deepEqual(firstOf('exponential'), [1000, 2000, 4000, 8000, 60_000]);
    equal(backoffMs('exponential', 100_000), 60_000);
  });

  it('"exponential-jitter" waits up to a third shorter or longer', () => {
    deepEqual(firstOf('exponential-jitter', least), [670, 1340, 2680, 5360, 40_200]);
    deepEqual(firstOf('exponential-jitter', most), [1330, 2660, 5320, 10_640, 79_800]);
  });

  it('"fallback" always waits a second', () => {
    deepEqual(firstOf('fallback'), [1000, 1000, 1000, 1000, 1000]);
  });

  it('"jitter" varies from attempt to attempt', () => {
    const pauses = new Set(Array.from({ length: 50 }, () => backoffMs('exponential-jitter', 4)));
    ok(pauses.size > 1);
    ok([...pauses].every((ms) => ms >= 16_000 * 0.67 && ms <= 16_000 * 1.33));
  });

  it('are the strategies that agents accept', () => {
    deepEqual(agentSchema.properties.connection.properties.backoff_strategy.enum, backoffField.enum);
  });

  describe('delay an attempt', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    it('until the delay ends', async () => {
      let isOver = false;
      const waiting = backOff('linear', 2, new AbortController().signal).then(() => {
        isOver = true;
      });
      mock.timers.tick(1999);
      await Promise.resolve();
      equal(isOver, false);
      mock.timers.tick(1);
      await waiting;
    });

    it('not at all if the delay is zero', () => backOff('linear', 0, new AbortController().signal));

    it('no longer than the connection is needed', async () => {
      const giving = new AbortController();
      const waiting = backOff('exponential', 5, giving.signal);
      giving.abort();
      await waiting;
      await backOff('exponential', 5, giving.signal);
    });
  });
});
