import { parseDocument } from '../syntax/load.ts';
import type { Mend, PositionedError } from '../syntax/position.ts';
import { UnreadableError } from '../syntax/unreadable.ts';

/** Maximum number of passes: each pass finds only one error per line. */
const MAX_ROUNDS = 20;

/**
 * A repaired text and the errors that were repaired. An error has its position in the text before its own repair, but
 * after the repair of errors reported earlier, such as those before it on the same line.
 */
export interface Mended {
  readonly text: string;
  readonly made: readonly PositionedError[];
}

/** Repairs errors that keep a text from being parsed, if the repair is unambiguous. @param file determines the format. */
export function mendText(source: string, file: string): Mended {
  let text = source;
  const made: PositionedError[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const results = issuesOf(text, file).filter(({ mend }) => mend !== undefined);
    if (results.length === 0) break;
    text = withMends(
      text,
      results.map(({ mend }) => mend!),
    );
    for (const issue of results) made.push(issue);
  }
  return { text, made };
}

function issuesOf(text: string, file: string): readonly PositionedError[] {
  try {
    parseDocument(text, file);
    return [];
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    return error.errors as readonly PositionedError[];
  }
}

/** @param mends must not overlap. */
function withMends(text: string, mends: readonly Mend[]): string {
  return mends
    .toSorted((one, other) => other.start - one.start)
    .reduce((mended, { start, end, text: instead }) => mended.slice(0, start) + instead + mended.slice(end), text);
}
