import { deepEqual, equal, ok } from 'node:assert/strict';
import { TrafficHistory } from '../../../kernel/control/traffic/traffic-history.ts';
import { statusClasses } from '../../../kernel/pipeline/traffic/backend-responses.ts';
import { type EndpointDelta, EndpointTraffic } from '../../../kernel/pipeline/traffic/endpoint-traffic.ts';
import { BUCKETS, between, bucketOf, joined, noTraffic, quantile } from '../../../kernel/pipeline/traffic/window.ts';
import { handTimers } from '../../support/hand-timers.ts';

function serving(...latencies: readonly number[]): EndpointTraffic {
  const traffic = new EndpointTraffic();
  for (const latencyMs of latencies) traffic.record(latencyMs, 200);
  return traffic;
}

function statusesOf({ statuses, backends }: EndpointTraffic) {
  return [statuses.snapshot(), ...Array.from(backends, ([name, counts]) => [name, counts.snapshot()]).sort()];
}

function isNear(actual: number | null, expected: number): void {
  ok(actual !== null && Math.abs(actual - expected) <= expected / 4, `${actual} is not near ${expected}`);
}

describe('the histogram buckets of latencies', () => {
  it('have four per power of two', () => {
    equal(bucketOf(12.8) - bucketOf(6.4), 4);
  });

  it('are ordered by latency and without gaps', () => {
    const results = new Set<number>();
    let last = 0;
    for (let latencyMs = 0.01; latencyMs < 700_000; latencyMs *= 1.01) {
      const bucket = bucketOf(latencyMs);
      ok(bucket >= last);
      results.add(bucket);
      last = bucket;
    }
    equal(results.size, BUCKETS);
  });

  const edges: readonly (readonly [latencyMs: number, bucket: number])[] = [
    [0, 0],
    [0.049, 0],
    [0.05, 1],
    [-1, 0],
    [Number.NaN, 0],
    [600_000, BUCKETS - 1],
    [86_400_000, BUCKETS - 1],
    [Number.POSITIVE_INFINITY, BUCKETS - 1],
  ];
  for (const [latencyMs, bucket] of edges) {
    it(`have number ${bucket} for ${latencyMs} ms`, () => {
      equal(bucketOf(latencyMs), bucket);
    });
  }
});

describe('the traffic counters of an endpoint', () => {
  it('count calls, and count responses with status 500 or above as errors', () => {
    const traffic = new EndpointTraffic();
    for (const status of [200, 404, 499, 500, 504]) traffic.record(1, status);
    deepEqual([traffic.calls, traffic.errors], [5, 2]);
  });

  it('add up the duration of calls exactly to the nanosecond', () => {
    equal(serving(0.1, 0.2, 12.345678, 600_000).snapshot().latencyNs, 600_012_645_678);
  });

  it('count responses by status class, and client disconnects separately', () => {
    const traffic = new EndpointTraffic();
    for (const status of [200, 204, 302, 404, 499, 499, 503]) traffic.record(1, status);
    deepEqual(
      traffic.statuses.snapshot().map((count, at) => `${statusClasses[at]}: ${count}`),
      ['none: 0', '1xx: 0', '2xx: 2', '3xx: 1', '4xx: 1', '5xx: 1', '499: 2'],
    );
  });

  it('drop a backend when the last configuration that has it is released', () => {
    const { backends } = new EndpointTraffic();
    const names = () => Array.from(backends, ([name]) => name);
    const [a, b, c] = ['/a', '/b', '/c'].map((path) => ({ method: 'GET', url_pattern: path }));
    const [first, second] = [
      [a!, b!],
      [b!, c!],
    ];
    backends.hold(first);
    backends.hold(second);
    for (const name of ['GET /a', 'GET /b', 'GET /c']) backends.of(name).record(200);
    backends.letGo(first);
    deepEqual(names(), ['GET /b', 'GET /c']);
    backends.letGo(second);
    deepEqual(names(), []);
  });

  it('are zero before the first call', () => {
    deepEqual(new EndpointTraffic().snapshot(), noTraffic);
  });

  it('return a snapshot that later calls do not change', () => {
    const traffic = serving(1);
    const snapshot = traffic.snapshot();
    const copy = structuredClone(snapshot);
    traffic.record(1, 500);
    deepEqual(snapshot, copy);
  });

  it('return the difference since the last time', () => {
    const traffic = serving(1, 1);
    traffic.takeDelta();
    traffic.record(1, 503);
    deepEqual(traffic.takeDelta(), {
      calls: 1,
      errors: 1,
      latencyNs: 1e6,
      buckets: [bucketOf(1), 1],
      statuses: [0, 0, 0, 0, 0, 1, 0],
      backends: [],
    });
  });

  it('return no difference if nothing was served', () => {
    const traffic = serving(1);
    traffic.takeDelta();
    equal(traffic.takeDelta(), null);
  });

  it('add up to the same in another process after a transfer as JSON', () => {
    const worker = new EndpointTraffic();
    const primary = new EndpointTraffic();
    for (let at = 1; at <= 50; at++) {
      worker.record(at / 7, at % 10 === 0 ? 500 : 200);
      worker.backends.of(at % 3 === 0 ? 'GET /b' : 'GET /c').record(at % 11 === 0 ? 0 : 204);
      if (at % 7 === 0) primary.merge(JSON.parse(JSON.stringify(worker.takeDelta())) as EndpointDelta);
    }
    primary.merge(worker.takeDelta()!);
    deepEqual(primary.snapshot(), worker.snapshot());
    deepEqual(statusesOf(primary), statusesOf(worker));
  });

  it('can be merged for two workers', () => {
    const primary = new EndpointTraffic();
    primary.merge(serving(1, 100).takeDelta()!);
    primary.merge(serving(100, 5_000).takeDelta()!);
    deepEqual(primary.snapshot(), serving(1, 100, 100, 5_000).snapshot());
  });
});

describe('a window of traffic between two snapshots', () => {
  it('contains the calls between them', () => {
    const traffic = serving(1, 2, 300);
    const earlier = traffic.snapshot();
    for (const latencyMs of [2, 40]) traffic.record(latencyMs, 500);
    deepEqual(between(earlier, traffic.snapshot()), {
      calls: 2,
      errors: 2,
      latencyNs: 42e6,
      buckets: [bucketOf(2), 1, bucketOf(40), 1],
    });
  });

  it('can be the sum of several windows', () => {
    deepEqual(joined([serving(1).snapshot(), noTraffic, serving(1, 9).snapshot()]), serving(1, 1, 9).snapshot());
  });

  it('has no quantile without calls', () => {
    equal(quantile(noTraffic, 0.99), null);
  });

  const latencies = Array.from({ length: 1_000 }, (_, at) => at + 1);
  for (const share of [0.01, 0.5, 0.9, 0.99, 1]) {
    it(`returns the quantile ${share} of latencies with an error of at most a quarter`, () => {
      isNear(quantile(serving(...latencies).snapshot(), share), share * 1_000);
    });
  }
});

describe('the history of traffic by minute', () => {
  const minutes = (count: number) => count * 60_000;

  function recorded(traffic = new EndpointTraffic()) {
    const timers = handTimers();
    const endpoints = new Map([['GET /a', traffic]]);
    const served = () =>
      [...endpoints].map(([id, each]) => {
        const endpoint = { method: 'GET', endpoint: id.slice('GET '.length) } as const;
        return { endpoint, traffic: each };
      });
    const history = new TrafficHistory(served, timers);
    const calls = () => history.before('GET /a', timers.now()).calls;
    return { timers, endpoints, traffic, history, calls };
  }

  it('contains a minute once the minute is over', () => {
    const { timers, traffic, history, calls } = recorded();
    history.start();
    traffic.record(5, 500);
    timers.advance(59_999);
    equal(calls(), 0);
    timers.advance(1);
    deepEqual(history.before('GET /a', timers.now()), traffic.snapshot());
  });

  it('adds up the last five minutes and drops older ones', () => {
    const { timers, traffic, history, calls } = recorded();
    history.start();
    const after: number[] = [];
    for (let minute = 1; minute <= 7; minute++) {
      for (let call = 0; call < 10 ** (minute - 1) && call < 1_000; call++) traffic.record(1, 200);
      timers.advance(minutes(1));
      after.push(calls());
    }
    deepEqual(after, [1, 11, 111, 1_111, 2_111, 3_110, 4_100]);
  });

  it('excludes calls after the given time', () => {
    const { timers, traffic, history } = recorded();
    history.start();
    traffic.record(1, 200);
    timers.advance(minutes(1));
    const moment = timers.now();
    traffic.record(1, 200);
    timers.advance(minutes(1));
    equal(history.before('GET /a', moment).calls, 1);
  });

  it('is empty for an endpoint without traffic', () => {
    const { timers, history } = recorded();
    history.start();
    timers.advance(minutes(1));
    deepEqual(history.before('GET /a', timers.now()), noTraffic);
  });

  it('drops an endpoint without traffic for five minutes', () => {
    const { timers, history, calls } = recorded(serving(1));
    history.start();
    timers.advance(minutes(5));
    equal(calls(), 1);
    timers.advance(minutes(1));
    equal(calls(), 0);
  });

  it('drops old minutes even if its clock stops', () => {
    const { timers, history, calls } = recorded(serving(1));
    history.rotate();
    timers.advance(minutes(5));
    equal(calls(), 0);
  });

  it('contains the current minute if it was ended early', () => {
    const { timers, history, calls } = recorded(serving(1, 2));
    timers.advance(10_000);
    history.rotate();
    equal(calls(), 2);
  });

  it('counts nothing twice if a minute was ended early', () => {
    const { timers, traffic, history, calls } = recorded(serving(1, 2));
    history.start();
    timers.advance(10_000);
    history.rotate();
    traffic.record(1, 200);
    timers.advance(50_000);
    equal(calls(), 3);
  });

  it('adds the traffic of an endpoint in a new configuration to that of the same endpoint in the old one', () => {
    const { timers, endpoints, history, calls } = recorded(serving(1, 2, 3));
    history.start();
    timers.advance(minutes(1));
    endpoints.set('GET /a', serving(1, 2));
    timers.advance(minutes(1));
    equal(calls(), 5);
  });

  describe('with a mark at the time of a change', () => {
    it('separates the traffic before the mark from the traffic after it', () => {
      const { timers, traffic, history, calls } = recorded(serving(1, 2));
      timers.advance(10_000);
      history.mark();
      const marked = timers.now();
      traffic.record(1, 200);
      timers.advance(60_000);
      history.rotate();
      traffic.record(1, 200);
      equal(history.before('GET /a', marked).calls, 2);
      equal(history.since('GET /a', traffic, marked).calls, 2);
      equal(calls(), 3);
    });

    it('drops earlier marks, but no traffic', () => {
      const { timers, traffic, history, calls } = recorded();
      for (let mark = 0; mark < 1_000; mark++) {
        traffic.record(1, 200);
        timers.advance(100);
        history.mark();
      }
      equal(calls(), 1_000);
      equal(history.size, 2);
    });
  });

  it('starts once, even if started repeatedly', () => {
    const timers = handTimers();
    let rotations = 0;
    const history = new TrafficHistory(() => {
      rotations++;
      return [];
    }, timers);
    history.start();
    history.start();
    timers.advance(minutes(3));
    equal(rotations, 3);
  });

  it('ignores minutes after it was stopped', () => {
    const { timers, history, calls } = recorded(serving(1));
    history.start();
    timers.advance(30_000);
    history.stop();
    timers.advance(minutes(2));
    equal(calls(), 0);
  });
});
