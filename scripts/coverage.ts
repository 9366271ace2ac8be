// Writes the tables of the specification and of the components with their tests, or says what is missing:
// `npm run coverage`. With `--check` it writes nothing, and a table that is not up to date is a mistake too.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { problemsOf, readChapters } from './coverage/rules.ts';
import { tableOf } from './coverage/table.ts';
import { listTitles } from './coverage/titles.ts';

const chapters = readChapters();
const titles = await listTitles();
const isCheck = process.argv.includes('--check');

const problems = chapters.flatMap((chapter) => {
  const outOfDate = isCheck && readTable(chapter.table) !== tableOf(chapter, titles);
  return [
    ...problemsOf(chapter, titles),
    ...(outOfDate ? [`${chapter.table} is out of date; npm run coverage writes it`] : []),
  ];
});
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else {
  for (const chapter of chapters) {
    if (!isCheck) writeFileSync(chapter.table, tableOf(chapter, titles));
    console.log(`${chapter.table}: ${chapter.rules.length} rules, every one with a test`);
  }
}

function readTable(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
