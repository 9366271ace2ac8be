import { nearest } from '#contract';

/** The command was called in a way it does not understand. */
export class UsageError extends Error {}

/** For a word that is none of those it could be, with the one it is most like. */
export function unknownWord(kind: string, word: string, known: Iterable<string>): UsageError {
  const near = nearest(word, known);
  return new UsageError(`unknown ${kind} "${word}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
}
