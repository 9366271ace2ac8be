import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Issue } from '../../config/index.ts';
import { version } from '../../version.ts';
import { type Format, pathFromHere } from './format.ts';

/** SARIF 2.1.0, for code scanning. */
export const sarif: Format = {
  isForPeople: false,
  print({ file, errors, warnings }) {
    const issues = [...errors, ...warnings];
    const codes = [...new Set(issues.map(({ code }) => code))].sort();
    const seen = new Map<string, number>();
    return printSarif({
      tool: 'Sluice',
      rules: codes.map(ruleOf),
      results: issues.map((issue) => resultOf(issue, file, codes.indexOf(issue.code), seen)),
    });
  },
};

function ruleOf(code: string): object {
  const words = code.toLowerCase().replaceAll('_', ' ');
  const description = { text: `${words[0]!.toUpperCase()}${words.slice(1)}` };
  return { id: code, shortDescription: description, fullDescription: description, help: description };
}

function resultOf(issue: Issue, file: string, ruleIndex: number, seen: Map<string, number>): object {
  const { code, severity, namespace, pointer, message, value, hint, related = [] } = issue;
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: hint === undefined ? message : `${message}\nhint: ${hint}` },
    locations: [sarifLocation({ file, ...issue })],
    ...(related.length > 0 && {
      relatedLocations: related.map((place, id) => ({
        id,
        message: { text: place.message ?? `see also ${place.pointer}` },
        ...sarifLocation({ file, ...place }),
      })),
    }),
    partialFingerprints: { primaryLocationLineHash: fingerprint(`${code}\n${pointer}`, seen) },
    properties: { namespace, ...(value !== undefined && { value }), ...(hint !== undefined && { hint }) },
  };
}

/** Identifies an error independently of its line; repeated errors are numbered. */
function fingerprint(subject: string, seen: Map<string, number>): string {
  const count = (seen.get(subject) ?? 0) + 1;
  seen.set(subject, count);
  return `${createHash('sha256').update(subject).digest('hex').slice(0, 16)}:${count}`;
}

/** A SARIF 2.1.0 log of one run, for code scanning. */
export interface SarifRun {
  readonly tool: string;
  readonly rules: readonly object[];
  readonly results: readonly object[];
}

/** Formats a log as text. */
export function printSarif({ tool, rules, results }: SarifRun): string {
  const driver = { name: tool, version, rules };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** A position in a file, and in its content. */
export interface SarifPosition {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly endLine?: number | undefined;
  readonly endColumn?: number | undefined;
  readonly pointer: string;
}

export function sarifLocation({ file, line = 1, column, endLine, endColumn, pointer }: SarifPosition): object {
  return {
    ...(file !== undefined && {
      physicalLocation: {
        artifactLocation: artifactOf(file),
        region: { startLine: line, ...(column !== undefined && { startColumn: column, endLine, endColumn }) },
      },
    }),
    logicalLocations: [{ fullyQualifiedName: pointer || '/' }],
  };
}

function artifactOf(file: string): object {
  const path = pathFromHere(file);
  return path === undefined
    ? { uri: pathToFileURL(resolve(file)).href }
    : { uri: path.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}
