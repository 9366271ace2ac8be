import { type DataObject, isObject, parseExact } from '#contract';
import { scheduler } from '../../../contract/internal.ts';
import { duplicateKeys } from '../json/duplicate-keys.ts';
import { type Document, documentOf, formatNameOf } from '../load.ts';
import { isTooDeep } from '../too-deep.ts';
import { changedItems, type ListChange } from './changed-items.ts';
import { type EndpointRanges, findEndpoints } from './endpoint-ranges.ts';

/** Ranges of endpoints in documents that may be parsed again after a change. */
const known = new WeakMap<Document, EndpointRanges | null>();

/** Stands for an unchanged endpoint: with it, the surrounding text is parsed in the same way. */
const OBJECT = '{}';

/**
 * Parses a JSON text that differs from the previous one only in endpoints: only changed endpoints are parsed; the
 * others are the same objects.
 * @returns null for any other text, including one with errors: it must be parsed as a whole.
 */
export async function reparseDocument(before: Document, text: string, file: string): Promise<Document | null> {
  const isJson = formatNameOf(file) === 'json' && formatNameOf(before.file) === 'json';
  const { data } = before;
  if (!isJson || before.warnings.length > 0 || before.text !== before.written || !isObject(data)) return null;
  const ranges = known.has(before) ? known.get(before)! : await findEndpoints(before.text);
  known.set(before, ranges);
  const listed = data['endpoints'];
  if (!ranges || !Array.isArray(listed) || listed.length !== ranges.starts.length) return null;
  const { start, end } = ranges;
  const grown = text.length - before.text.length;
  const isAround = before.text.slice(0, start) === text.slice(0, start);
  if (!isAround || before.text.slice(end) !== text.slice(Math.max(end + grown, start))) return null;
  const changes = await changedItems(before.text, ranges, text, grown);
  if (!changes) return null;
  // Old endpoints that are no longer at their position, by text: each may have moved to a new position.
  const moved = new Map<string, unknown>();
  for (const { left, right } of changes) {
    for (let at = left; at < right; at++) moved.set(before.text.slice(ranges.starts[at], ranges.ends[at]), listed[at]);
  }
  const come: unknown[] = [];
  const lists: unknown[][] = [];
  let behind = 0;
  for (const change of changes) {
    const items = itemsOf(change, text, moved, listed.length);
    if (!items) return null;
    lists.push(listed.slice(behind, change.left), items);
    for (const item of items) come.push(item);
    behind = change.right;
    if (scheduler.due) await scheduler.yield();
  }
  if (new Set(come).size !== come.length) return null;
  const endpoints = [...lists, listed.slice(behind)].flat();
  const document = documentOf(file, text, { ...data, endpoints } as DataObject);
  known.set(document, movedRanges(ranges, changes, grown, endpoints.length));
  return document;
}

/** Items that a change adds; null if the whole text must be parsed. */
function itemsOf(
  { left, right, range, places }: ListChange,
  text: string,
  moved: ReadonlyMap<string, unknown>,
  length: number,
): unknown[] | null {
  const sources = places.map(({ start, end }) => text.slice(start, end));
  const isMoved = sources.map((source) => source.startsWith('{') && moved.has(source));
  // Known endpoints are replaced by a placeholder object.
  const between = places.map(({ start }, at) => text.slice(at === 0 ? range.start : places[at - 1]!.end, start));
  const written = between.map((gap, at) => gap + (isMoved[at] ? OBJECT : sources[at]));
  const opening = left === 0 ? [] : [OBJECT];
  const closing = right === length ? [] : [OBJECT];
  const rest = text.slice(places.at(-1)?.end ?? range.start, range.end);
  const parsed = parseItems(`[${[...opening, ...written, rest, ...closing].join('')}]`);
  if (parsed?.length !== opening.length + places.length + closing.length) return null;
  return sources.map((source, at) => (isMoved[at] ? moved.get(source) : parsed[opening.length + at]));
}

/** Ranges of the items after the changes to a list. */
function movedRanges(
  { start, end, starts, ends }: EndpointRanges,
  changes: readonly ListChange[],
  grown: number,
  length: number,
): EndpointRanges {
  const now = { start, end: end + grown, starts: new Float64Array(length), ends: new Float64Array(length) };
  let position = 0;
  let behind = 0;
  /** Offset by which unchanged items have moved. */
  let shift = 0;
  const keep = (to: number): void => {
    for (; behind < to; behind++, position++) {
      now.starts[position] = starts[behind]! + shift;
      now.ends[position] = ends[behind]! + shift;
    }
  };
  for (const { left, right, range, places } of changes) {
    keep(left);
    for (const place of places) {
      now.starts[position] = place.start;
      now.ends[position++] = place.end;
    }
    behind = right;
    shift = range.end - (right === starts.length ? end : starts[right]!);
  }
  keep(starts.length);
  return now;
}

/** @returns null if there are errors. */
function parseItems(text: string): readonly unknown[] | null {
  try {
    const items = parseExact(text);
    const isSound = Array.isArray(items) && duplicateKeys(text).length === 0 && !isTooDeep([items]);
    return isSound ? items : null;
  } catch {
    return null;
  }
}
