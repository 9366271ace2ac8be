import { PatternLimit } from '#contract';

/** Longest text that is produced, in UTF-16 units. */
const LONGEST = 32 * 1024 * 1024;

/**
 * Prepares the replacement of every literal occurrence of a text.
 * @param find at least one character. @returns the replacing function; it throws PatternLimit if the result is too
 * long.
 */
export function replaceLiteral(find: string, replacement: string): (text: string) => string {
  const growth = replacement.length - find.length;
  return (text) => {
    if (growth > 0 && text.length + growth * Math.floor(text.length / find.length) > LONGEST) {
      const occurrences = text.split(find).length - 1;
      if (text.length + growth * occurrences > LONGEST) throw new PatternLimit(find);
    }
    return text.replaceAll(find, () => replacement);
  };
}
