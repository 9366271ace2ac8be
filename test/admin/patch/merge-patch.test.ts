import { deepEqual, equal } from 'node:assert/strict';
import type { Data } from '#contract';
import { mergePatch } from '../../../admin/patch/merge-patch.ts';

/** Target, patch, result. */
const cases: readonly (readonly [Data, Data, Data])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('a JSON merge patch', () => {
  for (const [target, patch, result] of cases) {
    it(`turns ${JSON.stringify(target)} into ${JSON.stringify(result)} with ${JSON.stringify(patch)}`, () => {
      deepEqual(mergePatch(target, patch), result);
    });
  }

  it('modifies neither the document that it is applied to nor itself', () => {
    const target = { a: { b: 1 } };
    const patch = { a: { c: 2 } };
    mergePatch(target, patch);
    deepEqual([target, patch], [{ a: { b: 1 } }, { a: { c: 2 } }]);
  });

  it('treats __proto__ as an ordinary key', () => {
    const result = mergePatch({ a: 1 }, JSON.parse('{"__proto__": {"polluted": true}, "constructor": null}'));
    equal(JSON.stringify(result), '{"a":1,"__proto__":{"polluted":true}}');
    equal(Object.getPrototypeOf(result), Object.prototype);
  });
});
