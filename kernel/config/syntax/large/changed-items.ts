import { scheduler } from '../../../contract/internal.ts';
import { commonFrom, commonSuffix } from '../../../values/common-ends.ts';
import type { TextRange } from '../position.ts';
import { type EndpointRanges, itemsIn } from './endpoint-ranges.ts';

/** Replacement of consecutive items of a list. */
export interface ListChange {
  /** Positions of the replaced items in the old list, from `left` (inclusive) to `right` (exclusive). */
  readonly left: number;
  readonly right: number;
  /** The new text: from the end of the preceding item to the start of the following one, or to the ends of the list. */
  readonly range: TextRange;
  /** Ranges of the new items. */
  readonly places: readonly TextRange[];
}

/** Number of items searched for a known one, and number of characters compared at once. */
const WINDOW = 16;
const STEP = 1 << 19;

/**
 * Finds the changes between two versions of a list, from beginning to end. Items between changes are written as before,
 * with the same text around them. Works in short slices.
 * @param grown number of characters by which the list has grown.
 * @returns null if the text is not a list.
 */
export async function changedItems(
  before: string,
  ranges: EndpointRanges,
  text: string,
  grown: number,
): Promise<ListChange[] | null> {
  const { starts, ends, end: oldEnd } = ranges;
  const end = oldEnd + grown;
  const changes: ListChange[] = [];
  let old = ranges.start;
  let at = ranges.start;
  for (let left = 0; ; ) {
    let same = 0;
    for (let step = 0; ; ) {
      const most = Math.min(STEP, oldEnd - old - same, end - at - same);
      step = commonFrom(before, old + same, text, at + same, most);
      same += step;
      if (step < STEP) break;
      if (scheduler.due) await scheduler.yield();
    }
    if (old + same === oldEnd && at + same === end) return changes;
    left = firstBehind(ends, left, old + same);
    const from = left === 0 ? ranges.start : ends[left - 1]!;
    const start = at + (from - old);
    const known = new Map<string, number>();
    for (let position = left; position < Math.min(left + WINDOW, ends.length); position++) {
      known.set(before.slice(starts[position], ends[position]), position);
    }
    const places: TextRange[] = [];
    let next: { readonly position: number; readonly at: number } | null = null;
    /** Start of the unchanged items at the end of the list, used if too many new items precede them. */
    let tail: { readonly position: number; readonly at: number } | null = null;
    for (const place of itemsIn(text, { start, end })) {
      if (places.length === WINDOW) {
        tail = sameTail(before, ranges, text, grown, Math.max(from, start));
        // The unchanged end of the list may begin before this position.
        const begun = places.findIndex((each) => each.start === tail?.at);
        if (begun >= 0) places.length = begun;
        if (begun >= 0) next = tail;
      }
      if (place.start === tail?.at) next = tail;
      if (next) break;
      if (place.end > (tail?.at ?? end)) return null;
      const position = tail ? undefined : known.get(text.slice(place.start, place.end));
      if (position !== undefined) {
        next = { position, at: place.start };
        break;
      }
      places.push(place);
      if (scheduler.due) await scheduler.yield();
    }
    changes.push({ left, right: next?.position ?? ends.length, range: { start, end: next?.at ?? end }, places });
    if (!next) return changes;
    left = next.position;
    old = starts[left]!;
    at = next.at;
    if (scheduler.due) await scheduler.yield();
  }
}

/** First index, starting at `from`, whose offset is greater than `place`. */
function firstBehind(places: Float64Array, from: number, place: number): number {
  let low = from;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (places[middle]! > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** First item of the unchanged end of both lists, after an offset in both; null without one. */
function sameTail(
  before: string,
  { starts, ends }: EndpointRanges,
  text: string,
  grown: number,
  behind: number,
): { readonly position: number; readonly at: number } | null {
  const same = before.length - commonSuffix(before, text, behind);
  const position = firstBehind(starts, 0, same - 1);
  return position < ends.length ? { position, at: starts[position]! + grown } : null;
}
