import { PositionedError } from '../../config/index.ts';
import { placeInSource, type SourcePlace } from '../../containment/source-columns.ts';

/**
 * Creates an error for a plugin's source, with its location there.
 * @param pointer the configuration field that names the plugin.
 * @param entry the plugin's file, used if no other location is known.
 * @param files the plugin's files: the location is the innermost one in them.
 */
export function sourceError(
  pointer: string,
  error: unknown,
  entry: string,
  files: readonly string[] = [entry],
): PositionedError {
  if (error instanceof PositionedError) {
    return new PositionedError(error.code, pointer, error.reason, error);
  }
  const place = placeOf(error, files);
  const position = place && { ...place, endLine: place.line, endColumn: place.column };
  return new PositionedError('PLUGIN_LOAD', pointer, reasonOf(error), {
    file: place?.file ?? entry,
    position,
    cause: error,
  });
}

/** Beginning of the reason when a plugin's evaluation took too long. */
export const UNFINISHED = 'the plugin did not finish loading';

/** Replacements for error messages that do not help the plugin's author, by code. */
const reasons: Readonly<Record<string, string>> = {
  ERR_SCRIPT_EXECUTION_TIMEOUT: `${UNFINISHED}: it runs in an endless loop`,
  ERR_LOAD_TIMEOUT: `${UNFINISHED}: it awaits a promise that never settles`,
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `the plugin threw ${String(error)}`;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && Object.hasOwn(reasons, code)) return reasons[code]!;
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
}

/** The first place of the stack that is in one of these files. */
export function placeOf(error: unknown, files: readonly string[]): SourcePlace | undefined {
  if (!(error instanceof Error)) return undefined;
  const known = new Set(files);
  for (const line of String(error.stack).split('\n')) {
    const match = /(?:\(|at |^)(?:async )?(?:file:\/\/)?(\/.*?|[A-Za-z]:\\.*?):(\d+)(?::(\d+))?\)?$/.exec(line);
    if (!match || !known.has(match[1]!)) continue;
    const row = Number(match[2]);
    const column = Number(match[3] ?? caretColumn(String(error.stack), row));
    return placeInSource({ file: match[1]!, line: row, column });
  }
  return undefined;
}

/** Column of a syntax error: its stack begins with the line number, the line itself, and carets below the error. */
function caretColumn(stack: string, line: number): number {
  const lines = stack.split('\n');
  const at = lines.findIndex((text) => /^\s*\^+\s*$/.test(text));
  if (at < 0) return 1;
  const [wrapping = ''] = (line === 1 && WRAPPING.exec(lines[at - 1] ?? '')) || [];
  return lines[at]!.indexOf('^') - wrapping.length + 1;
}

/** Prefix of line 1 of a plugin's module, which is run as a function. */
const WRAPPING = /^\((?:async )?function \(exports, [\w, ]+\) \{/;
