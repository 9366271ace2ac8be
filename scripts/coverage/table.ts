import { basename, dirname, relative } from 'node:path';
import type { Chapter, Rule } from './rules.ts';
import type { Title } from './titles.ts';

/** The table of a chapter as Markdown: every rule, what is done otherwise, and the tests with their files. */
export function tableOf({ title, source, table, rules }: Chapter, titles: readonly Title[]): string {
  const from = basename(source);
  const files = new Map(titles.map(({ fullTitle, file }) => [fullTitle, file]));
  const tests = new Set(rules.flatMap((rule) => rule.tests));
  const deviating = rules.filter(({ deviation }) => deviation !== undefined).length;
  const rows = rules.map((rule) => {
    const text = rule.deviation === undefined ? rule.rule : `${rule.rule}<br>**Otherwise:** ${rule.deviation}`;
    return `| ${cell(rule.id)} | ${cell(text)} | ${testsOf(rule, files, dirname(table))} |`;
  });
  return [
    '<!-- biome-ignore-all format: made by npm run coverage -->',
    '',
    `# ${title}`,
    '',
    `Every rule and the tests that prove it. Made by \`npm run coverage\` from [${from}](${from}); \`npm test\` fails when a`,
    'rule has no test, when a test is gone, and when this table is not up to date. **Otherwise** is what the gateway does not',
    'do as the rule says; the tests then show what it does.',
    '',
    `${rules.length} rules, ${deviating} of them with a deviation; ${tests.size} tests.`,
    '',
    '| Rule | What it says | Tests |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The tests of a rule by file, each file once. */
function testsOf({ tests }: Rule, files: ReadonlyMap<string, string>, folder: string): string {
  const byFile = Map.groupBy(tests, (test) => files.get(test) ?? '');
  return [...byFile]
    .map(([file, titles]) => {
      return [
        `[${file.replace(/^test\//, '')}](${relative(folder, file)})`,
        ...titles.map((title) => `• ${cell(literal(title))}`),
      ].join('<br>');
    })
    .join('<br>');
}

/** A text of its own that Markdown is to show as it is. */
function literal(text: string): string {
  return text.replace(/[\\`*_<>[\]~&#]/g, '\\$&');
}

/** A text that ends no cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
