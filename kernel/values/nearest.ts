/** The candidate most like a mistyped word. */
export interface Near {
  readonly name: string;
  /** At most two letters away and the only one so near: what else could be meant. */
  readonly isSure: boolean;
}

/** Letters that differ at most where there is hardly a doubt. */
const SURE_DISTANCE = 2;

/** Longer words are not compared: the effort grows with the square of the length. */
const MAX_LENGTH = 100;

/**
 * The candidate most like a mistyped word: at most a third of its letters away, letter case and the choice between
 * `-`, `_` and nothing not counted.
 * @returns undefined when none is near.
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
    // The first letter is seldom the wrong one.
    if (!isOnly && (candidate[0] !== word[0] || best![0] === word[0])) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best === undefined ? undefined : { name: best, isSure: isOnly && bestDistance <= SURE_DISTANCE };
}

/** The name `findNear` finds. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return findNear(word, candidates)?.name;
}

function plainForm(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Insertions, removals, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + same);
      // Before the first letter there is none, which equals no letter.
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
