/** How many characters two texts have in common at their beginnings. */
export function commonPrefix(one: string, other: string): number {
  return commonFrom(one, 0, other, 0, Math.min(one.length, other.length));
}

/** How many they have in common behind a place in each. @param most of them. */
export function commonFrom(one: string, ofOne: number, other: string, ofOther: number, most: number): number {
  return longest(most, (from, to) => one.slice(ofOne + from, ofOne + to) === other.slice(ofOther + from, ofOther + to));
}

/** How many they have in common at their ends, behind a place in both. */
export function commonSuffix(one: string, other: string, behind: number): number {
  const ofEnd = (text: string, from: number, to: number) => text.slice(text.length - to, text.length - from);
  const most = Math.min(one.length, other.length) - behind;
  return longest(most, (from, to) => ofEnd(one, from, to) === ofEnd(other, from, to));
}

const CHUNK = 65_536;

/** The longest stretch from 0 on that is the same throughout. */
function longest(most: number, isSame: (from: number, to: number) => boolean): number {
  let at = 0;
  while (at + CHUNK <= most && isSame(at, at + CHUNK)) at += CHUNK;
  for (let size = CHUNK >> 1; size > 0; size >>= 1) if (at + size <= most && isSame(at, at + size)) at += size;
  return at;
}
