import { deepEqual, equal, notDeepEqual } from 'node:assert/strict';
import type { SrvRecord } from 'node:dns';
import { mixed, spread } from '../../../plugins/discovery/lib/spread.ts';

const record = (name: string, weight: number, priority = 10, port = 80): SrvRecord => ({
  name,
  weight,
  priority,
  port,
});

/** Number of occurrences of each name in the list. */
function shares(records: readonly SrvRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const target of spread(records)) {
    const name = target.split(':')[0]!;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('the host list from SRV records', () => {
  it('contains only records with the lowest priority', () => {
    deepEqual(shares([record('c', 5, 20), record('a', 1), record('b', 2)]), { a: 1, b: 2 });
  });

  it('contains every target with its port', () => {
    deepEqual(spread([record('a.internal', 1, 10, 8080)]), ['a.internal:8080']);
  });

  it('divides weights by their greatest common divisor', () => {
    deepEqual(shares([record('a', 10), record('b', 20), record('c', 40)]), { a: 1, b: 2, c: 4 });
  });

  it('keeps weights with a sum of 100', () => {
    deepEqual(shares([record('a', 33), record('b', 67)]), { a: 33, b: 67 });
  });

  it('scales weights with a sum above 100 down before it divides them', () => {
    deepEqual(shares([record('a', 600), record('b', 300), record('c', 150)]), { a: 57, b: 28, c: 14 });
    deepEqual(shares([record('a', 1000), record('b', 3000)]), { a: 1, b: 3 });
  });

  it('drops a target whose scaled weight is 0', () => {
    deepEqual(shares([record('a', 65_535), record('b', 1)]), { a: 1 });
  });

  it('omits a target with weight 0 if others have a higher weight', () => {
    deepEqual(shares([record('a', 5), record('b', 0)]), { a: 1 });
  });

  it('treats weights that are all 0 as equal', () => {
    deepEqual(shares([record('a', 0), record('b', 0), record('c', 0)]), { a: 1, b: 1, c: 1 });
  });

  it('scales weights to the number of records if there are more than 100', () => {
    const records = Array.from({ length: 150 }, (_, at) => record(`h${at}`, 7));
    equal(spread(records).length, 150);
    const uneven = records.map((one, at) => ({ ...one, weight: at === 0 ? 151 : 1 }));
    deepEqual(shares(uneven), { h0: 1 });
  });

  it('skips records without a target or a port', () => {
    deepEqual(shares([record('', 1, 1), record('a', 1, 1, 0), record('b/c', 1, 1), record('d', 1)]), { d: 1 });
  });

  it('is empty without records', () => deepEqual(spread([]), []));

  it('does not depend on the order of the records', () => {
    const records = [record('b', 1), record('a', 1), record('a', 1, 10, 81), record('c', 2)];
    deepEqual(spread(records), spread(records.toReversed()));
  });

  it('is a sample only if it would have more than 100 entries, and the sample contains every target', () => {
    const short = Array.from({ length: 100 }, (_, at) => `h${at}:80`);
    equal(mixed(short), short);
    const long = [...short, 'h100:80'];
    notDeepEqual(mixed(long), long);
    deepEqual([...mixed(long)].sort(), [...long].sort());
  });
});
