import { deepEqual, equal } from 'node:assert/strict';
import { merge } from '../../../admin/dashboard/page/views/configuration/merge.ts';

/** A text with a line for each letter. */
const lines = (letters: string) => [...letters].join('\n');

describe('merging two changes of a configuration', () => {
  const cases: readonly (readonly [does: string, common: string, mine: string, theirs: string, result: string])[] = [
    ['takes changes in different places', 'abcdefg', 'aXcdefg', 'abcdeYg', 'aXcdeYg'],
    ['takes insertions of both', 'abcdefg', 'abXcdefg', 'abcdefYg', 'abXcdefYg'],
    ['takes removals of both', 'abcdefg', 'acdefg', 'abcdeg', 'acdeg'],
    ['takes an addition at the end', 'abcd', 'Xbcd', 'abcdY', 'XbcdY'],
    ['takes an addition at the beginning', 'abcd', 'Yabcd', 'abcX', 'YabcX'],
    ['takes the same change of both once', 'abcd', 'aXcd', 'aXcd', 'aXcd'],
    ['keeps a text that only the other side changed', 'abcd', 'abcd', 'aXYcd', 'aXYcd'],
    ['keeps a text that only this side changed', 'abcd', 'aXcd', 'abcd', 'aXcd'],
    ['takes the removal of everything', 'abcd', '', 'abcd', ''],
  ];
  for (const [does, common, mine, theirs, result] of cases) {
    it(does, () => {
      for (const [one, other] of [
        [mine, theirs],
        [theirs, mine],
      ] as const) {
        const merged = merge(lines(common), lines(one), lines(other), 'mine');
        equal(merged.text, lines(result));
        deepEqual(merged.conflicts, []);
      }
    });
  }

  it('reports changes of the same lines, with the lines of both', () => {
    const merged = merge(lines('abcdefg'), lines('aXcdefZ'), lines('aYcdefg'), 'mine');
    deepEqual(merged.conflicts, [{ line: 2, mine: ['X'], theirs: ['Y'] }]);
    equal(merged.text, lines('aXcdefZ'));
    equal(merge(lines('abcdefg'), lines('aXcdefZ'), lines('aYcdefg'), 'theirs').text, lines('aYcdefZ'));
  });

  it('reports changes of adjacent lines, which may depend on each other', () => {
    equal(merge(lines('abcd'), lines('aXcd'), lines('abYd'), 'mine').conflicts.length, 1);
  });

  it('merges texts of 100,000 lines line by line', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => (at % 3 === 0 ? '}' : `"line ${at}"`));
    const mine = many.with(10, 'mine');
    const theirs = many.with(90_000, 'theirs');
    const { text, conflicts } = merge(many.join('\n'), mine.join('\n'), theirs.join('\n'), 'mine');
    deepEqual(conflicts, []);
    equal(text, mine.with(90_000, 'theirs').join('\n'));
  });
});
