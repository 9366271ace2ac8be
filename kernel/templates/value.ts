import { type DataObject, isObject, type RawNumber } from '#contract';

/**
 * A value of a template. A bigint is Go's `int`, a number its `float64`, as in JSON; other integers are
 * `TypedInteger`s. Undefined is a missing map key, null an existing empty value. A map is a plain object,
 * of which only own keys count.
 */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | RawNumber
  | TypedInteger
  | Struct
  | List
  | Dict;

export type List = readonly Value[];

export interface Dict {
  [key: string]: Value;
}

/** An integer of a type other than `int`, such as `int64` or a month with its name. */
export class TypedInteger {
  readonly #value: bigint;
  readonly #type: string;
  readonly #text: string | undefined;

  /** @param text printed form. Default: its digits. */
  constructor(value: bigint, type: string, text?: string) {
    this.#value = value;
    this.#type = type;
    this.#text = text;
  }

  get value(): bigint {
    return this.#value;
  }

  get type(): string {
    return this.#type;
  }

  toString(): string {
    return this.#text ?? String(this.#value);
  }
}

/** A value other than plain data, such as a time or a version. It has members, some of which take arguments. */
export abstract class Struct {
  /** Name of the type in Go. */
  abstract readonly type: string;
  /** @returns undefined for an unknown member. */
  abstract member(name: string): ((args: readonly Value[]) => Value) | undefined;
  abstract toString(): string;
  abstract toJSON(): string;
}

/** Creates Go's `int64`, which wraps around on overflow. */
export function int64(value: bigint): TypedInteger {
  return new TypedInteger(BigInt.asIntN(64, value), 'int64');
}

export function isList(value: Value): value is List {
  return Array.isArray(value);
}

export function isMap(value: Value): value is Dict {
  return isObject(value) && !(value instanceof TypedInteger) && !(value instanceof Struct);
}

export function isRawNumber(value: Value): value is RawNumber {
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value);
}

/** The value of a key; undefined if the map does not have it. */
export function valueAt(map: Dict, key: string): Value {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Sets a key as plain data, even if its name is that of a prototype member. */
export function setValue(map: Dict, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    map[key] = value;
  }
}

/** The keys of a map in code point order, as Go sorts them. */
export function sortedKeys(map: Dict | DataObject): string[] {
  const keys = Object.keys(map);
  if (keys.length > FEW) return keys.sort(compareTexts);
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at]!;
    let to = at;
    for (; to > 0 && compareTexts(keys[to - 1]!, key) > 0; to--) keys[to] = keys[to - 1]!;
    keys[to] = key;
  }
  return keys;
}

/** Number of keys up to which insertion sort is used, because it takes half the time of the built-in sort. */
const FEW = 16;

/** Compares by code points; JavaScript's own order differs for surrogates. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a === b) continue;
    return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1;
  }
  return one.length - other.length;
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xe000;
}

/** An integer of any type as a bigint; undefined for any other value. */
export function integerOf(value: Value): bigint | undefined {
  return typeof value === 'bigint' ? value : value instanceof TypedInteger ? value.value : undefined;
}

/** A number of any type; undefined for any other value. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  const integer = integerOf(value);
  if (integer !== undefined) return Number(integer);
  return isRawNumber(value) ? Number(value.rawJSON) : undefined;
}

/** True if `if` treats the value as true: everything except false, zero, missing and empty values. */
export function isTrue(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value !== '';
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  const number = numberOf(value);
  if (number !== undefined) return number !== 0;
  if (value instanceof Struct) return true;
  for (const key in value as Dict) if (Object.hasOwn(value as Dict, key)) return true;
  return false;
}

/** Kind of a value, as Go's reflection names it. */
export function kindOf(value: Value): string {
  if (value === undefined || value === null) return 'invalid';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number' || isRawNumber(value)) return 'float64';
  if (value instanceof TypedInteger) return /^u?int\d*$/.test(value.type) ? value.type : 'int';
  if (Array.isArray(value)) return 'slice';
  return value instanceof Struct ? (value.type.startsWith('*') ? 'ptr' : 'struct') : 'map';
}

/** Type of a value, as Go prints it. */
export function typeOf(value: Value): string {
  if (value instanceof TypedInteger || value instanceof Struct) return value.type;
  const kind = kindOf(value);
  return types[kind] ?? kind;
}

const types: Readonly<Record<string, string>> = {
  invalid: '<nil>',
  slice: '[]interface {}',
  map: 'map[string]interface {}',
};

/** Description of a value for messages. */
export function describe(value: Value): string {
  return value === undefined || value === null ? 'nothing' : (descriptions[kindOf(value)] ?? `a ${typeOf(value)}`);
}

const descriptions: Readonly<Record<string, string>> = {
  bool: 'a boolean',
  string: 'a string',
  int: 'an integer',
  int64: 'an integer',
  uint64: 'an integer',
  float64: 'a number',
  slice: 'a list',
  map: 'a map',
};
