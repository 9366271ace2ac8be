import { type CelInput, celMap } from '@bufbuild/cel';
import { type Data, type DataObject, isObject } from '#contract';
import { spend } from './budget.ts';

/** Source of the members of a map, looked up when an expression reads them. */
export interface Members {
  get(key: string): CelInput | undefined;
  has(key: string): boolean;
  keys(): Iterable<string>;
}

/** Creates a map whose members are created when they are read. */
export function lazyMap(members: Members): CelInput {
  const map = celMap(new LazyMembers(members) as unknown as ReadonlyMap<string, CelInput>);
  // Overridden, because the engine's own method returns false for a member that is null.
  (map as { has: (key: unknown) => boolean }).has = (key) => typeof key === 'string' && members.has(key);
  return map;
}

/** The subset of `Map` that the engine uses. */
class LazyMembers {
  readonly #members: Members;

  constructor(members: Members) {
    this.#members = members;
  }

  get size(): number {
    return [...this.keys()].length;
  }

  get(key: unknown): CelInput | undefined {
    return typeof key === 'string' ? this.#members.get(key) : undefined;
  }

  *keys(): Generator<string> {
    for (const key of this.#members.keys()) {
      spend(1);
      yield key;
    }
  }

  *entries(): Generator<[string, CelInput]> {
    for (const key of this.keys()) yield [key, this.get(key)!];
  }

  *values(): Generator<CelInput> {
    for (const key of this.keys()) yield this.get(key)!;
  }
}

/** Converts decoded data for an expression: whole numbers become exact integers. */
export function dataValue(data: Data): CelInput {
  switch (typeof data) {
    case 'number':
      return Number.isInteger(data) ? wholeNumber(BigInt(data), data) : data;
    case 'object':
      if (data === null) return null;
      if (Array.isArray(data)) return listValue(data);
      return isObject(data) ? objectValue(data) : exactNumber((data as { readonly rawJSON: string }).rawJSON);
    default:
      return data;
  }
}

function listValue(list: readonly Data[]): CelInput {
  spend(list.length);
  return list.map(dataValue);
}

export function objectValue(object: Readonly<DataObject>): CelInput {
  return lazyMap({
    get: (key) => (Object.hasOwn(object, key) ? dataValue(object[key]!) : undefined),
    has: (key) => Object.hasOwn(object, key),
    keys: () => Object.keys(object),
  });
}

/** Digits of the greatest 64-bit integer. */
const MAX_DIGITS = 19;

function exactNumber(text: string): CelInput {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || text.length > MAX_DIGITS + 1) return value;
  return wholeNumber(BigInt(text), value);
}

/** Converts a whole number to a 64-bit integer; a larger one becomes a floating-point number. */
function wholeNumber(whole: bigint, value: number): bigint | number {
  return BigInt.asIntN(64, whole) === whole ? whole : value;
}
