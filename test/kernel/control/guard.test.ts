import { deepEqual, equal } from 'node:assert/strict';
import { evaluate, type GuardedEndpoint, type GuardOptions, watchGuard } from '../../../kernel/control/guard.ts';
import { EndpointTraffic } from '../../../kernel/pipeline/traffic/endpoint-traffic.ts';
import { noTraffic, type TrafficWindow } from '../../../kernel/pipeline/traffic/window.ts';
import { handTimers } from '../../support/hand-timers.ts';

/** Calls of one latency, some of which failed. */
function traffic(calls: number, { errors = 0, latencyMs = 10 } = {}): TrafficWindow {
  const made = new EndpointTraffic();
  for (let at = 0; at < calls; at++) made.record(latencyMs, at < errors ? 502 : 200);
  return made.snapshot();
}

describe('the judgement of a guarded change', () => {
  it('finds nothing when all is as it was', () => {
    equal(evaluate(traffic(100), traffic(100)), null);
  });

  it('counts a rise of the error rate by more than five points', () => {
    equal(
      evaluate(traffic(100, { errors: 10 }), traffic(100, { errors: 16 })),
      'errors rose from 10.0 % to 16.0 % (16 of 100 calls)',
    );
  });

  it('bears a rise of the error rate by five points', () => {
    equal(evaluate(traffic(100, { errors: 10 }), traffic(100, { errors: 15 })), null);
  });

  it('bears many errors when there were as many before', () => {
    equal(evaluate(traffic(100, { errors: 90 }), traffic(100, { errors: 90 })), null);
  });

  it('tells nothing from fewer than twenty calls', () => {
    equal(evaluate(traffic(100), traffic(19, { errors: 19 })), null);
  });

  it('judges from twenty calls on', () => {
    equal(evaluate(traffic(100), traffic(20, { errors: 20 })), 'errors rose from 0.0 % to 100.0 % (20 of 20 calls)');
  });

  it('compares the errors of an endpoint without traffic before with none', () => {
    equal(evaluate(noTraffic, traffic(50, { errors: 5 })), 'errors rose from 0.0 % to 10.0 % (5 of 50 calls)');
  });

  it('does not mind how slow an endpoint without traffic before is', () => {
    equal(evaluate(noTraffic, traffic(50, { latencyMs: 30_000 })), null);
  });

  it('counts a p99 of more than twice what it was', () => {
    const reason = evaluate(traffic(100, { latencyMs: 100 }), traffic(100, { latencyMs: 400 }));
    equal(reason?.replace(/[\d.]+ ms/g, '_ ms'), 'p99 rose from _ ms to _ ms (100 calls)');
  });

  it('bears a p99 of less than twice what it was', () => {
    equal(evaluate(traffic(100, { latencyMs: 400 }), traffic(100, { latencyMs: 600 })), null);
  });

  it('bears a p99 that is many times what it was but less than 50 ms above', () => {
    equal(evaluate(traffic(100, { latencyMs: 1 }), traffic(100, { latencyMs: 40 })), null);
  });

  it('sees the slow calls behind many fast ones', () => {
    const after = new EndpointTraffic();
    for (let at = 0; at < 98; at++) after.record(10, 200);
    for (let at = 0; at < 2; at++) after.record(2_000, 200);
    equal(evaluate(traffic(100), after.snapshot())?.startsWith('p99 rose'), true);
  });

  it('bears a p99 that one call in a hundred and one exceeds', () => {
    const after = new EndpointTraffic();
    for (let at = 0; at < 100; at++) after.record(10, 200);
    after.record(2_000, 200);
    equal(evaluate(traffic(100), after.snapshot()), null);
  });

  it('keeps to the thresholds it is given', () => {
    const strict = { errorRatePoints: 1, p99Factor: 1.2, minimumCalls: 5 };
    deepEqual(
      [
        evaluate(traffic(100), traffic(5, { errors: 1 }), strict) !== null,
        evaluate(traffic(100, { latencyMs: 400 }), traffic(5, { latencyMs: 600 }), strict) !== null,
      ],
      [true, true],
    );
  });
});

/** A guard over some endpoints, and what it said when. */
function guarded(endpoints: () => readonly GuardedEndpoint[], options: Partial<GuardOptions> = {}) {
  const timers = handTimers();
  const said: string[] = [];
  const guard = watchGuard({
    durationMs: 10_000,
    endpoints,
    onWorse: (reason) => said.push(`${timers.now()} ${reason}`),
    onPassed: () => said.push(`${timers.now()} passed`),
    onUndecided: (calls) => said.push(`${timers.now()} undecided after ${calls} calls`),
    timers,
    ...options,
  });
  return { timers, said, guard };
}

describe('the guard', () => {
  const bad = traffic(20, { errors: 20 });
  const why = 'errors rose from 0.0 % to 100.0 % (20 of 20 calls)';

  it('passes a change that was never worse, when its time is over', () => {
    const { timers, said } = guarded(() => [{ key: 'GET /a', before: traffic(50), after: traffic(50) }]);
    timers.advance(9_999);
    deepEqual(said, []);
    timers.advance(100_000);
    deepEqual(said, ['10000 passed']);
  });

  it('tells at its next look that an endpoint is worse, once, and looks no more', () => {
    let after = noTraffic;
    let looks = 0;
    const { timers, said } = guarded(() => {
      looks++;
      return [{ key: 'GET /a', before: traffic(50), after }];
    });
    timers.advance(2_500);
    after = bad;
    timers.advance(100_000);
    deepEqual([said, looks], [[`3000 GET /a: ${why}`], 3]);
  });

  it('names the first of several endpoints and counts the others', () => {
    const { timers, said } = guarded(() =>
      ['GET /a', 'GET /b', 'GET /c', 'GET /d'].map((key) => ({
        key,
        before: noTraffic,
        after: key === 'GET /a' ? noTraffic : bad,
      })),
    );
    timers.advance(1_000);
    deepEqual(said, [`1000 GET /b: ${why}, and 2 more`]);
  });

  it('looks a last time at the very end', () => {
    let after = noTraffic;
    const { timers, said } = guarded(() => [{ key: 'GET /a', before: noTraffic, after }], { durationMs: 1_500 });
    timers.advance(1_499);
    after = bad;
    timers.advance(1);
    deepEqual(said, [`1500 GET /a: ${why}`]);
  });

  it('checks at the configured interval', () => {
    let looks = 0;
    const count = () => {
      looks++;
      return [];
    };
    const { timers } = guarded(count, { intervalMs: 100 });
    timers.advance(1_000);
    equal(looks, 10);
  });

  it('says nothing after it was stopped', () => {
    const { timers, said, guard } = guarded(() => [{ key: 'GET /a', before: noTraffic, after: bad }]);
    timers.advance(500);
    guard.stop();
    timers.advance(100_000);
    deepEqual(said, []);
  });

  it('keeps to its thresholds', () => {
    const { timers, said } = guarded(() => [{ key: 'GET /a', before: noTraffic, after: bad }], {
      thresholds: { errorRatePoints: 5, p99Factor: 2, minimumCalls: 21 },
    });
    timers.advance(10_000);
    deepEqual(said, ['10000 undecided after 20 calls']);
  });

  it('does not confirm a change without any calls', () => {
    const { timers, said } = guarded(() => []);
    timers.advance(10_000);
    deepEqual(said, ['10000 undecided after 0 calls']);
  });

  it('could decide when one endpoint had calls enough', () => {
    const { timers, said } = guarded(() => [
      { key: 'GET /a', before: noTraffic, after: traffic(3) },
      { key: 'GET /b', before: noTraffic, after: traffic(20) },
    ]);
    timers.advance(10_000);
    deepEqual(said, ['10000 passed']);
  });
});
