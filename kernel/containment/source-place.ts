import { fileURLToPath } from 'node:url';
import { type SourcePlace, stackInSource, textOf } from './source-columns.ts';

/** Maximum characters of a stack that are examined. */
const LONGEST_STACK = 32 * 1024;

/** Stack of a thrown value, with the source positions of plugins; empty without one. Never throws. */
export function stackOf(error: unknown): string {
  try {
    const stack = (error as Partial<Error> | null | undefined)?.stack;
    return typeof stack === 'string' ? stackInSource(error as Error, stack.slice(0, LONGEST_STACK)) : '';
  } catch {
    return '';
  }
}

/** Message of a thrown value, in one line of at most 300 characters. Never throws, whatever `error` is. */
export function messageOf(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
    return text.replaceAll(/\s*\n\s*/g, ' ').slice(0, 300);
  } catch {
    return 'thrown: a value without a text';
  }
}

/** Source positions in a stack, innermost first; Node.js internals are omitted. */
export function placesOf(stack: string): SourcePlace[] {
  return stack.split('\n').flatMap((line) => {
    const frame = /^\s*at (?:.*\((.+)\)|(?:async )?(.+))$/.exec(line);
    const [, location, row, column] = /^(.+?):(\d+):(\d+)$/.exec(frame?.[1] ?? frame?.[2] ?? '') ?? [];
    const file = location === undefined ? null : pathOf(location);
    return file === null ? [] : [{ file, line: Number(row), column: Number(column) }];
  });
}

/** Path of a script's file; null for a script without a file, such as evaluated code. */
export function pathOf(location: string): string | null {
  if (location.startsWith('node:')) return null;
  if (!location.startsWith('file:')) return /^(?:\/|[A-Za-z]:[\\/])/.test(location) ? location : null;
  try {
    return fileURLToPath(location.replace(/[?#].*$/s, ''));
  } catch {
    return null;
  }
}

/** Innermost position of a stack that is in one of the files, as in `/app/plugins/audit.ts:12:7`. */
export function placeIn(files: ReadonlySet<string>, stack: string): string | null {
  const place = placesOf(stack).find(({ file }) => files.has(file));
  return place ? textOf(place) : null;
}
