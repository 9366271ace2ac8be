import { deepEqual, equal, ok } from 'node:assert/strict';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { Outage } from '../../../plugins/governance/processors/outage.ts';
import { RefusedCallers } from '../../../plugins/governance/processors/refused-callers.ts';
import { type Unit, units, windowOf } from '../../../plugins/governance/quota/windows.ts';

describe('the windows of a quota', () => {
  const of = (unit: Unit, moment: string) => {
    const { start, end } = windowOf(unit, Date.parse(moment));
    return [start, end].map((ms) => new Date(ms).toISOString().slice(0, 19));
  };
  for (const [unit, start, end] of [
    ['second', '2024-02-29T23:59:58', '2024-02-29T23:59:59'],
    ['minute', '2024-02-29T23:59:00', '2024-03-01T00:00:00'],
    ['hour', '2024-02-29T23:00:00', '2024-03-01T00:00:00'],
    ['day', '2024-02-29T00:00:00', '2024-03-01T00:00:00'],
    ['week', '2024-02-26T00:00:00', '2024-03-04T00:00:00'],
    ['month', '2024-02-01T00:00:00', '2024-03-01T00:00:00'],
    ['year', '2024-01-01T00:00:00', '2025-01-01T00:00:00'],
  ] as const) {
    it(`follow the calendar in UTC for the unit ${unit}`, () => {
      deepEqual(of(unit, '2024-02-29T23:59:58.999Z'), [start, end]);
    });
  }
  it('begin at their exact start, a week on Monday', () => {
    deepEqual(of('week', '2024-03-04T00:00:00.000Z')[0], '2024-03-04T00:00:00');
    deepEqual(of('week', '2024-03-03T23:59:59.999Z')[0], '2024-02-26T00:00:00');
    deepEqual(of('month', '2024-12-31T23:59:59.999Z'), ['2024-12-01T00:00:00', '2025-01-01T00:00:00']);
  });
  it('always contain the current time', () => {
    for (const unit of units) {
      for (let day = 0; day < 800; day++) {
        const now = Date.UTC(2023, 0, 1) + day * 86_400_000 + day * 7919;
        const { start, end } = windowOf(unit, now);
        ok(start <= now && now < end, `${unit} ${new Date(now).toISOString()}`);
      }
    }
  });
});

describe('callers that are rejected without a call to Redis', () => {
  it('are rejected until their window ends', () => {
    const refused = new RefusedCallers<string>(10);
    refused.add('a', 500, 1000, 'x');
    deepEqual([refused.find('a', 999)?.value, refused.find('b', 999)], ['x', undefined]);
    deepEqual([refused.find('a', 1000), refused.size], [undefined, 0]);
  });
  it('are counted again if the clock is set back to a time before the rejection', () => {
    const refused = new RefusedCallers<string>(10);
    refused.add('a', 500, 1000, 'x');
    deepEqual([refused.find('a', 499), refused.size], [undefined, 0]);
  });
  it('are limited in number; beyond it the oldest is dropped', () => {
    const refused = new RefusedCallers<number>(3);
    for (let each = 0; each < 5; each++) refused.add(`c${each}`, 0, 1000, each);
    deepEqual([refused.size, refused.find('c1', 0), refused.find('c2', 0)?.value], [3, undefined, 2]);
    refused.clear();
    equal(refused.size, 0);
  });
  it('can have any name', () => {
    const refused = new RefusedCallers<number>(3);
    equal(refused.find('__proto__', 0), undefined);
    refused.add('__proto__', 0, 1, 7);
    equal(refused.find('__proto__', 0)?.value, 7);
  });
});

describe('retries after a Redis failure', () => {
  const outage = (most: number, strategy: 'exponential' | 'linear' = 'exponential') => {
    const lines: string[] = [];
    const log = { ...silentLog, error: (line: unknown) => void lines.push(String(line)) };
    return { lines, it: new Outage(most, strategy, log) };
  };
  /**
   * Fails every attempt.
   * @returns the seconds at which attempts were made.
   */
  const attempts = (most: number, strategy: 'exponential' | 'linear', seconds: number) => {
    const { it } = outage(most, strategy);
    const made: number[] = [];
    for (let second = 0; second <= seconds; second++) {
      if (!it.mayTry(second * 1000)) continue;
      made.push(second);
      it.failed(second * 1000);
    }
    return made;
  };
  it('are immediate and unlimited if no backoff is configured', () => {
    deepEqual(attempts(0, 'exponential', 4), [0, 1, 2, 3, 4]);
  });
  it('double their delay each time, up to a minute', () => {
    deepEqual(attempts(9, 'exponential', 400), [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  });
  it('increase their delay linearly, and stop at the maximum number', () => {
    deepEqual(attempts(3, 'linear', 20), [0, 1, 2, 3]);
  });
  it('are made by a single request at a time', () => {
    const { it } = outage(2);
    it.failed(0);
    deepEqual([it.mayTry(999), it.mayTry(1000), it.mayTry(1000)], [false, true, false]);
    it.succeeded();
    deepEqual([it.mayTry(1000), it.mayTry(1000)], [true, true]);
  });
  it('end with a log line, after which a late success changes nothing', () => {
    const { it, lines } = outage(1);
    it.failed(0);
    it.failed(0);
    equal(it.mayTry(1000), true);
    it.failed(1000);
    it.succeeded();
    equal(it.mayTry(1e9), false);
    deepEqual(lines, ['requests are not counted until a reload: 1 attempts failed']);
  });
});
