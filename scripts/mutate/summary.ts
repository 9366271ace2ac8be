import type { Tried } from './collector.ts';
import { type Equivalent, isNamedBy } from './equivalents.ts';

/** Number of a file's faults by result. */
interface Counts {
  /** A test failed. */
  killed: number;
  /** A test did not end. */
  'timed out': number;
  /** Number of changes with which all tests passed. */
  survived: number;
  /** Number of changes in code that no test runs. */
  'not reached': number;
  /** Listed as having no observable effect. */
  equivalent: number;
}

type Kind = keyof Counts;

const kinds: Readonly<Partial<Record<Tried['status'], Kind>>> = {
  Killed: 'killed',
  RuntimeError: 'killed',
  Timeout: 'timed out',
  Survived: 'survived',
  NoCoverage: 'not reached',
};

/** Summary of the results: a table by file, and a list of undetected faults. */
export function summaryOf(mutants: readonly Tried[], equivalents: readonly Equivalent[]): string {
  const isNamed = isNamedBy(equivalents);
  const table = new Map<string, Counts>();
  const unnoticed: string[] = [];
  for (const mutant of mutants.toSorted(byPlace)) {
    const match = kinds[mutant.status];
    if (!match) continue;
    const isMissed = match === 'survived' || match === 'not reached';
    const kind = isMissed && isNamed(mutant) ? 'equivalent' : match;
    for (const file of [mutant.fileName, 'all']) {
      if (!table.has(file))
        table.set(file, { killed: 0, 'timed out': 0, survived: 0, 'not reached': 0, equivalent: 0 });
      table.get(file)![kind]++;
    }
    if (isMissed && kind !== 'equivalent') unnoticed.push(describe(mutant, match));
  }
  return [...unnoticed, '', ...tableLines(table)].join('\n');
}

function describe({ fileName, location, line, replacement }: Tried, kind: Kind): string {
  const { start } = location;
  return `${fileName}:${start.line}:${start.column} ${kind}\n    - ${line}\n    + ${replacement}`;
}

function tableLines(table: Map<string, Counts>): string[] {
  const heading = ['killed', 'timed out', 'survived', 'not reached', 'equivalent'] as const;
  const all = table.get('all');
  table.delete('all');
  const rows = [...table, ...(all ? [['all', all] as const] : [])].map(([file, counts]) => {
    const noticed = counts.killed + counts['timed out'];
    const possible = noticed + counts.survived + counts['not reached'];
    const percent = possible === 0 ? '' : `${((100 * noticed) / possible).toFixed(1)} %`;
    return [file, ...heading.map((kind) => String(counts[kind])), percent];
  });
  const cells = [['', ...heading, 'noticed'], ...rows];
  const widths = cells[0]!.map((_, column) => cells.reduce((widest, row) => Math.max(widest, row[column]!.length), 0));
  return cells.map(([file, ...others]) =>
    [file!.padEnd(widths[0]!), ...others.map((cell, at) => cell.padStart(widths[at + 1]!))].join('  ').trimEnd(),
  );
}

function byPlace(one: Tried, other: Tried): number {
  const [a, b] = [one.location.start, other.location.start];
  if (one.fileName !== other.fileName) return one.fileName < other.fileName ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
