// Writes the table of the specification and its tests, or says what is missing: `npm run coverage`.
import { writeFileSync } from 'node:fs';
import { problemsOf, readRules } from './coverage/rules.ts';
import { TABLE, tableOf } from './coverage/table.ts';
import { listTitles } from './coverage/titles.ts';

const rules = readRules();
const titles = await listTitles();
const problems = problemsOf(rules, titles);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else {
  writeFileSync(TABLE, tableOf(rules, titles));
  console.log(`${TABLE}: ${rules.length} rules, every one with a test`);
}
