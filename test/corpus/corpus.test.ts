import { deepEqual, equal, ok } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify as asToml } from 'smol-toml';
import type { Issue } from '../../kernel/config/index.ts';
import { budgetSeed, isLong, sampler } from '../support/budget.ts';
import { inspect } from './inspect.ts';
import { mutationsOf } from './mutations.ts';
import { asJson, asYaml, type Printed, type Range } from './printed.ts';
import { jsonTextMutations, linesTwice, type TextMutation } from './text-mutations.ts';

const home = import.meta.dirname;
const read = (path: string): string => readFileSync(path, 'utf8');

/** Samples except that of mutual TLS, whose guide creates the certificates: its own test checks it. */
const samples = globSync(join(home, '../../samples/*/gateway.json')).filter((path) => !path.includes('/mutual-tls/'));
const good = [...globSync(join(home, 'good/*.json')), ...samples].sort();

describe('check -t, on good configurations', () => {
  for (const path of good) {
    it(`reports nothing in ${name(path)}`, async () => {
      deepEqual(await inspect(read(path), path), []);
    });
  }
});

/** Errors that are known not to be reported at their place, with the reason. */
const missed = JSON.parse(read(join(home, 'missed.json'))) as Record<string, string>;

describe(`check -t (SLUICE_TEST_SEED=${budgetSeed})`, function () {
  this.timeout(180_000);
  const unfound: string[] = [];
  let match = 0;
  /** Selects one in 32 errors in `npm test`, and all errors in `npm run test:long`. */
  const isPicked = sampler(32);

  const examine = async (title: string, text: string, file: string, isReported: (issue: Issue) => boolean) => {
    if ((await inspect(text, file)).some(isReported)) match++;
    else unfound.push(title);
  };

  for (const path of good) {
    const document = JSON.parse(read(path)) as unknown;
    for (const [format, print] of Object.entries({ JSON: asJson, ...(isSample(path) && { YAML: asYaml }) })) {
      it(`reports injected errors (missing, misspelled, misplaced and invalid fields) in ${name(path)} in ${format}`, async () => {
        const before = unfound.length;
        for (const mutation of mutationsOf(document).filter(isPicked)) {
          const printed = print(mutation.data);
          const { stretch: range, exact } = mutation.place(printed);
          const isReported = exact ? beginsAt(printed, range) : isWithin(printed, range);
          await examine(`${name(path)}, ${format}: ${mutation.name}`, printed.text, printed.file, isReported);
        }
        equal(unfound.slice(before).filter(isNews).join('\n'), '');
      });
    }

    it(`reports syntax errors that are injected into the text of ${name(path)}`, async () => {
      const before = unfound.length;
      for (const { name: what, text, file, lines } of textMutations(path, document).filter(isPicked)) {
        const isReported = ({ severity, related = [], ...issue }: Issue) =>
          severity === 'error' && [issue, ...related].some(({ line }) => line !== undefined && lines.has(line));
        await examine(`${name(path)}: ${what}`, text, file, isReported);
      }
      equal(unfound.slice(before).filter(isNews).join('\n'), '');
    });
  }

  it('misses only the injected errors that missed.json lists', () => {
    const share = `${match} of ${match + unfound.length} found`;
    if (isLong) deepEqual(unfound.sort(), Object.keys(missed).sort(), share);
    else deepEqual(unfound.filter(isNews), [], share);
    ok(match >= LEAST_FOUND / (isLong ? 1 : 40), share);
  });

  function isNews(title: string): boolean {
    return !Object.hasOwn(missed, title);
  }
});

/** Fewer mutations than this would mean that the mutators no longer work. */
const LEAST_FOUND = 6400;

function name(path: string): string {
  return path.slice(path.lastIndexOf('/', path.lastIndexOf('/') - 1) + 1);
}

function isSample(path: string): boolean {
  return path.endsWith('gateway.json');
}

function textMutations(path: string, document: unknown): TextMutation[] {
  return [
    ...jsonTextMutations(read(path)),
    ...linesTwice(asYaml(document).text, 'mutated.yaml'),
    ...linesTwice(asToml(document), 'mutated.toml'),
  ];
}

/** Whether an error is reported exactly at the mutation or, for an error inside an object, at the beginning of the object. */
function beginsAt({ text }: Printed, { start }: Range): (issue: Issue) => boolean {
  const [line, column] = position(text, start);
  return (issue) => issue.line === line && issue.column === column;
}

function isWithin({ text }: Printed, { start, end }: Range): (issue: Issue) => boolean {
  const first = position(text, start);
  const last = position(text, end);
  return ({ line, column }) =>
    line !== undefined && !isBefore([line, column!], first) && !isBefore(last, [line, column!]);
}

function position(text: string, offset: number): [line: number, column: number] {
  const before = text.slice(0, offset);
  return [before.split('\n').length, offset - before.lastIndexOf('\n')];
}

function isBefore([line, column]: readonly [number, number], other: readonly [number, number]): boolean {
  return line < other[0] || (line === other[0] && column < other[1]);
}
