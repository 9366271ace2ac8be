import { deepEqual, equal } from 'node:assert/strict';
import {
  batchOf,
  fullBucket,
  giveBack,
  limitOf,
  take,
  takeMore,
} from '../../../../plugins/shared/buckets/token-bucket.ts';

describe('a token bucket', () => {
  it("derives its capacity from one second's rate", () => {
    equal(limitOf(50, 600_000, 0).capacity, 1);
    equal(limitOf(50, 1000, 0).capacity, 50);
    equal(limitOf(2.9, 1000, 0).capacity, 2);
    equal(limitOf(90, 60_000, 0).capacity, 1);
    equal(limitOf(1, 1000, 7).capacity, 7);
  });

  it('starts full', () => {
    const bucket = fullBucket();
    const limit = limitOf(1, 1000, 3);
    deepEqual([take(bucket, limit, 0), take(bucket, limit, 0), take(bucket, limit, 0)], [0, 0, 0]);
    equal(take(bucket, limit, 0), 1000);
  });

  it('adds a whole token at each interval and keeps fractions', () => {
    const bucket = fullBucket();
    const limit = limitOf(10, 1000, 1);
    equal(take(bucket, limit, 0), 0);
    equal(take(bucket, limit, 60), 40);
    equal(take(bucket, limit, 99.5), 0.5);
    equal(take(bucket, limit, 100), 0);
    equal(take(bucket, limit, 199), 1);
    equal(take(bucket, limit, 200), 0);
  });

  it('keeps the elapsed part of an interval when a late request takes a token', () => {
    const bucket = fullBucket();
    const limit = limitOf(10, 1000, 5);
    for (let taken = 0; taken < 5; taken++) take(bucket, limit, 0);
    equal(take(bucket, limit, 150), 0);
    equal(take(bucket, limit, 190), 10);
    equal(take(bucket, limit, 200), 0);
  });

  it('never exceeds its capacity, regardless of idle time', () => {
    const bucket = fullBucket();
    const limit = limitOf(10, 1000, 2);
    take(bucket, limit, 0);
    let passed = 0;
    for (let request = 0; request < 100; request++) if (take(bucket, limit, 1e9 + request * 0.9) === 0) passed++;
    equal(passed, 2);
  });

  it('does not count the elapsed part of an interval while it is full', () => {
    const bucket = fullBucket();
    const limit = limitOf(10, 1000, 1);
    take(bucket, limit, 0);
    equal(take(bucket, limit, 150), 0);
    equal(take(bucket, limit, 200), 50);
    equal(take(bucket, limit, 250), 0);
  });

  it('takes no token for a rejected request', () => {
    const bucket = fullBucket();
    const limit = limitOf(1, 1000, 1);
    take(bucket, limit, 0);
    for (let now = 1; now < 1000; now++) take(bucket, limit, now);
    equal(take(bucket, limit, 1000), 0);
  });

  it('supports rates close to zero', () => {
    const bucket = fullBucket();
    const limit = limitOf(1e-300, 1000, 0);
    equal(take(bucket, limit, 0), 0);
    equal(take(bucket, limit, 1e9) > 0, true);
  });

  it('provides several tokens at once, at most as many as it contains, and accepts returned tokens up to its capacity', () => {
    const bucket = fullBucket();
    const limit = limitOf(1, 600_000, 10);
    equal(take(bucket, limit, 0), 0);
    deepEqual([takeMore(bucket, 4), takeMore(bucket, 20), takeMore(bucket, 1)], [4, 5, 0]);
    giveBack(bucket, limit, 3);
    equal(takeMore(bucket, 20), 3);
    giveBack(bucket, limit, 50);
    equal(takeMore(bucket, 20), 10);
  });

  it('provides batches of a tenth of its capacity, at most 100 ms of its rate, and at least 1', () => {
    equal(batchOf(limitOf(1000, 1000, 0)), 100);
    equal(batchOf(limitOf(1000, 1000, 50)), 5);
    equal(batchOf(limitOf(50, 1000, 1000)), 5);
    equal(batchOf(limitOf(19, 1000, 0)), 1);
    equal(batchOf(limitOf(1, 60_000, 1)), 1);
  });
});
