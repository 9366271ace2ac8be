import { type Position, PositionedError } from '../../config/index.ts';
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
  const position = place && placeIn(place);
  return new PositionedError('PLUGIN_LOAD', pointer, reasonOf(error), {
    file: place?.file ?? entry,
    position,
    cause: error,
  });
}

/** Position of a single place, in the form of an error's position. */
export function placeIn({ line, column }: SourcePlace): Position {
  return { line, column, endLine: line, endColumn: column };
}

/** Beginning of the reason for a plugin whose evaluation exceeded its time limit. */
export const UNFINISHED = 'the plugin did not finish loading';

/** Information about the code that did not finish. */
interface Unfinished {
  /** Place in the source at which the code was running. */
  readonly running?: SourcePlace | undefined;
  /** Lines of the top-level `await`s of the plugin's file. */
  awaits(): readonly number[];
}

/** Converts the error of a timeout to one with place and hint. @returns undefined for any other error. */
export function unfinished(error: unknown, file: string, { running, awaits }: Unfinished): PositionedError | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
    const hint = 'move the work into attach, or into site.warm if it takes long';
    return loadError(`${UNFINISHED}: it runs in an endless loop`, running ?? { file }, hint);
  }
  if (code !== 'ERR_LOAD_TIMEOUT') return undefined;
  const lines = awaits();
  const several = lines.length > 1 ? `, at one of the lines ${lines.join(', ')}` : '';
  const place = lines[0] === undefined ? { file } : { file, line: lines[0], column: 1 };
  const hint = 'limit the time that the plugin waits, or wait in site.warm, which has a time limit';
  return loadError(`${UNFINISHED}: it waits for a promise that never settles${several}`, place, hint);
}

function loadError(reason: string, place: SourcePlace | { readonly file: string }, hint: string): PositionedError {
  const position = 'line' in place ? placeIn(place) : undefined;
  return new PositionedError('PLUGIN_LOAD', '', reason, { file: place.file, position, hint });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `the plugin threw ${String(error)}`;
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
