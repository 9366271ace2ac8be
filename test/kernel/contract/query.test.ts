import { deepEqual, equal } from 'node:assert/strict';
import { Query } from '#contract';
import { encodePathSegment } from '../../../kernel/contract/internal.ts';

describe('the parameters of a query', () => {
  it('are selected by name, even with several values', () => {
    const query = Query.parse(`b=1&${'a&'.repeat(200_000)}c=2`);
    const picked = query.pick(['a', 'c']);
    deepEqual([picked.getAll('a').length, picked.get('c'), picked.has('b')], [200_000, '2', false]);
    equal(query.copy().getAll('a').length, 200_000);
  });

  it('can be copied without affecting the original', () => {
    const query = Query.parse('a=1&b=2');
    const copy = query.copy();
    copy.append('a', '3');
    copy.delete('b');
    deepEqual([String(query), String(copy)], ['a=1&b=2', 'a=1&a=3']);
  });
});

describe('a query', () => {
  for (const [search, pairs] of [
    ['', []],
    ['a=1', [['a', ['1']]]],
    [
      'b=1&a=2&b=3',
      [
        ['b', ['1', '3']],
        ['a', ['2']],
      ],
    ],
    ['a', [['a', ['']]]],
    ['a=', [['a', ['']]]],
    ['=1', [['', ['1']]]],
    ['a=b=c', [['a', ['b=c']]]],
    ['&&a=1&&', [['a', ['1']]]],
    ['a+b=c+d%2B', [['a b', ['c d+']]]],
    ['%C3%A4=%zz', [['ä', ['%zz']]]],
    ['a=%zz+b', [['a', ['%zz b']]]],
  ] as const) {
    it(`is parsed: '${search}'`, () => deepEqual([...Query.parse(search)], pairs));
  }

  it('without parameters returns undefined for any name', () => {
    const query = new Query();
    query.delete('a');
    deepEqual(
      [query.size, query.has('a'), query.get('a'), query.getAll('a'), [...query], String(query)],
      [...[0, false, undefined, [], [], '']],
    );
    deepEqual([query.copy().size, query.pick(['a']).size], [0, 0]);
  });

  it('returns the number of its parameters, and the first value of one', () => {
    const query = Query.parse('a=1&a=2&b=3');
    deepEqual([query.size, query.get('a'), query.getAll('a'), query.has('c')], [2, '1', ['1', '2'], false]);
  });

  it('replaces all values of a parameter, or adds one', () => {
    const query = Query.parse('a=1&a=2');
    query.append('a', '3');
    query.append('b', '4');
    equal(String(query), 'a=1&a=2&a=3&b=4');
    query.set('a', '5', '6');
    equal(String(query), 'a=5&a=6&b=4');
    query.delete('a');
    equal(String(query), 'b=4');
  });

  it('is written with sorted names, percent-encoded, with + for a space', () => {
    const query = new Query();
    query.set("b'(*)!", 'x y', 'ä/?&=+%');
    query.set('a', '\ud800');
    equal(String(query), 'a=%EF%BF%BD&b%27%28%2A%29%21=x+y&b%27%28%2A%29%21=%C3%A4%2F%3F%26%3D%2B%25');
  });
});

describe('a value in a path', () => {
  for (const [value, segment] of [
    ['abc-._~09Z', 'abc-._~09Z'],
    ['a/b?c#d', 'a%2Fb%3Fc%23d'],
    ["a$&+,;=:@!'()*", "a$&+,;=:@!'()*"],
    ['a b%ä', 'a%20b%25%C3%A4'],
    ['\ud800', '%EF%BF%BD'],
    ['', ''],
  ] as const) {
    it(`is encoded as one segment: '${value}'`, () => equal(encodePathSegment(value), segment));
  }
});
