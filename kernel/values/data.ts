/**
 * A decoded value. Numbers that JavaScript's number type would change (64-bit integers, long decimals, huge exponents)
 * are `RawNumber`s and are printed with their original digits.
 */
export type Data = null | boolean | number | string | RawNumber | Data[] | DataObject;

export interface DataObject {
  [key: string]: Data;
}

/** Result of `JSON.rawJSON`: a number kept as its text. `JSON.stringify` prints it unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** True for a JSON object; false for arrays, scalars, `null` and exact numbers. */
export function isObject(value: unknown): value is DataObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Sets a key as plain data, even if its name is that of a prototype member (`__proto__`). */
export function setKey(object: DataObject, key: string, value: Data): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

/** Reads an own key; prototype members (`constructor`, `toString`) are not data and read as undefined. */
export function getKey(object: DataObject, key: string): Data | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** True when the object has at least one key of its own. */
export function hasKeys(object: DataObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return true;
  return false;
}

/**
 * Follows a dotted path through objects (never through arrays).
 * @returns undefined when a step is missing or is not an object.
 */
export function getPath(data: DataObject, path: readonly string[]): Data | undefined {
  let value: Data | undefined = data;
  for (const step of path) {
    if (!isObject(value)) return undefined;
    value = getKey(value, step);
  }
  return value;
}

/** Copies data deeply, so that the copy can be changed; exact numbers, which are immutable, are shared. */
export function copyData<T extends Data>(data: T): T {
  if (Array.isArray(data)) return data.map(copyData) as unknown as T;
  if (!isObject(data)) return data;
  const copy: DataObject = {};
  for (const key of Object.keys(data)) setKey(copy, key, copyData(data[key]!));
  return copy as T;
}
