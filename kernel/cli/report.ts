import type { ConfigError } from '#contract';
import { type Document, PlacedError, type Position, parentPointer, readDocument } from '../config/index.ts';

/** One finding of `check`, in the form that programs read. */
export interface Issue {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly endLine?: number;
  readonly endColumn?: number;
  readonly pointer: string;
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Finds the place of every finding; a wrong key is placed at the key, a missing one at the object that lacks it. */
export function toIssues(
  file: string,
  document: Document | null,
  errors: readonly ConfigError[],
  severity: Issue['severity'],
): Issue[] {
  return errors.map((error) => {
    const position = error instanceof PlacedError ? error.position : place(document, error);
    return {
      file,
      ...position,
      pointer: error.pointer,
      severity,
      code: error.code,
      message: error.message,
      ...(error.hint !== undefined && { hint: error.hint }),
    };
  });
}

function place(document: Document | null, error: ConfigError): Position | undefined {
  if (!document) return undefined;
  const part = error.code === 'SCHEMA_UNKNOWN_KEY' || error.code.startsWith('NAMESPACE_') ? 'key' : 'value';
  for (let pointer = error.pointer; ; pointer = parentPointer(pointer)) {
    const position = document.locate(pointer, part);
    if (position || pointer === '') return position;
  }
}

/** One finding a paragraph: place, message, pointer, code, and what to write instead. */
export function formatIssue(issue: Issue): string {
  const where = issue.line === undefined ? issue.file : `${issue.file}:${issue.line}:${issue.column}`;
  const name = issue.pointer === '' ? '' : ` (${issue.pointer})`;
  const hint = issue.hint === undefined ? '' : `\n    hint: ${issue.hint}`;
  const lead = issue.message.startsWith(issue.file) ? '' : `${where}: `;
  return `${lead}${issue.severity}: ${issue.message}${name} [${issue.code}]${hint}\n`;
}

/** Prints the mistakes of a configuration file with their places. */
export async function printErrors(
  stream: NodeJS.WritableStream,
  file: string,
  errors: readonly ConfigError[],
): Promise<void> {
  const document = await readDocument(file).catch(() => null);
  for (const issue of toIssues(file, document, errors, 'error')) stream.write(formatIssue(issue));
}
