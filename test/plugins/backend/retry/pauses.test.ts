import { deepEqual, equal } from 'node:assert/strict';
import { allowsRetry } from '../../../../plugins/backend/retry/budget.ts';
import { pauseMs, pushbackMs } from '../../../../plugins/backend/retry/pause.ts';
import { retryAfterMs } from '../../../../plugins/shared/retries/retry-after.ts';

describe('the pauses of backend/retry', () => {
  it('are random, and their limit doubles up to the maximum', () => {
    const limits = { baseMs: 25, maxMs: 80 };
    const longest = [1, 2, 3, 4, 1000].map((retry) => pauseMs(limits, retry, () => 1));
    deepEqual(longest, [25, 50, 80, 80, 80]);
    equal(
      pauseMs(limits, 3, () => 0),
      0,
    );
    equal(
      pauseMs(limits, 3, () => 0.5),
      40,
    );
  });

  it('read Retry-After as seconds or a date, and ignore anything else', () => {
    const now = Date.UTC(2026, 0, 1);
    equal(retryAfterMs(' 3 ', now), 3000);
    equal(retryAfterMs('Thu, 01 Jan 2026 00:00:02 GMT', now), 2000);
    equal(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now), 0);
    for (const text of [undefined, '', '-1', '1.5', '1e3', 'soon', '9'.repeat(400), '\u0661']) {
      equal(retryAfterMs(text, now), 0, String(text));
    }
  });

  it('read grpc-retry-pushback-ms as milliseconds; any other value forbids retries', () => {
    deepEqual(['0', '25', '2147483647'].map(pushbackMs), [0, 25, 2147483647]);
    for (const text of ['-1', '', ' 1', '1.5', '1e3', 'soon', '1, 2', '9'.repeat(400), '\u0661']) {
      equal(pushbackMs(text), Number.POSITIVE_INFINITY, text);
    }
  });
});

describe('the budget of backend/retry', () => {
  it('is a percentage of the active requests, but at least the minimum concurrency', () => {
    const limits = { percent: 20, min_concurrency: 3 };
    equal(allowsRetry({ active: 1, retries: 2 }, limits), true);
    equal(allowsRetry({ active: 1, retries: 3 }, limits), false);
    equal(allowsRetry({ active: 100, retries: 19 }, limits), true);
    equal(allowsRetry({ active: 100, retries: 20 }, limits), false);
    equal(allowsRetry({ active: 100, retries: 0 }, { percent: 0, min_concurrency: 0 }), false);
  });
});
