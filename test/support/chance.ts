/** A reproducible random number generator (mulberry32). */
export function chanceFrom(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  /** A whole number from 0 to below a limit. */
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(list: readonly T[]) => list[below(list.length)]!;
  /** A random quarter of the values. */
  const some = <T>(list: readonly T[]) => list.filter(() => below(4) === 0);
  return { below, pick, some };
}

export type Chance = ReturnType<typeof chanceFrom>;
