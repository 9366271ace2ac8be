import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

/** Lines that both sides changed in different ways. */
export interface Conflict {
  /** Number of the first line in the common text, from 1. */
  readonly line: number;
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

/** Result of merging two changes of a text. */
export interface Merged {
  readonly text: string;
  readonly conflicts: readonly Conflict[];
}

/** A side of a conflict. */
export type Side = 'mine' | 'theirs';

/** Replaces the lines from `from` up to, not including, `to`. */
interface Change {
  readonly side: Side;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Limits the comparison of very different texts, which are then replaced in larger parts. */
const limits = { scanLimit: 2000, timeout: 500 };

/**
 * Merges two changes of the same text by lines. Changes that overlap or touch conflict, unless they are equal.
 * @param preferred side whose lines the text has where the changes conflict.
 */
export function merge(common: string, mine: string, theirs: string, preferred: Side): Merged {
  const lines = common.split('\n');
  const changes = [...changesOf(common, mine, 'mine'), ...changesOf(common, theirs, 'theirs')];
  const result: string[] = [];
  const conflicts: Conflict[] = [];
  let at = 0;
  for (const group of touching(changes.toSorted((a, b) => a.from - b.from || a.to - b.to))) {
    const { from } = group[0]!;
    const to = group.reduce((end, change) => Math.max(end, change.to), from);
    const [ours, others] = (['mine', 'theirs'] as const).map((side) => apply(lines, from, to, group, side));
    const has = (side: Side) => group.some((change) => change.side === side);
    const isConflict = has('mine') && has('theirs') && ours!.join('\n') !== others!.join('\n');
    if (isConflict) conflicts.push({ line: from + 1, mine: ours!, theirs: others! });
    const side = isConflict ? preferred : has('mine') ? 'mine' : 'theirs';
    for (const line of lines.slice(at, from)) result.push(line);
    for (const line of side === 'mine' ? ours! : others!) result.push(line);
    at = to;
  }
  return { text: [...result, ...lines.slice(at)].join('\n'), conflicts };
}

function changesOf(before: string, after: string, side: Side): Change[] {
  const a = Text.of(before.split('\n'));
  const b = Text.of(after.split('\n'));
  const lines = after.split('\n');
  return Chunk.build(a, b, limits).map(({ fromA, toA, fromB, toB }) => ({
    side,
    from: lineAt(a, fromA),
    to: lineAt(a, toA),
    lines: lines.slice(lineAt(b, fromB), lineAt(b, toB)),
  }));
}

/** Index of the line that begins at an offset; the offset after the text is that of a further line. */
function lineAt(text: Text, offset: number): number {
  return offset > text.length ? text.lines : text.lineAt(offset).number - 1;
}

/** Groups changes that overlap or touch. @param sorted by their first line. */
function touching(sorted: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  let end = -1;
  for (const change of sorted) {
    if (change.from <= end) groups.at(-1)!.push(change);
    else groups.push([change]);
    end = Math.max(end, change.to);
  }
  return groups;
}

/** Lines of a range after the changes of one side. */
function apply(lines: readonly string[], from: number, to: number, group: readonly Change[], side: Side): string[] {
  let result: readonly string[] = [];
  let at = from;
  for (const change of group) {
    if (change.side !== side) continue;
    result = [...result, ...lines.slice(at, change.from), ...change.lines];
    at = change.to;
  }
  return [...result, ...lines.slice(at, to)];
}
