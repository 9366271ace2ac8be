import { isDeepStrictEqual } from 'node:util';
import { type Data, type DataObject, isObject } from '#contract';
import { joinPointer } from '../../values/pointer.ts';

/** A difference between two values; `pointer` is the same in both. */
export type Difference =
  | { readonly op: 'add'; readonly pointer: string; readonly to: Data }
  | { readonly op: 'remove'; readonly pointer: string; readonly from: Data }
  | { readonly op: 'replace'; readonly pointer: string; readonly from: Data; readonly to: Data };

/**
 * Differences that turn one value into the other, in an order in which they can be applied. Objects are compared by
 * key, lists of objects by position, other lists as a whole.
 */
export function compareData(from: Data, to: Data, pointer = ''): Difference[] {
  const results: Difference[] = [];
  compare(from, to, pointer, results);
  return results;
}

function compare(from: Data, to: Data, pointer: string, results: Difference[]): void {
  if (from === to) return;
  if (isObject(from) && isObject(to)) compareObjects(from, to, pointer, results);
  else if (isObjectList(from) && isObjectList(to)) compareLists(from, to, pointer, results);
  else if (!isDeepStrictEqual(from, to)) results.push({ op: 'replace', pointer, from, to });
}

function compareObjects(from: DataObject, to: DataObject, pointer: string, results: Difference[]): void {
  for (const key of Object.keys(from)) {
    if (Object.hasOwn(to, key)) compare(from[key]!, to[key]!, joinPointer(pointer, key), results);
    else results.push({ op: 'remove', pointer: joinPointer(pointer, key), from: from[key]! });
  }
  for (const key of Object.keys(to)) {
    if (!Object.hasOwn(from, key)) results.push({ op: 'add', pointer: joinPointer(pointer, key), to: to[key]! });
  }
}

function compareLists(from: readonly Data[], to: readonly Data[], pointer: string, results: Difference[]): void {
  const shared = Math.min(from.length, to.length);
  for (let at = 0; at < shared; at++) compare(from[at]!, to[at]!, `${pointer}/${at}`, results);
  // Iterates from the end, so that the positions of the remaining items stay valid.
  for (let at = from.length - 1; at >= shared; at--) {
    results.push({ op: 'remove', pointer: `${pointer}/${at}`, from: from[at]! });
  }
  for (let at = shared; at < to.length; at++) results.push({ op: 'add', pointer: `${pointer}/${at}`, to: to[at]! });
}

function isObjectList(value: Data): value is Data[] {
  return Array.isArray(value) && value.every(isObject);
}
