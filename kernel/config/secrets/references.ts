import { ConfigError, type Data, type DataObject, isObject, setKey } from '#contract';
import { scheduler } from '../../contract/internal.ts';
import { joinPointer } from '../../values/pointer.ts';
import type { TextRange } from '../syntax/position.ts';
import { convertText, typedPlaceholder } from './typed-text.ts';

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
  /** True if the value is the reference and nothing else, apart from a type. */
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
  /** Pointers of values with a reference that has no value. They stay as written. */
  readonly unfilled: ReadonlySet<string>;
  /** Values with references as they were written, by their pointers. */
  readonly written: ReadonlyMap<string, string>;
  /** Values that replace those with references or escapes, by their pointers. */
  readonly replacements: ReadonlyMap<string, Data>;
  /** Errors SECRET_VALUE for values that do not fit the type written after their reference. */
  readonly errors: readonly ConfigError[];
  /** The texts that contain a secret after they were filled in. */
  readonly texts: readonly string[];
}

const REFERENCE = /\$(\$?)\{([a-z][a-z\d-]*):([^{}#]+)(?:#([^{}]+))?\}/g;

/** Keys of comments, whose values are not read. */
const comment = /^[@$_#]/;

/** Cache of endpoints without references: most endpoints of a document occur again in later documents. */
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
      const isAlone = written === (typedPlaceholder(text)?.placeholder ?? text);
      results.push({ scheme: scheme!, name: name!, key, id: written.slice(2, -1), pointer, within, isAlone });
    }
  }
  return results;
}

/**
 * Replaces the references in the values of a document. `$${scheme:…}` becomes a literal `${scheme:…}`. A value that
 * consists of one reference followed by `!int` or `!bool` becomes a number or a boolean. A secret that contains a
 * reference is not filled in again.
 */
export async function fillSecrets(data: unknown, isScheme: IsScheme, values: SecretValues): Promise<Filled> {
  const filled = new Map<string, Data>();
  const unfilled = new Set<string>();
  const written = new Map<string, string>();
  const texts: string[] = [];
  const errors: ConfigError[] = [];
  for await (const [text, pointer] of textsIn(data)) {
    const { result, found, missing } = filledText(text, isScheme, values);
    if (found + missing > 0) written.set(pointer, text);
    if (missing > 0) unfilled.add(pointer);
    if (found > 0) texts.push(result);
    const typed = found > 0 && missing === 0 ? typedPlaceholder(text) : null;
    try {
      const value = typed ? convertText(result.slice(0, -typed.type.length - 1), typed.type) : result;
      if (value !== text) filled.set(pointer, value);
    } catch (error) {
      const message = `the value of ${typed!.placeholder} does not fit: ${(error as Error).message}`;
      errors.push(new ConfigError('SECRET_VALUE', pointer, message));
    }
  }
  const result = filled.size === 0 ? data : replaced(data as Data, filled);
  return { data: result, unfilled, written, replacements: filled, errors, texts };
}

/** A text with its references replaced, and the numbers of references with and without a value. */
function filledText(text: string, isScheme: IsScheme, values: SecretValues) {
  let [found, missing] = [0, 0];
  const result = text.replace(REFERENCE, (reference, extra: string, scheme: string) => {
    if (!isScheme(scheme)) return reference;
    if (extra !== '') return reference.slice(1);
    const value = values.get(reference.slice(2, -1));
    if (value === undefined) missing++;
    else found++;
    return value ?? reference;
  });
  return { result, found, missing };
}

/** A configuration that shows references and their types as written, in place of the defaults that replaced them. */
export function withTypedReferences<T extends object>(config: T, written: ReadonlyMap<string, string>): T {
  const typed = new Map([...written].filter(([, text]) => typedPlaceholder(text)));
  return typed.size === 0 ? config : (replaced(config as DataObject, typed) as T);
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

/** Whether a value may contain the beginning of a placeholder. Costs a quarter of `textsOf`. */
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

/** Copies the objects that contain a replaced value; all others are shared. */
function replaced(data: Data, filled: ReadonlyMap<string, Data>, pointer = ''): Data {
  const value = filled.get(pointer);
  if (value !== undefined) return value;
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

function replacedIn(value: Data, filled: ReadonlyMap<string, Data>, pointer: string): Data {
  if (typeof value !== 'object') return filled.get(pointer) ?? value;
  return Array.isArray(value) || (isObject(value) && !plain.has(value)) ? replaced(value, filled, pointer) : value;
}
