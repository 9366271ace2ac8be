import { deepEqual, equal, ok } from 'node:assert/strict';
import { type Chapter, problemsOf, type Rule } from '../scripts/coverage/rules.ts';
import { tableOf } from '../scripts/coverage/table.ts';
import type { Title } from '../scripts/coverage/titles.ts';

describe('the check of the specification', () => {
  const title = (fullTitle: string, skipped = false): Title => ({ fullTitle, file: 'test/a.test.ts', skipped });
  const rule = (id: string, ...tests: string[]): Rule => ({ id, rule: 'Says so.', tests });

  const chapter = (...rules: Rule[]): Chapter => ({
    title: 'Specification',
    source: 'test/spec.json',
    table: 'test/SPEC.md',
    rules,
  });

  it('accepts rules with existing tests', () => {
    deepEqual(problemsOf(chapter(rule('R1', 'a', 'b')), [title('a'), title('b')]), []);
  });

  it('reports a rule without a test', () =>
    deepEqual(problemsOf(chapter(rule('R1')), []), ['test/spec.json: R1: has no test']));

  it('reports a test that does not exist', () => {
    deepEqual(problemsOf(chapter(rule('R1', 'a', 'b')), [title('a')]), ['test/spec.json: R1: there is no test "b"']);
  });

  it('reports a test that is skipped', () => {
    deepEqual(problemsOf(chapter(rule('R1', 'a')), [title('a', true)]), [
      'test/spec.json: R1: the test "a" is skipped',
    ]);
  });

  it('reports duplicate rules and tests', () => {
    deepEqual(problemsOf(chapter(rule('R1', 'a', 'a'), rule('R1', 'a')), [title('a')]), [
      'test/spec.json: R1: names the test "a" twice',
      'test/spec.json: R1: stands twice',
    ]);
  });

  it('escapes Markdown characters', () => {
    const table = tableOf(chapter(rule('R1', 'takes * and a|b')), [title('takes * and a|b')]);
    equal(table.split('\n').at(-2), '| R1 | Says so. | [a.test.ts](a.test.ts)<br>• takes \\* and a\\|b |');
  });

  it('has links that are relative to the folder of the table', () => {
    const table = tableOf({ ...chapter(rule('R1', 'a')), table: 'test/specification/a.md' }, [title('a')]);
    ok(table.includes('[a.test.ts](../a.test.ts)'));
  });

  it('shows a deviation next to its rule', () => {
    const table = tableOf(chapter({ ...rule('R1', 'a'), deviation: 'Not there.' }), [title('a')]);
    ok(table.includes('| R1 | Says so.<br>**Otherwise:** Not there. |'));
  });
});
