import { type DataObject, isObject, parseExact } from '#contract';
import { commonPrefix, commonSuffix } from '../../values/common-ends.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { type EndpointRanges, findEndpoints, itemsIn } from './endpoint-ranges.ts';
import { type Document, documentOf, formatNameOf } from './load.ts';
import type { TextRange } from './position.ts';
import { isTooDeep } from './too-deep.ts';

/** Where endpoints stand in documents that others followed. */
const known = new WeakMap<Document, EndpointRanges | null>();

/** Stands where an endpoint is that has not changed: the text around it is read with it as it is read with that. */
const OBJECT = '{}';

/**
 * Parses a JSON text that differs from another one in endpoints alone: only those that are not written as they were are
 * read; the others are the same objects.
 * @returns null for any other text, also for one with mistakes: it is to be parsed as a whole.
 */
export async function reparseDocument(before: Document, text: string, file: string): Promise<Document | null> {
  const isJson = formatNameOf(file) === 'json' && formatNameOf(before.file) === 'json';
  const { data } = before;
  if (!isJson || before.warnings.length > 0 || before.text !== before.written || !isObject(data)) return null;
  const ranges = known.has(before) ? known.get(before)! : await findEndpoints(before.text);
  known.set(before, ranges);
  const listed = data['endpoints'];
  if (!ranges || !Array.isArray(listed) || listed.length !== ranges.items.length) return null;
  const { items } = ranges;
  const grown = text.length - before.text.length;
  // Endpoints that stand in what is the same, at the beginning and then at the end.
  const prefix = commonPrefix(before.text, text);
  if (prefix < ranges.start) return null;
  const first = items.findIndex(({ end }) => end > prefix);
  const left = first < 0 ? items.length : first;
  const from = left === 0 ? ranges.start : items[left - 1]!.end;
  const suffixAt = before.text.length - commonSuffix(before.text, text, from);
  if (suffixAt > ranges.end) return null;
  const right = Math.max(items.findLastIndex(({ start }) => start < suffixAt) + 1, left);
  const middle: TextRange = {
    start: from,
    end: (right === items.length ? ranges.end : items[right]!.start) + grown,
  };
  const places = await itemsIn(text, middle);
  if (places.some(({ end }) => end > middle.end)) return null;
  const moved = new Map<string, unknown>();
  for (let at = left; at < right; at++) {
    const { start, end } = items[at]!;
    moved.set(before.text.slice(start, end), listed[at]);
  }
  const sources = places.map(({ start, end }) => text.slice(start, end));
  const isMoved = sources.map((source) => source.startsWith('{') && moved.has(source));
  // What is known stands for itself as an object of its own.
  const between = places.map(({ start }, at) => text.slice(at === 0 ? from : places[at - 1]!.end, start));
  const written = between.map((gap, at) => gap + (isMoved[at] ? OBJECT : sources[at]));
  const opening = left === 0 ? [] : [OBJECT];
  const closing = right === items.length ? [] : [OBJECT];
  const rest = text.slice(places.at(-1)?.end ?? from, middle.end);
  const parsed = parseItems(`[${[...opening, ...written, rest, ...closing].join('')}]`);
  if (parsed?.length !== opening.length + places.length + closing.length) return null;
  const changed = sources.map((source, at) => (isMoved[at] ? moved.get(source) : parsed[opening.length + at]));
  if (new Set(changed).size !== changed.length) return null;
  const endpoints = [...listed.slice(0, left), ...changed, ...listed.slice(right)];
  const document = documentOf(file, text, { ...data, endpoints } as DataObject);
  known.set(document, {
    start: ranges.start,
    end: ranges.end + grown,
    items: [
      ...items.slice(0, left),
      ...places,
      ...items.slice(right).map(({ start, end }) => ({ start: start + grown, end: end + grown })),
    ],
  });
  return document;
}

/** @returns null for what has mistakes. */
function parseItems(text: string): readonly unknown[] | null {
  try {
    const items = parseExact(text);
    const isSound = Array.isArray(items) && duplicateKeys(text).length === 0 && !isTooDeep([items]);
    return isSound ? items : null;
  } catch {
    return null;
  }
}
