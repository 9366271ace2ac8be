import { breaks, type CheckResult, type Difference, describeDifference, isBreaking } from '../../cases/index.ts';
import type { FilePosition } from '../../inspect/index.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { pathFromHere } from '../formats/format.ts';
import { annotation } from '../formats/github.ts';
import { printJunit } from '../formats/junit-suite.ts';

/** Everything that a check of contracts reports. */
export interface CheckReport extends Omit<CheckResult, 'untested'> {
  /** Path of the configuration. */
  readonly file: string;
  /** Number of contracts. */
  readonly contracts: number;
  /** Endpoints whose contract no request has reached. */
  readonly untested: readonly string[];
  /** Number of requests that were not compared, because their credentials are masked. */
  readonly masked: number;
  /** Number of requests that were not sent, because their recording is incomplete. */
  readonly incomplete: number;
  /** Position of an endpoint in the configuration; undefined for a removed one. */
  readonly placeOf: (endpoint: string) => FilePosition | undefined;
}

type PrintCheck = (report: CheckReport) => string;

/** Maximum number of untested endpoints that the summary names. */
const MAX_NAMED = 5;

/** Differences by endpoint, in the order of their kinds. */
function byEndpoint(differences: readonly Difference[]): Map<string, Difference[]> {
  const order: readonly string[] = [...Object.keys(breaks), 'added'];
  const sorted = differences.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  return Map.groupBy(sorted, ({ endpoint }) => endpoint);
}

const text: PrintCheck = (report) => {
  const lines: string[] = [];
  for (const [endpoint, all] of byEndpoint(report.differences)) {
    lines.push(endpoint);
    for (const difference of all) {
      lines.push(`  ${isBreaking(difference) ? 'breaking' : 'compatible'}  ${describeDifference(difference)}`);
      if (difference.isKnown && isBreaking(difference)) lines.push('    also in the responses before the change');
      if (isBreaking(difference) && difference.example !== null) lines.push(`    for example ${difference.example}`);
    }
  }
  if (lines.length > 0) lines.push('');
  return `${[...lines, ...summary(report)].map((line) => printable(line)).join('\n')}\n`;
};

function summary(report: CheckReport): string[] {
  const { differences, requests, contracts, uncontracted, untested, masked, incomplete, notes } = report;
  const breaking = differences.filter(isBreaking).length;
  const lines = [
    `${counted(breaking, 'breaking change')}, ${counted(differences.length - breaking, 'compatible change')}: ${counted(requests, 'request')}, ${counted(contracts, 'contract')}`,
  ];
  if (untested.length > 0) {
    const named = untested.slice(0, MAX_NAMED).join(', ');
    lines.push(
      `${counted(untested.length, 'contract')} without a request: ${named}${untested.length > MAX_NAMED ? ', …' : ''}`,
    );
  }
  if (uncontracted > 0) lines.push(`${counted(uncontracted, 'request')} to endpoints without a contract`);
  if (masked > 0) lines.push(`${counted(masked, 'request')} not compared: credentials are masked in the recording`);
  if (incomplete > 0) lines.push(`${counted(incomplete, 'request')} not compared: the recording is incomplete`);
  for (const [note, count] of notes) lines.push(`${counted(count, 'request')}: ${note}`);
  return lines;
}

const json: PrintCheck = ({ differences, notes, placeOf, file: _, ...counts }) => {
  const placed = ({ isKnown, ...difference }: Difference) => {
    const { file, line, column } = placeOf(difference.endpoint) ?? {};
    return { ...difference, known: isKnown, ...(line !== undefined && { file, line, column }) };
  };
  const breaking = differences.filter(isBreaking).map(placed);
  const compatible = differences.filter((difference) => !isBreaking(difference)).map(placed);
  const compared = { ...counts, notes: Object.fromEntries(notes) };
  return `${JSON.stringify({ compatible: breaking.length === 0, breaking, added: compatible, ...compared })}\n`;
};

const junit: PrintCheck = ({ differences, contracts, file }) => {
  const broken = [...byEndpoint(differences.filter(isBreaking))];
  return printJunit({
    file,
    failed: broken.map(([endpoint, all]) => ({
      name: endpoint,
      failures: all.map((difference) => {
        const message = describeDifference(difference);
        const example = difference.example === null ? '' : `\nfor example ${difference.example}`;
        return { message, details: message + example };
      }),
    })),
    passed: broken.length > 0 ? null : counted(contracts, 'contract'),
  });
};

/** Prints the differences as annotations of a GitHub workflow, each on the line of its endpoint in the configuration. */
const github: PrintCheck = ({ differences, file, placeOf }) =>
  differences
    .filter(isBreaking)
    .map((difference) => {
      const { line, column } = placeOf(difference.endpoint) ?? {};
      const place = { ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
      const message = `${difference.endpoint}: ${describeDifference(difference)}`;
      const issue = { severity: 'error', code: 'CONTRACT_BROKEN', pointer: '', namespace: 'core', ...place } as const;
      return annotation(pathFromHere(file) ?? file, { ...issue, message });
    })
    .join('');

/** The formats of `contracts check`, by name. */
export const checkFormats: ReadonlyMap<string, PrintCheck> = new Map(Object.entries({ text, json, junit, github }));
