// Writes the table of the specification and its tests, or says what is missing: `npm run coverage`. With `--check` it
// writes nothing, and a table that is not up to date is a mistake too.
import { readFileSync, writeFileSync } from 'node:fs';
import { problemsOf, readRules } from './coverage/rules.ts';
import { TABLE, tableOf } from './coverage/table.ts';
import { listTitles } from './coverage/titles.ts';

const rules = readRules();
const titles = await listTitles();
const problems = problemsOf(rules, titles);
const table = tableOf(rules, titles);
const isCheck = process.argv.includes('--check');
if (isCheck && readFileSync(TABLE, 'utf8') !== table)
  problems.push(`${TABLE} is out of date; npm run coverage writes it`);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else {
  if (!isCheck) writeFileSync(TABLE, table);
  console.log(`${TABLE}: ${rules.length} rules, every one with a test`);
}
