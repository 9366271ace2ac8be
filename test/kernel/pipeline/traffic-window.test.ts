import { deepEqual, equal } from 'node:assert/strict';
import { BUCKETS, bucketOf, latencyBands, noTraffic } from '../../../kernel/pipeline/traffic/window.ts';

const bandsOf = (...buckets: number[]) => latencyBands({ ...noTraffic, buckets });

describe('the latency bands of a time window', () => {
  it('are empty without calls', () => deepEqual(bandsOf(), []));

  it('are contiguous, a quarter of a power of two wide', () => {
    deepEqual(bandsOf(0, 3, 1, 2, 4, 1, 5, 7), [
      { fromMs: 0, toMs: 0.05, calls: 3 },
      { fromMs: 0.05, toMs: 0.0625, calls: 2 },
      { fromMs: 0.05 * 1.75, toMs: 0.1, calls: 1 },
      { fromMs: 0.1, toMs: 0.125, calls: 7 },
    ]);
  });

  it('are unlimited only in the last band', () => {
    const [last, before] = bandsOf(BUCKETS - 1, 1, BUCKETS - 2, 1);
    equal(last!.toMs, Number.POSITIVE_INFINITY);
    equal(before!.toMs, last!.fromMs);
  });

  it('match the histogram buckets', () => {
    for (const latencyMs of [0.06, 1, 7.3, 99, 60_000]) {
      const [band] = bandsOf(bucketOf(latencyMs), 1);
      equal(band!.fromMs <= latencyMs && latencyMs < band!.toMs, true, String(latencyMs));
    }
  });
});
