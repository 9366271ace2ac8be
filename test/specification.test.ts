import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { problemsOf, type Rule, readRules } from '../scripts/coverage/rules.ts';
import { TABLE, tableOf } from '../scripts/coverage/table.ts';
import { listTitles, type Title } from '../scripts/coverage/titles.ts';

describe('the specification', () => {
  const rules = readRules();
  let titles: Title[];

  before(async function () {
    this.timeout(60_000);
    titles = await listTitles();
  });

  it('has for every rule a test, and every test it names', () => {
    equal(problemsOf(rules, titles).join('\n'), '');
  });

  it('has a table that is up to date', () => {
    ok(readFileSync(TABLE, 'utf8') === tableOf(rules, titles), `${TABLE} is out of date; npm run coverage writes it`);
  });
});

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
