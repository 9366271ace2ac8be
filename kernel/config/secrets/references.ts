import { type Data, type DataObject, isObject, setKey } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { joinPointer } from '../../values/pointer.ts';
import type { TextRange } from '../syntax/position.ts';

/** A reference to a secret in a store, written in a value of a document as `${scheme:name#key}`. */
export interface SecretReference {
  readonly scheme: string;
  readonly name: string;
  /** Field of the secret; null for the whole secret. */
  readonly key: string | null;
  /** The reference without braces: `scheme:name#key`. Equal references have equal values. */
  readonly id: string;
  /** Pointer of the value that contains it. */
  readonly pointer: string;
  /** Range of the reference in that value. */
  readonly within: TextRange;
  /** True if the value is the reference and nothing else. */
  readonly isAlone: boolean;
}

/** Returns true for a URL scheme by which texts refer to secrets. */
export type IsScheme = (scheme: string) => boolean;

/** Values of references, by their ids. */
export type SecretValues = ReadonlyMap<string, string>;

/** A document with its references replaced. */
export interface Filled {
  /** Shares all parts without references with the original. */
  readonly data: unknown;
  /** Pointers of values whose references have no value; they stay as written. */
  readonly unfilled: ReadonlySet<string>;
  /** The texts that contain a secret now. */
  readonly texts: readonly string[];
}

const REFERENCE = /\$(\$?)\{([a-z][a-z\d-]*):([^{}#]+)(?:#([^{}]+))?\}/g;

/** Keys of comments, whose values are not read. */
const comment = /^[@$_#]/;

/** Endpoints without references: later documents contain most endpoints again. */
const plain = new WeakSet<object>();

/** True if a document may contain references to secrets. Works in short slices. */
export async function mayReferToSecrets(data: unknown): Promise<boolean> {
  for await (const _ of textsIn(data)) return true;
  return false;
}

/** Lists the references in the values of a document, in order. */
export async function secretReferences(data: unknown, isScheme: IsScheme): Promise<SecretReference[]> {
  const results: SecretReference[] = [];
  for await (const [text, pointer] of textsIn(data)) {
    for (const { 0: written, 1: extra, 2: scheme, 3: name, 4: key = null, index } of text.matchAll(REFERENCE)) {
      if (extra !== '' || !isScheme(scheme!)) continue;
      const within = { start: index, end: index + written.length };
      const isAlone = written === text;
      results.push({ scheme: scheme!, name: name!, key, id: written.slice(2, -1), pointer, within, isAlone });
    }
  }
  return results;
}

/**
 * Replaces the references in the values of a document. `$${scheme:…}` becomes a literal `${scheme:…}`. A secret that
 * contains a reference is not filled in again.
 */
export async function fillSecrets(data: unknown, isScheme: IsScheme, values: SecretValues): Promise<Filled> {
  const filled = new Map<string, string>();
  const unfilled = new Set<string>();
  const texts: string[] = [];
  for await (const [text, pointer] of textsIn(data)) {
    let holdsSecret = false;
    const result = text.replace(REFERENCE, (written, extra: string, scheme: string) => {
      if (!isScheme(scheme)) return written;
      if (extra !== '') return written.slice(1);
      const value = values.get(written.slice(2, -1));
      if (value === undefined) unfilled.add(pointer);
      else holdsSecret = true;
      return value ?? written;
    });
    if (holdsSecret) texts.push(result);
    if (result !== text) filled.set(pointer, result);
  }
  return { data: filled.size === 0 ? data : replaced(data as Data, filled), unfilled, texts };
}

/** Finds the texts of a document that contain the beginning of a reference, with their pointers. */
async function* textsIn(data: unknown): AsyncGenerator<readonly [text: string, pointer: string], void, undefined> {
  if (!isObject(data)) return;
  const { endpoints, ...others } = data;
  yield* textsOf(others, '');
  if (!Array.isArray(endpoints)) return;
  for (const [index, endpoint] of endpoints.entries()) {
    if (scheduler.due) await scheduler.yield();
    if (typeof endpoint !== 'object' || endpoint === null || plain.has(endpoint)) continue;
    if (mayHold(endpoint)) yield* textsOf(endpoint as Data, `/endpoints/${index}`);
    else plain.add(endpoint);
  }
}

/** True if a text in a value has the beginning of a placeholder. A quarter of the cost of `textsOf`. */
function mayHold(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) if (mayHold((value as never)[key])) return true;
  return false;
}

function* textsOf(value: Data, pointer: string): Generator<readonly [text: string, pointer: string], void, undefined> {
  if (typeof value === 'string') {
    if (value.includes('${') && value.search(REFERENCE) >= 0) yield [value, pointer];
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (typeof item !== 'number') yield* textsOf(item, `${pointer}/${index}`);
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const inner = value[key]!;
      // Pointers are created only for values with a placeholder.
      if (!comment.test(key) && mayHold(inner)) yield* textsOf(inner, joinPointer(pointer, key));
    }
  }
}

/** Copies the objects that contain a replaced text; all others are shared. */
function replaced(data: Data, filled: ReadonlyMap<string, string>, pointer = ''): Data {
  const text = filled.get(pointer);
  if (text !== undefined) return text;
  if (Array.isArray(data)) {
    const items = data.map((item, index) => replacedIn(item, filled, `${pointer}/${index}`));
    return items.some((item, index) => item !== data[index]) ? items : data;
  }
  const object = data as DataObject;
  const copy: DataObject = {};
  let isSame = true;
  for (const key of Object.keys(object)) {
    const value = replacedIn(object[key]!, filled, joinPointer(pointer, key));
    setKey(copy, key, value);
    isSame &&= value === object[key];
  }
  return isSame ? data : copy;
}

function replacedIn(value: Data, filled: ReadonlyMap<string, string>, pointer: string): Data {
  if (typeof value === 'string') return filled.get(pointer) ?? value;
  return Array.isArray(value) || (isObject(value) && !plain.has(value)) ? replaced(value, filled, pointer) : value;
}
