import { causes, type GroupedChange, type ReplayResult } from '../../cases/index.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { printJunit } from '../formats/junit-suite.ts';
import { showPlace } from '../formats/report.ts';

/** A replay, with the changes that were accepted. */
export interface ReplayReport extends ReplayResult {
  readonly accepted: readonly GroupedChange[];
  readonly file: string;
}

type PrintReplay = (report: ReplayReport) => string;

/** Changes of one endpoint, in the order of their causes. */
export function sorted(changes: readonly GroupedChange[]): GroupedChange[] {
  const order = Object.keys(causes);
  return changes.toSorted((one, other) => order.indexOf(one.cause) - order.indexOf(other.cause));
}

/** Text of a change without its endpoint, for example `field became visible: email`. */
export function describe({ cause, at, shown }: GroupedChange): string {
  const name = at === '' ? causes[cause] : `${causes[cause]}: ${at}`;
  return shown === '' ? name : `${name} (${shown})`;
}

const text: PrintReplay = ({ changes, hidden, accepted, requests, incomplete, unfaithful, ms }) => {
  const lines: string[] = [];
  for (const [endpoint, all] of Map.groupBy(changes, (change) => change.endpoint)) {
    lines.push(endpoint);
    for (const change of sorted(all)) {
      lines.push(`  ${describe(change)}`);
      lines.push(`    ${counted(change.requests, 'request')}, for example ${change.example}`);
      for (const { text: setting, ...place } of change.settings) {
        lines.push(`    ${setting}${place.line === undefined ? '' : `  ${showPlace(place)}`}`);
      }
      lines.push(`    accept: ${change.key}`);
    }
  }
  if (lines.length > 0) lines.push('');
  lines.push(
    `${counted(requests, 'request')} replayed in ${Math.round(ms)} ms: ${counted(changes.length, 'difference')}`,
  );
  if (hidden > 0) lines.push(`${counted(hidden, 'further difference')} not listed`);
  if (accepted.length > 0) lines.push(`${counted(accepted.length, 'difference')} accepted`);
  if (incomplete > 0) lines.push(`${counted(incomplete, 'request')} not replayed: the recording is incomplete`);
  if (unfaithful > 0) {
    lines.push(
      `${counted(unfaithful, 'request')} got a status other than the recorded one from the baseline, for example because credentials are masked`,
    );
  }
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
};

const json: PrintReplay = ({ changes, hidden, accepted, requests, incomplete, unfaithful, ms }) =>
  `${JSON.stringify({ same: changes.length === 0 && hidden === 0, requests, incomplete, unfaithful, ms: Math.round(ms), changes: sorted(changes), hidden, accepted })}\n`;

const junit: PrintReplay = ({ file, changes, requests, ms }) => {
  const byEndpoint = [...Map.groupBy(changes, (change) => change.endpoint)];
  return printJunit({
    file,
    failed: byEndpoint.map(([name, all]) => ({
      name,
      failures: sorted(all).map((change) => {
        const message = describe(change);
        const example = `${counted(change.requests, 'request')}, for example ${change.example}`;
        return { message, details: `${message}\n${example}` };
      }),
    })),
    passed: byEndpoint.length > 0 ? null : `${requests} requests`,
    ms,
  });
};

/** The formats of `replay`, by name. */
export const replayFormats: ReadonlyMap<string, PrintReplay> = new Map(Object.entries({ text, json, junit }));
