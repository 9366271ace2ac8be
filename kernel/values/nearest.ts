/** The candidate most similar to a mistyped word. */
export interface Near {
  readonly name: string;
  /** At most two edits away, and the only candidate that close. */
  readonly isSure: boolean;
}

/** Maximum number of edits of a certain match. */
const SURE_DISTANCE = 2;

/** Maximum length of compared words, because the cost grows with the square of the length. */
const MAX_LENGTH = 100;

/**
 * Finds the candidate most similar to a mistyped word: at most a third of its letters may differ, ignoring letter case
 * and the choice between `-`, `_` and nothing.
 * @returns undefined if no candidate is similar enough.
 */
export function findNear(word: string, candidates: Iterable<string>): Near | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const plain = plainForm(word);
  let best: string | undefined;
  let isOnly = true;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance + 2 || candidate.length > MAX_LENGTH) continue;
    const distance = editDistance(plain, plainForm(candidate));
    if (distance > bestDistance || (best === undefined && distance === bestDistance)) continue;
    isOnly = distance < bestDistance;
    // Candidates with the same first letter are preferred, because the first letter is rarely mistyped.
    if (!isOnly && (candidate[0] !== word[0] || best![0] === word[0])) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best === undefined ? undefined : { name: best, isSure: isOnly && bestDistance <= SURE_DISTANCE };
}

/** Name of the candidate that `findNear` returns. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return findNear(word, candidates)?.name;
}

function plainForm(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Number of insertions, deletions, replacements and swaps of neighboring letters that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + same);
      // At the first letter, the index yields undefined, which is not equal to any letter.
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
