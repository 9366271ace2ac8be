// Writes the tables of the specification and the components with their tests, or reports what is missing: `npm run
// coverage`. With `--check` it writes nothing, and an outdated table is an error too.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { problemsOf, readChapters } from './coverage/rules.ts';
import { deviationsOf, tableOf } from './coverage/table.ts';
import { listTitles } from './coverage/titles.ts';

const chapters = readChapters();
const titles = await listTitles();
const isCheck = process.argv.includes('--check');

const written = [
  ...chapters.map((chapter) => ({ path: chapter.table, text: tableOf(chapter, titles) })),
  { path: 'test/DEVIATIONS.md', text: deviationsOf(chapters) },
];
const outOfDate = isCheck ? written.filter(({ path, text }) => read(path) !== text) : [];
const problems = [
  ...chapters.flatMap((chapter) => problemsOf(chapter, titles)),
  ...outOfDate.map(({ path }) => `${path} is out of date; npm run coverage writes it`),
];
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else {
  if (!isCheck) for (const { path, text } of written) writeFileSync(path, text);
  for (const { table, rules } of chapters) console.log(`${table}: ${rules.length} rules, every one with a test`);
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
