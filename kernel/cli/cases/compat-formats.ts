import { type CompatPlan, type CompatResult, type GroupedChange, reasons } from '../../cases/index.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { pathFromHere } from '../formats/format.ts';
import { annotation } from '../formats/github.ts';
import { showPlace } from '../formats/report.ts';
import { describe, replayFormats, sorted } from './replay-formats.ts';

/** A comparison, with the changes that were accepted. */
export interface CompatReport extends CompatResult, Pick<CompatPlan, 'omitted' | 'positions'> {
  readonly accepted: readonly GroupedChange[];
  readonly file: string;
  readonly seed: number;
}

type PrintCompat = (report: CompatReport) => string;

const text: PrintCompat = (report) => {
  const { changes, accepted, positions, requests, seed, ms, unstable } = report;
  const lines: string[] = [];
  for (const [endpoint, all] of Map.groupBy(changes, (change) => change.endpoint)) {
    const position = positions.get(endpoint);
    lines.push(position ? `${endpoint}  ${showPlace(position)}` : endpoint);
    for (const change of sorted(all)) {
      lines.push(`  ${describe(change)}`);
      lines.push(`    ${counted(change.requests, 'request')}, for example ${change.example}`);
      lines.push(`    accept: ${change.key}`);
    }
  }
  if (lines.length > 0) lines.push('');
  for (const [reason, times] of report.intended)
    lines.push(`by design in ${counted(times, 'request')}: ${reasons[reason]}`);
  for (const { id, reason } of report.omitted) lines.push(`not compared: ${id}: ${reason}`);
  for (const [endpoint, times] of report.unserved) {
    if (positions.has(endpoint)) lines.push(`never successful in ${counted(times, 'request')}: ${endpoint}`);
  }
  for (const server of report.unmocked) lines.push(`not compared: ${server}, which is not mocked`);
  for (const refusal of report.refusals) lines.push(`not reached: ${refusal}`);
  if (report.hidden > 0) lines.push(`${counted(report.hidden, 'further difference')} not listed`);
  if (unstable > 0) lines.push(`${counted(unstable, 'request')} with differences that did not occur again`);
  if (accepted.length > 0) lines.push(`${counted(accepted.length, 'difference')} accepted`);
  const time = `in ${Math.round(ms)} ms with seed ${seed}`;
  lines.push(`${counted(requests, 'request')} compared ${time}: ${counted(changes.length, 'difference')}`);
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
};

const json: PrintCompat = ({
  changes,
  accepted,
  intended,
  omitted,
  unserved,
  positions,
  requests,
  unstable,
  hidden,
  seed,
  ms,
}) => {
  const placed = sorted(changes).map((change) => {
    const { line, column } = positions.get(change.endpoint) ?? {};
    return { ...change, ...(line !== undefined && { line, column }) };
  });
  const byDesign = [...intended].map(([reason, times]) => ({ reason, description: reasons[reason], requests: times }));
  return `${JSON.stringify({
    same: changes.length + hidden === 0,
    hidden,
    requests,
    seed,
    unstable,
    ms: Math.round(ms),
    changes: placed,
    accepted,
    byDesign,
    omitted,
    unserved: [...unserved.keys()].filter((endpoint) => positions.has(endpoint)),
  })}\n`;
};

const junit: PrintCompat = (report) => replayFormats.get('junit')!({ ...report, incomplete: 0, unfaithful: 0 });

/** Annotations of GitHub workflows at the endpoints, one per line. */
const github: PrintCompat = ({ changes, positions, file }) =>
  sorted(changes)
    .map((change) => {
      const { line, column } = positions.get(change.endpoint) ?? {};
      const place = line === undefined ? {} : { line, column };
      const message = `${change.endpoint}: ${describe(change)}\n${counted(change.requests, 'request')}, for example ${change.example}`;
      const issue = { severity: 'error', code: 'COMPAT_DIFFERENCE', pointer: '', namespace: 'core', message } as const;
      return annotation(pathFromHere(file) ?? file, { ...issue, ...place });
    })
    .join('');

/** The formats of `compat`, by name. */
export const compatFormats: ReadonlyMap<string, PrintCompat> = new Map(Object.entries({ text, json, junit, github }));
