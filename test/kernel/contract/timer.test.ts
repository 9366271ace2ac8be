import { deepEqual } from 'node:assert/strict';
import { timerMs } from '../../../kernel/contract/timer.ts';

describe('a duration for a timer', () => {
  it('is rounded up to whole milliseconds', () => {
    deepEqual([0, 0.09, 1, 1.5, 2000].map(timerMs), [0, 1, 1, 2, 2000]);
  });

  it('is limited to the maximum of a Node.js timer', () => {
    const longest = 2 ** 31 - 1;
    deepEqual([longest, longest + 1, 999_999 * 3_600_000, Number.POSITIVE_INFINITY].map(timerMs), [
      longest,
      longest,
      longest,
      longest,
    ]);
  });
});
