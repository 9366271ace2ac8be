import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { version } from '../../version.ts';
import { pathFromHere } from './path.ts';

/** A SARIF 2.1.0 log of one run, for code reviews. */
export interface SarifRun {
  readonly tool: string;
  readonly rules: readonly object[];
  readonly results: readonly object[];
}

/** The text of a log. */
export function printSarif({ tool, rules, results }: SarifRun): string {
  const driver = { name: tool, version, rules };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** A place in a file, and in what it says. */
export interface SarifPlace {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly endLine?: number | undefined;
  readonly endColumn?: number | undefined;
  readonly pointer: string;
}

export function sarifLocation({ file, line = 1, column, endLine, endColumn, pointer }: SarifPlace): object {
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
