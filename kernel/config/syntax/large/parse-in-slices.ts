import { type DataObject, isObject, parseExact } from '#contract';
import { scheduler } from '../../../contract/internal.ts';
import { duplicateKeys } from '../json/duplicate-keys.ts';
import { isTooDeep } from '../too-deep.ts';
import { findEndpoints } from './endpoint-ranges.ts';

/** Characters of the list parsed at once: about a millisecond of work. */
const SLICE = 32_768;

/**
 * Parses a JSON object in short slices: batches of its endpoints, and the text around them.
 * @returns null for a text that is not an object, has no list of endpoints, or has any error: it must be parsed as a
 * whole.
 */
export async function parseInSlices(text: string): Promise<DataObject | null> {
  const ranges = await findEndpoints(text);
  if (!ranges) return null;
  const { starts, ends, start, end } = ranges;
  const around = parseSound(`${text.slice(0, start)}${text.slice(end)}`);
  if (!isObject(around) || !Array.isArray(around['endpoints'])) return null;
  const lists: unknown[][] = [];
  let at = 0;
  do {
    // The text before the first endpoint and after the last one is parsed as an object of its own.
    const from = at === 0 ? start : starts[at]!;
    const first = at;
    do at++;
    while (at < starts.length && ends[at]! - from < SLICE);
    const isLast = at >= starts.length;
    // An incomplete slice of a list ends with a comma; an appended item, 0, makes it valid JSON.
    const items = parseSound(isLast ? `[${text.slice(from, end)}]` : `[${text.slice(from, starts[at])}0]`);
    if (!Array.isArray(items) || first + items.length !== (isLast ? starts.length : at + 1)) return null;
    if (!isLast) items.pop();
    lists.push(items);
    if (scheduler.due) await scheduler.yield();
  } while (at < starts.length);
  return { ...around, endpoints: lists.flat() } as DataObject;
}

/** @returns undefined if there is an error. */
function parseSound(text: string): unknown {
  try {
    const data = parseExact(text);
    const isSound = typeof data === 'object' && data !== null && !isTooDeep([data]) && duplicateKeys(text).length === 0;
    return isSound ? data : undefined;
  } catch {
    return undefined;
  }
}
