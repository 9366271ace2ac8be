import { type ConfigChange, type ConfigDiff, describeChange, stepsOf } from '../../config/index.ts';
import { isColoured, type Terminal } from '../terminal.ts';
import { printable } from './excerpt.ts';
import { showPlace } from './report.ts';

const COLOURS = { '+': 32, '-': 31, '~': 33 } as const;
type Mark = keyof typeof COLOURS;

/** Prints a comparison for people: the service first, then by endpoint, with positions. Colored only on a terminal. */
export function printDiff(terminal: Terminal, diff: ConfigDiff): void {
  const { stdout: stream } = terminal;
  const coloured = isColoured(stream, terminal);
  const headline = (mark: Mark, name: string): string =>
    coloured ? `\x1b[${COLOURS[mark]}m${mark} ${name}\x1b[0m` : `${mark} ${name}`;
  if (diff.equal) stream.write('No difference.\n');
  let holder: string | undefined;
  for (const change of diff.changes) {
    const name = holderOf(change);
    if (stepsOf(change).length === 0) {
      stream.write(`${headline(change.op === 'add' ? '+' : '-', name)}${positionText(change)}\n`);
      continue;
    }
    if (name !== holder) stream.write(`${headline('~', name)}\n`);
    holder = name;
    stream.write(`    ${printable(describeChange(change))}${positionText(change)}\n`);
  }
}

function positionText(change: ConfigChange): string {
  return change.line === undefined ? '' : `  ${showPlace(change)}`;
}

/** The endpoint of a change, or the service. */
function holderOf({ route }: ConfigChange): string {
  return route ? printable(`${route.method} ${route.endpoint}`) : 'service';
}
