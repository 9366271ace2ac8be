import { basename, dirname, relative } from 'node:path';
import type { Chapter, Rule } from './rules.ts';
import type { Title } from './titles.ts';

/** Table of a chapter as Markdown: every rule, its deviation, and the tests with their files. */
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

/** All deviations of the gateway from its specification, by chapter, as Markdown. */
export function deviationsOf(chapters: readonly Chapter[]): string {
  const sections = chapters.flatMap(({ title, table, rules }) => {
    const rows = rules.flatMap(({ id, rule, deviation }) =>
      deviation === undefined ? [] : [`| ${cell(id)} | ${cell(rule)} | ${cell(deviation)} |`],
    );
    const link = table.replace(/^test\//, '');
    if (rows.length === 0) return [];
    return [
      '',
      `## [${title}](${link})`,
      '',
      '| Rule | What it says | What the gateway does |',
      '|---|---|---|',
      ...rows,
    ];
  });
  return [
    '<!-- biome-ignore-all format: made by npm run coverage -->',
    '',
    '# What the gateway does otherwise',
    '',
    'The rules of the specification and of its components that are not kept to the letter, and what is done instead; the tables',
    'name the tests that show it. Made by `npm run coverage`.',
    ...sections,
    '',
  ].join('\n');
}

/** Tests of a rule by file, each file once. */
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

/** Escapes text so that Markdown shows it unchanged. */
function literal(text: string): string {
  return text.replace(/[\\`*_<>[\]~&#]/g, '\\$&');
}

/** Escapes text so that it does not end a table cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
