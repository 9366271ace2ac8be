import { deepEqual } from 'node:assert/strict';
import type { Data } from '#contract';
import { compareOrder } from '../../../kernel/cases/replay/order.ts';
import { ResponseTimes } from '../../../kernel/cases/replay/times.ts';

describe('the comparison of the order of two JSON values', () => {
  const paths = (old: Data, next: Data) => [...compareOrder(old, next).paths];

  it('reports arrays with the same items in another order, at any depth', () => {
    deepEqual(paths([1, 2], [2, 1]), ['[]']);
    deepEqual(paths({ a: [{ b: [1, 2] }] }, { a: [{ b: [2, 1] }] }), ['a[].b[]']);
    deepEqual(paths([{ a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }]), ['[]']);
  });

  it('reports objects with the same keys in another order, and ignores added and removed keys', () => {
    deepEqual(paths({ a: 1, b: 2 }, { b: 2, a: 1 }), ['{}']);
    deepEqual(paths({ a: 1, b: 2, c: 3 }, { x: 1, a: 1, c: 3 }), []);
    deepEqual(paths({ u: { a: 1, b: 2 } }, { u: { b: 2, a: 1 } }), ['u{}']);
  });

  it('reports no difference for arrays with different items', () => {
    deepEqual(paths([1, 2, 3], [2, 1]), []);
    deepEqual(paths([1, 2], [2, 3]), []);
  });

  it('gives two values the same order before they are compared, without effect on prototypes', () => {
    const old = JSON.parse('{"__proto__":[1,2],"a":1}') as Data;
    const next = JSON.parse('{"__proto__":[2,1],"a":2}') as Data;
    const { next: aligned, paths: found } = compareOrder(old, next);
    deepEqual([...found], ['__proto__[]']);
    deepEqual(JSON.stringify(aligned), '{"__proto__":[1,2],"a":2}');
  });
});

describe('response times in a replay', () => {
  it('are compared by the median of each endpoint', () => {
    const times = new ResponseTimes();
    for (const after of [1, 9, 9]) times.add('GET /slow', 1, after);
    for (const after of [1, 1, 90]) times.add('GET /once', 1, after);
    deepEqual(times.slower(5), [
      { endpoint: 'GET /slow', requests: 3, change: { cause: 'time', at: '', shown: '1.0 ms → 9.0 ms' } },
    ]);
    deepEqual(times.slower(8), []);
  });
});
