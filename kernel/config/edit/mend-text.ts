import { parseDocument } from '../syntax/load.ts';
import type { Mend, PositionedError } from '../syntax/position.ts';
import { UnreadableError } from '../syntax/unreadable.ts';

/** Of the mistakes on one line one is told at a time. */
const MAX_ROUNDS = 20;

/** A text and the mistakes in it that were made good, each at its place before that; of a line, when those before were. */
export interface Mended {
  readonly text: string;
  readonly made: readonly PositionedError[];
}

/** Makes good in a text what keeps it from being read, as far as that takes no choice. @param file for its format. */
export function mendText(source: string, file: string): Mended {
  let text = source;
  const made: PositionedError[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const results = mistakesOf(text, file).filter(({ mend }) => mend !== undefined);
    if (results.length === 0) break;
    text = withMends(
      text,
      results.map(({ mend }) => mend!),
    );
    for (const mistake of results) made.push(mistake);
  }
  return { text, made };
}

function mistakesOf(text: string, file: string): readonly PositionedError[] {
  try {
    parseDocument(text, file);
    return [];
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    return error.errors as readonly PositionedError[];
  }
}

/** @param mends apart from each other. */
function withMends(text: string, mends: readonly Mend[]): string {
  return mends
    .toSorted((one, other) => other.start - one.start)
    .reduce((mended, { start, end, text: instead }) => mended.slice(0, start) + instead + mended.slice(end), text);
}
