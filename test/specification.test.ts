import { deepEqual, equal, ok } from 'node:assert/strict';
import { problemsOf, type Rule } from '../scripts/coverage/rules.ts';
import { tableOf } from '../scripts/coverage/table.ts';
import type { Title } from '../scripts/coverage/titles.ts';

describe('the check of the specification', () => {
  const title = (fullTitle: string, skipped = false): Title => ({ fullTitle, file: 'test/a.test.ts', skipped });
  const rule = (id: string, ...tests: string[]): Rule => ({ id, rule: 'Says so.', tests });

  it('is content where every rule has tests that exist', () => {
    deepEqual(problemsOf([rule('R1', 'a', 'b')], [title('a'), title('b')]), []);
  });

  it('names a rule without a test', () => deepEqual(problemsOf([rule('R1')], []), ['R1: has no test']));

  it('names a test that does not exist', () => {
    deepEqual(problemsOf([rule('R1', 'a', 'b')], [title('a')]), ['R1: there is no test "b"']);
  });

  it('names a test that is skipped', () => {
    deepEqual(problemsOf([rule('R1', 'a')], [title('a', true)]), ['R1: the test "a" is skipped']);
  });

  it('names a rule and a test that stand twice', () => {
    deepEqual(problemsOf([rule('R1', 'a', 'a'), rule('R1', 'a')], [title('a')]), [
      'R1: names the test "a" twice',
      'R1: stands twice',
    ]);
  });

  it('writes signs of Markdown so that they are shown', () => {
    const table = tableOf([rule('R1', 'takes * and a|b')], [title('takes * and a|b')]);
    equal(table.split('\n').at(-2), '| R1 | Says so. | [a.test.ts](a.test.ts)<br>• takes \\* and a\\|b |');
  });

  it('shows a deviation beside its rule', () => {
    const table = tableOf([{ ...rule('R1', 'a'), deviation: 'Not there.' }], [title('a')]);
    ok(table.includes('| R1 | Says so.<br>**Otherwise:** Not there. |'));
  });
});
