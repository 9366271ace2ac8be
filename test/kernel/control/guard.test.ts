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

describe('the evaluation of a guarded change', () => {
  it('reports nothing if traffic is the same', () => {
    equal(evaluate(traffic(100), traffic(100)), null);
  });

  it('reports an error rate that rose by more than five points', () => {
    equal(
      evaluate(traffic(100, { errors: 10 }), traffic(100, { errors: 16 })),
      'errors rose from 10.0 % to 16.0 % (16 of 100 calls)',
    );
  });

  it('tolerates an error rate that rose by five points', () => {
    equal(evaluate(traffic(100, { errors: 10 }), traffic(100, { errors: 15 })), null);
  });

  it('tolerates many errors if there were as many before', () => {
    equal(evaluate(traffic(100, { errors: 90 }), traffic(100, { errors: 90 })), null);
  });

  it('reports nothing below twenty calls', () => {
    equal(evaluate(traffic(100), traffic(19, { errors: 19 })), null);
  });

  it('decides from twenty calls on', () => {
    equal(evaluate(traffic(100), traffic(20, { errors: 20 })), 'errors rose from 0.0 % to 100.0 % (20 of 20 calls)');
  });

  it('assumes no errors for an endpoint that had no traffic', () => {
    equal(evaluate(noTraffic, traffic(50, { errors: 5 })), 'errors rose from 0.0 % to 10.0 % (5 of 50 calls)');
  });

  it('ignores the latency of an endpoint that had no traffic', () => {
    equal(evaluate(noTraffic, traffic(50, { latencyMs: 30_000 })), null);
  });

  it('reports a p99 more than twice as high', () => {
    const reason = evaluate(traffic(100, { latencyMs: 100 }), traffic(100, { latencyMs: 400 }));
    equal(reason?.replace(/[\d.]+ ms/g, '_ ms'), 'p99 rose from _ ms to _ ms (100 calls)');
  });

  it('tolerates a p99 less than twice as high', () => {
    equal(evaluate(traffic(100, { latencyMs: 400 }), traffic(100, { latencyMs: 600 })), null);
  });

  it('tolerates a p99 many times as high if it rose by less than 50 ms', () => {
    equal(evaluate(traffic(100, { latencyMs: 1 }), traffic(100, { latencyMs: 40 })), null);
  });

  it('detects a few slow calls among many fast ones', () => {
    const after = new EndpointTraffic();
    for (let at = 0; at < 98; at++) after.record(10, 200);
    for (let at = 0; at < 2; at++) after.record(2_000, 200);
    equal(evaluate(traffic(100), after.snapshot())?.startsWith('p99 rose'), true);
  });

  it('tolerates one slow call in a hundred and one', () => {
    const after = new EndpointTraffic();
    for (let at = 0; at < 100; at++) after.record(10, 200);
    after.record(2_000, 200);
    equal(evaluate(traffic(100), after.snapshot()), null);
  });

  it('uses the configured thresholds', () => {
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

/** A guard that monitors some endpoints, and its reports with their times. */
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

describe('the guard of a change', () => {
  const bad = traffic(20, { errors: 20 });
  const why = 'errors rose from 0.0 % to 100.0 % (20 of 20 calls)';

  it('passes a change at the end of the guard period if it never performed worse', () => {
    const { timers, said } = guarded(() => [{ key: 'GET /a', before: traffic(50), after: traffic(50) }]);
    timers.advance(9_999);
    deepEqual(said, []);
    timers.advance(100_000);
    deepEqual(said, ['10000 passed']);
  });

  it('reports once at its next check that an endpoint performs worse, and then stops', () => {
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

  it('names the first of several endpoints that perform worse, and the number of the others', () => {
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

  it('checks once more at its end', () => {
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

  it('reports nothing after it was stopped', () => {
    const { timers, said, guard } = guarded(() => [{ key: 'GET /a', before: noTraffic, after: bad }]);
    timers.advance(500);
    guard.stop();
    timers.advance(100_000);
    deepEqual(said, []);
  });

  it('uses its thresholds', () => {
    const { timers, said } = guarded(() => [{ key: 'GET /a', before: noTraffic, after: bad }], {
      thresholds: { errorRatePoints: 5, p99Factor: 2, minimumCalls: 21 },
    });
    timers.advance(10_000);
    deepEqual(said, ['10000 undecided after 20 calls']);
  });

  it('remains undecided without any calls', () => {
    const { timers, said } = guarded(() => []);
    timers.advance(10_000);
    deepEqual(said, ['10000 undecided after 0 calls']);
  });

  it('decides if one endpoint had enough calls', () => {
    const { timers, said } = guarded(() => [
      { key: 'GET /a', before: noTraffic, after: traffic(3) },
      { key: 'GET /b', before: noTraffic, after: traffic(20) },
    ]);
    timers.advance(10_000);
    deepEqual(said, ['10000 passed']);
  });
});
