import type { ConfigError } from '#contract';
import { type Document, type IsSecret, type Issue, readDocument, toIssues, UnreadableError } from '../config/index.ts';
import type { FilePosition } from '../inspect/index.ts';
import type { Findings } from './formats/format.ts';
import { text } from './formats/text.ts';
import { isColoured, type Terminal } from './terminal.ts';

/** What a file was read as; null when it could not be read. */
export type Source = Document | UnreadableError | null;

/**
 * The findings about a file with their places, from its beginning to its end.
 * @param isSecret which values are masked. Default: by names and texts.
 */
export function findingsOf(
  file: string,
  source: Source,
  errors: readonly ConfigError[],
  warnings: readonly ConfigError[] = [],
  isSecret?: IsSecret,
): Findings {
  const document = source instanceof UnreadableError ? null : source;
  const issues = (results: readonly ConfigError[], severity: Issue['severity']): Issue[] =>
    toIssues(document, results, severity, isSecret)
      .map((issue) => ({ file, ...issue }))
      .sort(byPosition);
  return {
    file,
    text: document ? document.written : source?.text,
    document,
    errors: issues(errors, 'error'),
    warnings: issues(warnings, 'warning'),
    isSecret,
  };
}

/** Sorts findings by their places; what has none comes first. */
export function byPosition(one: Issue, other: Issue): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** Prints findings for people on standard error. */
export function printFindings(terminal: Terminal, findings: Findings): void {
  const { stderr } = terminal;
  stderr.write(text.print(findings, isColoured(stderr, terminal)));
}

/** Prints the mistakes of a configuration file with their places on standard error. */
export async function printErrors(terminal: Terminal, file: string, errors: readonly ConfigError[]): Promise<void> {
  const source = await readDocument(file).catch((error: unknown) => (error instanceof UnreadableError ? error : null));
  printFindings(terminal, findingsOf(file, source, errors));
}

/** `file:line:column`, as editors and terminals make links of. */
export function showPlace({ file, line, column, pointer }: FilePosition): string {
  return line === undefined ? (file ?? pointer) : `${file}:${line}:${column}`;
}
