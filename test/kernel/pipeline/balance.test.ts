import { deepEqual, equal, ok } from 'node:assert/strict';
import { balance } from '../../../kernel/pipeline/backend/balance.ts';

/** Number of times that each host was selected. */
function picks(pick: () => string | undefined, times: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let at = 0; at < times; at++) {
    const host = pick()!;
    counts[host] = (counts[host] ?? 0) + 1;
  }
  return counts;
}

describe('the load balancer', () => {
  it('uses a single host for every call', () => {
    deepEqual(picks(balance({ current: ['a'], fixed: true }), 5), { a: 5 });
    deepEqual(picks(balance({ current: ['a'] }), 5), { a: 5 });
  });

  it('gives every host an equal share', () => {
    deepEqual(picks(balance({ current: ['a', 'b', 'c'], fixed: true }), 300), { a: 100, b: 100, c: 100 });
  });

  it('sends a larger share of the calls to a host that is listed repeatedly', () => {
    deepEqual(picks(balance({ current: ['a', 'b', 'b'] }), 300), { a: 100, b: 200 });
  });

  it('avoids hosts that were already tried while the list has untried hosts', () => {
    const pick = balance({ current: ['a', 'b', 'b', 'b', 'c'], fixed: true });
    for (let round = 0; round < 20; round++) {
      equal(pick(['a', 'b']), 'c');
      ok(['a', 'c'].includes(pick(['b'])!));
      ok(pick(['a', 'b', 'c']));
    }
    equal(balance({ current: ['a'], fixed: true })(['a']), 'a');
    equal(balance({ current: [] })(['a']), undefined);
  });

  it('starts at a random host', () => {
    const firsts = new Set(Array.from({ length: 200 }, () => balance({ current: ['a', 'b', 'c'] })()));
    deepEqual([...firsts].sort(), ['a', 'b', 'c']);
  });

  it('uses a changed list from the next call on', () => {
    const list = { current: ['a', 'b'] };
    const pick = balance(list);
    ok(pick());
    list.current = ['c'];
    equal(pick(), 'c');
    equal(pick(), 'c');
    list.current = ['d', 'e', 'f'];
    deepEqual(picks(pick, 6), { d: 2, e: 2, f: 2 });
  });

  it('returns nothing while the list is empty', () => {
    const list: { current: string[] } = { current: [] };
    const pick = balance(list);
    equal(pick(), undefined);
    equal(pick(), undefined);
    list.current = ['a'];
    equal(pick(), 'a');
    list.current = [];
    equal(pick(), undefined);
  });
});
