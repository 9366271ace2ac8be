import { inspect } from 'node:util';

/** Named values as a plain object. */
export type Named<T> = Record<string, T>;

/** Rules for reading and writing one kind of values. */
export interface Spelling<T> {
  /** Normalizes a name for lookups. */
  readonly spell: (name: string) => string;
  /** Converts an assigned value; undefined deletes it. */
  readonly coerce: (value: unknown) => T | undefined;
}

/** Backing store of named values, created on first access. */
class Holder<T> {
  readonly spelling: Spelling<T>;
  readonly #read: () => Named<T>;
  #values: Named<T> | null = null;

  constructor(spelling: Spelling<T>, read: () => Named<T>) {
    this.spelling = spelling;
    this.#read = read;
  }

  get values(): Named<T> {
    this.#values ??= this.#read();
    return this.#values;
  }

  get isOpen(): boolean {
    return this.#values !== null;
  }

  [inspect.custom](): Named<T> {
    return { ...this.values };
  }
}

/** Key under which named values return their holder: a WeakMap lookup would cost more than everything else. */
const HOLDER = Symbol('holder');

const traps: ProxyHandler<Holder<unknown>> = {
  get(holder, name) {
    if (typeof name === 'string') return holder.values[holder.spelling.spell(name)];
    return name === HOLDER ? holder : undefined;
  },
  has: ({ values, spelling }, name) => typeof name === 'string' && spelling.spell(name) in values,
  set({ values, spelling }, name, value) {
    if (typeof name !== 'string') return false;
    const kept = spelling.coerce(value);
    if (kept === undefined) delete values[spelling.spell(name)];
    else values[spelling.spell(name)] = kept;
    return true;
  },
  deleteProperty({ values, spelling }, name) {
    if (typeof name === 'string') delete values[spelling.spell(name)];
    return true;
  },
  defineProperty: () => false,
  ownKeys: ({ values }) => Object.keys(values),
  getOwnPropertyDescriptor({ values, spelling }, name) {
    const value = typeof name === 'string' ? values[spelling.spell(name)] : undefined;
    return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
  },
};

/** Creates values that can be looked up in any spelling and changed in place. @param read creates the values, without a prototype. */
export function namedValues<T>(spelling: Spelling<T>, read: () => Named<T>): Named<T> {
  return new Proxy(new Holder(spelling, read) as Holder<unknown>, traps) as unknown as Named<T>;
}

/**
 * Returns the current values of an object made by `namedValues`, or of a plain object that replaced it, by normalized
 * name.
 * @param isElsewhere the values are needed for a different message than they were made for.
 * @returns null if the values were never accessed and are therefore unchanged.
 */
export function valuesOf<T>(given: object, spelling: Spelling<T>, isElsewhere = false): Named<T> | null {
  const holder = (given as { readonly [HOLDER]?: Holder<T> })[HOLDER];
  if (holder) return holder.isOpen || isElsewhere ? holder.values : null;
  const values: Named<T> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const kept = spelling.coerce(value);
    if (kept !== undefined) values[spelling.spell(name)] = kept;
  }
  return values;
}

/** Converts one or several texts to a list. */
export function textsOf(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
