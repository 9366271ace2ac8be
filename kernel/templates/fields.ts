import { Failure } from './budget.ts';
import type { TemplateOptions } from './options.ts';
import { describe, integerOf, isList, isMap, isRawNumber, Struct, type Value, valueAt } from './value.ts';

export type MissingKey = NonNullable<TemplateOptions['missingKey']>;

/**
 * Resolves `.name` of a value.
 *
 * @param path names that lead to the value; the error says which of them has no value.
 * @throws Failure for a value without that field.
 */
export function fieldOf(value: Value, name: string, missing: MissingKey, path: () => string): Value {
  if (typeof value === 'object' && value !== null) {
    if (isMap(value)) return valueAt(value, name) ?? (Object.hasOwn(value, name) ? null : missingKey(name, missing));
    if (value instanceof Struct) return methodOf(value, name)([]);
  }
  if (value === undefined && missing !== 'error') return undefined;
  const leading = value === null || value === undefined ? path() : '';
  const holder = leading === '' ? describe(value) : `${JSON.stringify(leading)}, which has no value`;
  throw new Failure(`cannot read the field ${JSON.stringify(name)} of ${holder}`);
}

function missingKey(name: string, missing: MissingKey): Value {
  if (missing === 'error') throw new Failure(`unknown field ${JSON.stringify(name)}`);
  return missing === 'zero' ? null : undefined;
}

/** Resolves `.name` of a value that is called with arguments. */
export function methodOf(value: Value, name: string): (args: readonly Value[]) => Value {
  const method = value instanceof Struct ? value.member(name) : undefined;
  if (method) return method;
  if (value instanceof Struct) throw new Failure(`a ${value.type} has no ${JSON.stringify(name)}`);
  throw new Failure(`${JSON.stringify(name)} of ${describe(value)} is not a function: it takes no arguments`);
}

/** Implements `index value key`. @throws Failure for an index out of range, and for a value without members. */
export function memberOf(value: Value, key: Value): Value {
  if (isMap(value)) {
    if (typeof key !== 'string') throw new Failure(`the key of a map must be a string, found ${describe(key)}`);
    return valueAt(value, key);
  }
  if (!isList(value) && typeof value !== 'string') throw new Failure(`cannot index ${describe(value)}`);
  const text = typeof value === 'string' ? Buffer.from(value) : value;
  return boundedItem(text, indexOf(key));
}

function boundedItem(items: Uint8Array | readonly Value[], index: number): Value {
  if (index < 0 || index >= items.length)
    throw new Failure(`index out of range: ${index}, the length is ${items.length}`);
  const item = items[index];
  return items instanceof Uint8Array ? BigInt(item as number) : (item as Value);
}

/** Converts a value to an index. @throws Failure if it is not an integer. */
export function indexOf(value: Value): number {
  const number = typeof value === 'number' ? value : isRawNumber(value) ? Number.NaN : integerOf(value);
  if (number === undefined || !Number.isSafeInteger(Number(number))) {
    throw new Failure(`an index must be an integer, found ${describe(value)}`);
  }
  return Number(number);
}
