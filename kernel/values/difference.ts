/**
 * Items of one list that are missing in the other, by identity. The cost grows with the differences, plus one check per
 * item, if most items keep their position relative to the beginning or the end.
 */
export function difference<T>(
  before: readonly T[],
  now: readonly T[],
): readonly [gone: ReadonlySet<T>, come: readonly T[]] {
  const most = Math.min(before.length, now.length);
  let start = 0;
  while (start < most && before[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === now[now.length - 1 - end]) end++;
  const gone = new Set<T>();
  const come: T[] = [];
  const isShifted = before.length !== now.length;
  for (let at = start; at < before.length - end; at++) if (isShifted || before[at] !== now[at]) gone.add(before[at]!);
  for (let at = start; at < now.length - end; at++) {
    const item = now[at]!;
    if (!isShifted && before[at] === item) continue;
    if (!gone.delete(item)) come.push(item);
  }
  return [gone, come];
}
