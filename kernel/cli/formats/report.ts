import type { ConfigError } from '#contract';
import {
  type Document,
  type IsSecret,
  type Issue,
  readDocument,
  toIssues,
  UnreadableError,
} from '../../config/index.ts';
import type { FilePosition } from '../../inspect/index.ts';
import { isColoured, type Terminal } from '../terminal.ts';
import type { Findings } from './format.ts';
import { text } from './text.ts';

/** Result of reading a file; null when it could not be read. */
export type Source = Document | UnreadableError | null;

/**
 * Returns the findings in a file with their positions, in file order.
 * @param isSecret decides which values are masked. Default: by names and texts.
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

/** Sort order of findings by position; those without a position come first. */
export function byPosition(one: Issue, other: Issue): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** Prints findings for people on standard error. */
export function printFindings(terminal: Terminal, findings: Findings): void {
  const { stderr } = terminal;
  stderr.write(text.print(findings, isColoured(stderr, terminal)));
}

/** Prints the errors of a configuration file, with positions, on standard error. */
export async function printErrors(terminal: Terminal, file: string, errors: readonly ConfigError[]): Promise<void> {
  const source = await readDocument(file).catch((error: unknown) => (error instanceof UnreadableError ? error : null));
  printFindings(terminal, findingsOf(file, source, errors));
}

/** Formats a position as `file:line:column`, which editors and terminals turn into links. */
export function showPlace({ file, line, column, pointer }: FilePosition): string {
  return line === undefined ? (file ?? pointer) : `${file}:${line}:${column}`;
}
