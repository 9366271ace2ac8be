import type { Data } from '#contract';
import { type ConfigChange, type ConfigDiff, parsePointer } from '../../config/index.ts';
import { isColoured, type Terminal } from '../terminal.ts';
import { printable } from './excerpt.ts';
import { showPlace } from './report.ts';

const COLOURS = { '+': 32, '-': 31, '~': 33 } as const;
type Mark = keyof typeof COLOURS;

/** Maximum length of a value shown in full, in characters. */
const MAX_VALUE = 200;

/** Prints a comparison for people: the service first, then by endpoint, with positions. Colored only on a terminal. */
export function printDiff(terminal: Terminal, diff: ConfigDiff): void {
  const { stdout: stream } = terminal;
  const coloured = isColoured(stream, terminal);
  const headline = (mark: Mark, name: string): string =>
    coloured ? `\x1b[${COLOURS[mark]}m${mark} ${name}\x1b[0m` : `${mark} ${name}`;
  if (diff.equal) stream.write('No difference.\n');
  let holder: string | undefined;
  for (const change of diff.changes) {
    const { name, path } = placeOf(change);
    if (path.length === 0) {
      stream.write(`${headline(change.op === 'add' ? '+' : '-', name)}${positionText(change)}\n`);
      continue;
    }
    if (name !== holder) stream.write(`${headline('~', name)}\n`);
    holder = name;
    stream.write(`    ${printable(describe(change, path))}${positionText(change)}\n`);
  }
}

function positionText(change: ConfigChange): string {
  return change.line === undefined ? '' : `  ${showPlace(change)}`;
}

/** Splits a change's pointer into its endpoint, or the service, and the remaining path. */
function placeOf({ pointer, route }: ConfigChange): { name: string; path: string[] } {
  const steps = parsePointer(pointer);
  return route
    ? { name: printable(`${route.method} ${route.endpoint}`), path: steps.slice(2) }
    : { name: 'service', path: steps };
}

function describe({ op, from, to, effect }: ConfigChange, path: readonly string[]): string {
  const note = effect === 'swap' ? '' : ` (${effect})`;
  const field = path.reduce(
    (name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`),
    '',
  );
  const values = {
    add: `added ${show(to)}`,
    remove: `removed, was ${show(from)}`,
    replace: `${show(from)} → ${show(to)}`,
  };
  return `${field}: ${values[op]}${note}`;
}

function show(value: Data | undefined): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
