import type { Rule } from './rules.ts';
import type { Title } from './titles.ts';

/** Where the table stands. */
export const TABLE = 'test/SPECIFICATION.md';

/** The table as Markdown: every rule, what is done otherwise, and the tests with their files. */
export function tableOf(rules: readonly Rule[], titles: readonly Title[]): string {
  const files = new Map(titles.map(({ fullTitle, file }) => [fullTitle, file]));
  const tests = new Set(rules.flatMap((rule) => rule.tests));
  const deviating = rules.filter(({ deviation }) => deviation !== undefined).length;
  const rows = rules.map((rule) => {
    const text = rule.deviation === undefined ? rule.rule : `${rule.rule}<br>**Otherwise:** ${rule.deviation}`;
    return `| ${cell(rule.id)} | ${cell(text)} | ${testsOf(rule, files)} |`;
  });
  return [
    '<!-- biome-ignore-all format: made by npm run coverage -->',
    '',
    '# Specification',
    '',
    'Every rule of the specification and the tests that prove it. Made by `npm run coverage` from',
    '[specification.json](specification.json); `npm test` fails when a rule has no test, when a test is gone, and when this',
    'table is not up to date. **Otherwise** is what the gateway does not do as the rule says; the tests then show what it',
    'does.',
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
function testsOf({ tests }: Rule, files: ReadonlyMap<string, string>): string {
  const byFile = Map.groupBy(tests, (test) => files.get(test) ?? '');
  return [...byFile]
    .map(([file, titles]) => {
      const name = file.replace(/^test\//, '');
      return [`[${name}](${name})`, ...titles.map((title) => `• ${cell(literal(title))}`)].join('<br>');
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
