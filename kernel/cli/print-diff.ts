import type { Data, ServiceConfig } from '#contract';
import { type ConfigChange, type ConfigDiff, parsePointer } from '../config/index.ts';
import { isColoured, type Terminal } from './terminal.ts';

const COLOURS = { '+': 32, '-': 31, '~': 33 } as const;
type Mark = keyof typeof COLOURS;

/** Longest value shown whole, in characters. */
const MAX_VALUE = 200;

/** Prints a comparison for people: the service first, then by endpoint. Coloured on a terminal only. */
export function printDiff(terminal: Terminal, diff: ConfigDiff, from: ServiceConfig, to: ServiceConfig): void {
  const { stdout: stream } = terminal;
  const coloured = isColoured(stream, terminal);
  const headline = (mark: Mark, name: string): string =>
    coloured ? `\x1b[${COLOURS[mark]}m${mark} ${name}\x1b[0m\n` : `${mark} ${name}\n`;
  if (diff.equal) stream.write('No difference.\n');
  let holder: string | undefined;
  for (const change of diff.changes) {
    const { name, path } = placeOf(change, from, to);
    if (path.length === 0) {
      stream.write(headline(change.op === 'add' ? '+' : '-', name));
      continue;
    }
    if (name !== holder) stream.write(headline('~', name));
    holder = name;
    stream.write(`    ${describe(change, path)}\n`);
  }
}

/** Which endpoint, or the service, a change belongs to, and the rest of the way. */
function placeOf(
  { op, pointer }: ConfigChange,
  from: ServiceConfig,
  to: ServiceConfig,
): { name: string; path: string[] } {
  const steps = parsePointer(pointer);
  if (steps[0] !== 'endpoints' || steps.length < 2) return { name: 'service', path: steps };
  const { method, endpoint } = (op === 'remove' ? from : to).endpoints[Number(steps[1])]!;
  return { name: `${method} ${endpoint}`, path: steps.slice(2) };
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
