import { isDeepStrictEqual } from 'node:util';
import { ConfigError, type Data, type DataObject, type Fix, isObject, setKey } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { joinPointer, parentPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import { cloneData } from '../normalize/plain-data.ts';
import { json } from '../syntax/json/text.ts';
import { type Document, formatOf, parseDocument } from '../syntax/load.ts';
import type { TextRange } from '../syntax/position.ts';
import type { Format } from '../syntax/text-format.ts';
import { toml } from '../syntax/toml/text.ts';
import { yaml } from '../syntax/yaml/text.ts';
import type { CreateEditor, Editor } from './editor.ts';
import { jsonEditor } from './json-editor.ts';
import { tomlEditor } from './toml-editor.ts';
import { yamlEditor } from './yaml-editor.ts';

/**
 * A change to a document: renames the key at a pointer, replaces its value, or adds a key to the object there. Pointers
 * refer to the document before all changes; both the name and the value at one pointer may change.
 */
export type Change = (Fix & { readonly pointer: string }) | Addition;

/** A key to add to an object. */
interface Addition {
  readonly pointer: string;
  readonly add: string;
  readonly value: Data;
}

/** A range of a text and its replacement. */
export interface Edit extends TextRange {
  readonly text: string;
  readonly pointer: string;
}

const editors: ReadonlyMap<Format, CreateEditor> = new Map([
  [json, jsonEditor],
  [yaml, yamlEditor],
  [toml, tomlEditor],
]);

/**
 * Applies changes to the text of a document and keeps the surrounding comments and layout. The new text is parsed again
 * and must represent exactly the old data with the changes; comment keys at the root, where YAML keeps its anchors, are
 * ignored.
 * @throws ConfigErrors EDIT_DUPLICATE_KEY if an object would contain a key twice; EDIT_IMPOSSIBLE if the text cannot
 *   represent the data.
 */
export function editDocument(document: Document, changes: readonly Change[]): Document {
  if (changes.length === 0) return document;
  const wanted = changeData(document.data as DataObject, changes);
  const editor = editorOf(document);
  const edits = changes.flatMap((change) => editsOf(editor, document.text, change, document.data));
  const edited = applyEdits(document, edits);
  if (!isDeepStrictEqual(withoutComments(edited.data), withoutComments(wanted))) {
    throw impossible(changes[0]!.pointer, 'cannot be changed without changing something else');
  }
  return edited;
}

/** The editor for a document's format. */
export function editorOf({ file, text }: Document): Editor {
  return editors.get(formatOf(file))!(text);
}

/** Applies edits to the text of a document and parses the result. @throws ConfigErrors EDIT_IMPOSSIBLE. */
export function applyEdits({ text, file }: Document, edits: readonly Edit[]): Document {
  return read(editText(text, edits), file, edits[0]!.pointer);
}

/** Copies the data and applies the changes, deepest first, so that their pointers stay valid. */
function changeData(data: DataObject, changes: readonly Change[]): DataObject {
  const result = cloneData(data);
  const byDepth = changes
    .map((change) => ({ change, steps: parsePointer(change.pointer) }))
    .sort((one, other) => other.steps.length - one.steps.length);
  // Renamed keys are located by their old names.
  for (const { change, steps } of [...byDepth.filter(isOfValue), ...byDepth.filter((each) => !isOfValue(each))]) {
    const holder = steps.slice(0, -1).reduce<Data | undefined>((value, step) => own(value, step), result);
    const last = steps.at(-1);
    const value = last === undefined ? undefined : own(holder, last);
    if ('add' in change) {
      addKey(last === undefined ? result : value, change);
      continue;
    }
    if (value === undefined) throw impossible(change.pointer, 'does not exist');
    if (!('key' in change)) {
      if (isObject(holder)) setKey(holder, last!, change.value);
      else (holder as Data[])[Number(last)] = change.value;
      continue;
    }
    if (!isObject(holder)) throw impossible(change.pointer, 'is not a key');
    if (Object.hasOwn(holder, change.key)) throw taken(change.pointer, change.key);
    delete holder[last!];
    setKey(holder, change.key, value);
  }
  return result;
}

function isOfValue({ change }: { readonly change: Change }): boolean {
  return !('key' in change);
}

function addKey(holder: Data | undefined, { pointer, add, value }: Addition): void {
  if (!isObject(holder)) throw impossible(pointer, 'cannot contain keys');
  if (Object.hasOwn(holder, add)) throw taken(joinPointer(pointer, add), add);
  setKey(holder, add, value);
}

function taken(pointer: string, name: string): ConfigErrors {
  const message = `'${parsePointer(pointer).at(-1)}' cannot be renamed: '${name}' already exists`;
  const related = [joinPointer(parentPointer(pointer), name)];
  return new ConfigErrors([new ConfigError('EDIT_DUPLICATE_KEY', pointer, message, { related })]);
}

function own(value: Data | undefined, step: string): Data | undefined {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as DataObject)[step]
    : undefined;
}

function editsOf(editor: Editor, text: string, change: Change, data: unknown): Edit[] {
  const { pointer } = change;
  const steps = parsePointer(pointer);
  if ('add' in change) return [additionOf(editor, change, steps, data)];
  if ('key' in change) {
    const places = editor.keys(steps);
    if (places.length === 0) throw impossible(pointer, 'is not written in the file');
    return places.map(({ start, end }) => ({
      pointer,
      start,
      end,
      text: editor.printKey(change.key, text.slice(start, end)),
    }));
  }
  const position = editor.value(steps);
  const printed = position && editor.printValue(change.value, position);
  if (printed === undefined) throw impossible(pointer, 'cannot be written in one place');
  return [{ pointer, start: position!.start, end: position!.end, text: printed }];
}

/** Inserts a key before the first key of its object; an empty object is rewritten as a whole. */
function additionOf(editor: Editor, { pointer, add, value }: Addition, steps: readonly string[], data: unknown): Edit {
  const [first] = Object.keys((valueAt(data, steps) as DataObject | undefined) ?? {});
  const [position] = first === undefined ? [] : editor.keys([...steps, first]);
  if (position)
    return {
      pointer,
      start: position.start,
      end: position.start,
      text: editor.printBefore(add, value, position.start),
    };
  const object = editor.value(steps);
  const printed = object && editor.printValue({ [add]: value }, object);
  if (printed === undefined) throw impossible(pointer, 'cannot be written in one place');
  return { pointer, start: object!.start, end: object!.end, text: printed };
}

/** Several pointers can lead to the same range of the text, as with a YAML alias; it is edited once. */
function editText(text: string, edits: readonly Edit[]): string {
  const segments: string[] = [];
  let at = 0;
  let last: Edit | undefined;
  for (const edit of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    if (last && edit.start === last.start && edit.end === last.end && edit.text === last.text) continue;
    if (edit.start < at) throw impossible(edit.pointer, 'overlaps another change');
    segments.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
    last = edit;
  }
  return segments.join('') + text.slice(at);
}

function read(text: string, file: string, pointer: string): Document {
  try {
    return parseDocument(text, file);
  } catch (error) {
    throw impossible(pointer, 'cannot be changed in this file', error);
  }
}

function withoutComments(data: unknown): object {
  return Object.fromEntries(Object.entries(data as DataObject).filter(([key]) => !/^[@$_#]/.test(key)));
}

/** Error for a change that cannot be made in the text. */
export function impossible(pointer: string, why: string, cause?: unknown): ConfigErrors {
  const error = new ConfigError('EDIT_IMPOSSIBLE', pointer, `'${pointer}' ${why}: change it by hand`, { cause });
  return new ConfigErrors([error]);
}

/** Returns a new name for a key that turns the key into a comment: its name with `@` in front. */
export function commentKey(holder: object, key: string): string {
  let name = `@${key}`;
  while (Object.hasOwn(holder, name)) name = `@${name}`;
  return name;
}
