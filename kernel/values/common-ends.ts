/** Length of the common prefix of two texts. */
export function commonPrefix(one: string, other: string): number {
  return commonFrom(one, 0, other, 0, Math.min(one.length, other.length));
}

/** Number of characters in common after a position in each text. @param most upper limit. */
export function commonFrom(one: string, ofOne: number, other: string, ofOther: number, most: number): number {
  return longest(most, (from, to) => one.slice(ofOne + from, ofOne + to) === other.slice(ofOther + from, ofOther + to));
}

/** Length of the common suffix of two texts, after a position in both. */
export function commonSuffix(one: string, other: string, behind: number): number {
  const ofEnd = (text: string, from: number, to: number) => text.slice(text.length - to, text.length - from);
  const most = Math.min(one.length, other.length) - behind;
  return longest(most, (from, to) => ofEnd(one, from, to) === ofEnd(other, from, to));
}

const CHUNK = 65_536;

/**
 * Greatest number of characters, at most `most`, for which the texts are equal. `isSame` compares one range of the
 * texts.
 */
function longest(most: number, isSame: (from: number, to: number) => boolean): number {
  let at = 0;
  while (at + CHUNK <= most && isSame(at, at + CHUNK)) at += CHUNK;
  for (let size = CHUNK >> 1; size > 0; size >>= 1) if (at + size <= most && isSame(at, at + size)) at += size;
  return at;
}
