import { type CelInput, celMap } from '@bufbuild/cel';
import { type Data, type DataObject, isObject } from '#contract';
import { spend } from './budget.ts';

/** Where the members of a map come from, looked up when an expression asks for them. */
export interface Members {
  get(key: string): CelInput | undefined;
  has(key: string): boolean;
  keys(): Iterable<string>;
}

/** A map whose members are made when they are asked for. */
export function lazyMap(members: Members): CelInput {
  const map = celMap(new LazyMembers(members) as unknown as ReadonlyMap<string, CelInput>);
  // The engine's own says no of a member that is null.
  (map as { has: (key: unknown) => boolean }).has = (key) => typeof key === 'string' && members.has(key);
  return map;
}

/** As much of a `Map` as the engine asks for. */
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

/** Decoded data as an expression sees it: whole numbers are integers, exactly. */
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

/** Digits of the greatest integer of 64 bits. */
const MAX_DIGITS = 19;

function exactNumber(text: string): CelInput {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || text.length > MAX_DIGITS + 1) return value;
  return wholeNumber(BigInt(text), value);
}

/** Integers have 64 bits; a greater one is a decimal number. */
function wholeNumber(whole: bigint, value: number): bigint | number {
  return BigInt.asIntN(64, whole) === whole ? whole : value;
}
