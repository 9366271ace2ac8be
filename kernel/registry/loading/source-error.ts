import { PositionedError } from '../../config/index.ts';

/** A place in a plugin's source; lines and columns count from 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * What went wrong in a plugin's source, at its place there.
 * @param pointer what in the configuration brings the plugin.
 * @param entry the plugin's file, where no other place is known.
 * @param files the plugin's files: the place is the innermost one in them.
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

/** How the reason begins where a plugin's evaluation took too long. */
export const UNFINISHED = 'the plugin did not finish loading';

/** Codes of errors whose text says nothing to whoever wrote the plugin. */
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
export function placeOf(error: unknown, files: readonly string[]): Place | undefined {
  if (!(error instanceof Error)) return undefined;
  const known = new Set(files);
  for (const line of String(error.stack).split('\n')) {
    const match = /(?:\(|at |^)(?:async )?(?:file:\/\/)?(\/.*?|[A-Za-z]:\\.*?):(\d+)(?::(\d+))?\)?$/.exec(line);
    if (!match || !known.has(match[1]!)) continue;
    return { file: match[1]!, line: Number(match[2]), column: Number(match[3] ?? caretColumn(String(error.stack))) };
  }
  return undefined;
}

/** A mistake of syntax has its line at the head of its stack, then the line itself, then carets below what is wrong. */
function caretColumn(stack: string): number {
  const carets = stack.split('\n').find((line) => /^\s*\^+\s*$/.test(line));
  return carets === undefined ? 1 : carets.indexOf('^') + 1;
}
