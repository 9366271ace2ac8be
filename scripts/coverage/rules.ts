import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { bounds, limitOf } from '../docs/bounds/index.ts';
import type { Title } from './titles.ts';

/** A rule of the specification and the tests that prove it. */
export interface Rule {
  readonly id: string;
  readonly rule: string;
  /** Deviation of the gateway from the rule; absent if it complies. */
  readonly deviation?: string;
  /** Full titles of the tests that prove the rule or, for a deviation, the actual behavior. */
  readonly tests: readonly string[];
}

/** Rules of one document, in its order, and the file of their table. */
export interface Chapter {
  readonly title: string;
  /** File with the rules, relative to the repository root. */
  readonly source: string;
  /** File with their table. */
  readonly table: string;
  readonly rules: readonly Rule[];
}

/** Reads the specification, and the separate file of each component. */
export function readChapters(): Chapter[] {
  const components = readdirSync('test/specification').filter((name) => name.endsWith('.json'));
  return [
    chapter('Specification', 'test/specification.json', 'test/SPECIFICATION.md'),
    boundsChapter(),
    ...components.sort().map((file) => {
      const name = basename(file, '.json');
      return chapter(name, `test/specification/${file}`, `test/specification/${name}.md`);
    }),
  ];
}

/** Rules for every buffer, queue, cache and map that clients, backends or brokers can fill, with the tests that fill it. */
function boundsChapter(): Chapter {
  const rules = Object.entries(bounds).flatMap(([side, rows]) =>
    rows.map((bound) => ({
      id: `${side}: ${bound.holds}`,
      rule: `${limitOf(bound)}. ${bound.beyond}`,
      tests: bound.tests,
    })),
  );
  return { title: 'Bounds', source: 'scripts/docs/bounds', table: 'test/BOUNDS.md', rules };
}

function chapter(title: string, source: string, table: string): Chapter {
  return { title, source, table, rules: JSON.parse(readFileSync(source, 'utf8')) };
}

/** Errors in the rules, one line each: duplicate rules, rules without tests, titles that do not prove anything. */
export function problemsOf({ source, rules }: Chapter, titles: readonly Title[]): string[] {
  const known = new Map(titles.map((title) => [title.fullTitle, title]));
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const { id, tests } of rules) {
    if (seen.has(id)) problems.push(`${id}: stands twice`);
    seen.add(id);
    if (tests.length === 0) problems.push(`${id}: has no test`);
    for (const [at, test] of tests.entries()) {
      const title = known.get(test);
      if (!title) problems.push(`${id}: there is no test "${test}"`);
      else if (title.skipped) problems.push(`${id}: the test "${test}" is skipped`);
      if (tests.indexOf(test) < at) problems.push(`${id}: names the test "${test}" twice`);
    }
  }
  return problems.map((problem) => `${source}: ${problem}`);
}
