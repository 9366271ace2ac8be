import { deepEqual, equal } from 'node:assert/strict';
import { Query } from '#contract';

describe('the parameters of a query', () => {
  it('are picked by name, however many values one of them has', () => {
    const query = Query.parse(`b=1&${'a&'.repeat(200_000)}c=2`);
    const picked = query.pick(['a', 'c']);
    deepEqual([picked.getAll('a').length, picked.get('c'), picked.has('b')], [200_000, '2', false]);
    equal(query.copy().getAll('a').length, 200_000);
  });

  it('are copied: a change of the copy leaves the original alone', () => {
    const query = Query.parse('a=1&b=2');
    const copy = query.copy();
    copy.append('a', '3');
    copy.delete('b');
    deepEqual([String(query), String(copy)], ['a=1&b=2', 'a=1&a=3']);
  });
});
