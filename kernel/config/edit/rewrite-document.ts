import { isDeepStrictEqual } from 'node:util';
import { type Data, type DataObject, getKey, isObject, printJson } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import type { Document } from '../syntax/load.ts';
import { applyEdits, type Edit, editorOf, impossible } from './edit-document.ts';
import { type Added, type Container, editEntries } from './edit-entries.ts';
import type { Editor } from './editor.ts';

/**
 * Edits the text of a document until it represents other data; unchanged parts keep their layout and comments. The
 * result is parsed again and must match the data exactly.
 * @throws ConfigErrors EDIT_IMPOSSIBLE if the text cannot represent the data.
 */
export function rewriteDocument(document: Document, wanted: DataObject): Document {
  const edits = [...differences(document, editorOf(document), document.data as Data, wanted, [])];
  if (edits.length === 0) return document;
  const edited = applyEdits(document, edits);
  if (isDeepStrictEqual(edited.data, wanted)) return edited;
  throw impossible(edits[0]!.pointer, 'cannot be changed without changing something else');
}

function* differences(
  document: Document,
  editor: Editor,
  before: Data,
  after: Data,
  steps: readonly string[],
): Generator<Edit> {
  if (isDeepStrictEqual(before, after)) return;
  const pair = entriesOf(before, after);
  if (!pair) {
    yield replaced(editor, steps, after);
    return;
  }
  const { shared, removed, added } = pair;
  const visit = ([step, one, other]: Shared) => differences(document, editor, one, other, [...steps, step]);
  for (const each of shared) yield* visit(each);
  if (removed.size === 0 && added.length === 0) return;
  const container: Container = { steps, names: Object.keys(before as object), isList: Array.isArray(before) };
  yield* editEntries(document.text, editor, container, removed, added);
}

function replaced(editor: Editor, steps: readonly string[], value: Data): Edit {
  const pointer = joinPointer('', ...steps);
  const range = editor.value(steps);
  const text = range && editor.printValue(value, range);
  if (text === undefined) throw impossible(pointer, 'cannot be written in one place');
  return { pointer, start: range!.start, end: range!.end, text };
}

type Shared = readonly [step: string, before: Data, after: Data];

/** Entries that stay, possibly with changes inside; entries to remove; and entries to add, each before another one or at the end. */
interface Entries {
  readonly shared: readonly Shared[];
  readonly removed: ReadonlySet<string>;
  readonly added: readonly Added[];
}

/** Compares the entries of two values; null if the value must be rewritten as a whole because no entry stays. */
function entriesOf(before: Data, after: Data): Entries | null {
  const entries =
    Array.isArray(before) && Array.isArray(after)
      ? itemsOf(before, after)
      : isObject(before) && isObject(after)
        ? fieldsOf(before, after)
        : null;
  return entries && entries.shared.length > 0 ? entries : null;
}

function fieldsOf(before: DataObject, after: DataObject): Entries {
  const names = Object.keys(before);
  const shared = names.filter((name) => Object.hasOwn(after, name));
  const removed = new Set(names.filter((name) => !Object.hasOwn(after, name)));
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  return {
    shared: shared.map((name) => [name, getKey(before, name)!, getKey(after, name)!]),
    removed,
    added: added.map((name) => ({ before: null, name, value: getKey(after, name)! })),
  };
}

/** Keeps equal items at both ends; of those between, keeps as many as match in order. */
function itemsOf(before: readonly Data[], after: readonly Data[]): Entries {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && isDeepStrictEqual(before[head], after[head])) head++;
  let tail = 0;
  while (tail < most - head && isDeepStrictEqual(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const shared: Shared[] = [];
  const share = (old: number, fresh: number) => shared.push([String(old), before[old]!, after[fresh]!]);
  for (let index = 0; index < head; index++) share(index, index);
  const removed = new Set<string>();
  const added: Added[] = [];
  const oldEnd = before.length - tail;
  const freshEnd = after.length - tail;
  const middle = new Set(after.slice(head, freshEnd).map(printJson));
  const isFound = before.slice(head, oldEnd).some((old) => middle.has(printJson(old)));
  // If no items match, or both lists have the same number, items are paired by position and edited.
  const isPaired = !isFound || oldEnd === freshEnd;
  let fresh = head;
  for (let old = head; old < oldEnd; old++) {
    const isLeft = fresh < freshEnd && (isPaired || isDeepStrictEqual(before[old], after[fresh]));
    if (isLeft) share(old, fresh++);
    else removed.add(String(old));
  }
  const next = oldEnd < before.length ? String(oldEnd) : null;
  for (; fresh < freshEnd; fresh++) added.push({ before: next, name: null, value: after[fresh]! });
  for (let index = 0; index < tail; index++) share(oldEnd + index, freshEnd + index);
  return { shared, removed, added };
}
