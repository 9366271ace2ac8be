import { Failure } from './budget.ts';
import {
  compareTexts,
  describe,
  integerOf,
  isList,
  isMap,
  isRawNumber,
  numberOf,
  type Value,
  valueAt,
} from './value.ts';

/**
 * Tests two values for equality as `eq` does. Integers and other numbers are compared by value.
 * @throws Failure for values that cannot be compared: a string and a number, lists and maps.
 */
export function areEqual(one: Value, other: Value): boolean {
  const isNothing = one === undefined || one === null;
  if (isNothing || other === undefined || other === null) return isNothing && (other === undefined || other === null);
  const difference = numericDifference(one, other);
  if (difference !== undefined) return difference === 0;
  demandSame(one, other);
  return one === other || String(one) === String(other);
}

/** Returns a negative number, zero or a positive number, by order. @throws Failure for values without an order. */
export function compareValues(one: Value, other: Value): number {
  const difference = numericDifference(one, other);
  if (difference !== undefined) return difference;
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other);
  throw new Failure(`cannot order ${describe(one)} and ${describe(other)}`);
}

function demandSame(one: NonNullable<Value>, other: NonNullable<Value>): void {
  const isComparable = typeof one === typeof other && !isList(one) && !isMap(one) && !isList(other) && !isMap(other);
  if (!isComparable) throw new Failure(`cannot compare ${describe(one)} and ${describe(other)}`);
}

/** @returns undefined unless both are numbers; NaN if one is NaN. */
function numericDifference(one: Value, other: Value): number | undefined {
  const a = numberOf(one);
  const b = a === undefined ? undefined : numberOf(other);
  if (a === undefined || b === undefined) return undefined;
  const exact = exactOf(one);
  const otherExact = exactOf(other);
  if (exact !== undefined && otherExact !== undefined) return exact < otherExact ? -1 : Number(exact > otherExact);
  return a - b || (a === b ? 0 : Number.NaN);
}

/** The exact value of an integer of any length. */
function exactOf(value: Value): bigint | undefined {
  const integer = integerOf(value);
  if (integer !== undefined) return integer;
  if (isRawNumber(value)) return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : undefined;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** Tests two values for deep equality, including the types of numbers, like Go's `reflect.DeepEqual`. */
export function areSame(one: Value, other: Value, depth = 0): boolean {
  if (one === other) return true;
  if ((one ?? null) === null && (other ?? null) === null) return true;
  if (depth > 1000) throw new RangeError('nested too deeply');
  if (isList(one)) {
    return (
      isList(other) && one.length === other.length && one.every((item, index) => areSame(item, other[index], depth + 1))
    );
  }
  if (isMap(one)) {
    if (!isMap(other)) return false;
    const keys = Object.keys(one);
    if (keys.length !== Object.keys(other).length) return false;
    return keys.every((key) => Object.hasOwn(other, key) && areSame(one[key], valueAt(other, key), depth + 1));
  }
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return false;
  if (isRawNumber(one) && isRawNumber(other)) return one.rawJSON === other.rawJSON;
  return (
    one.constructor === other.constructor &&
    !isRawNumber(one) &&
    String(one) === String(other) &&
    typeTag(one) === typeTag(other)
  );
}

function typeTag(value: object): unknown {
  return (value as { readonly type?: unknown }).type;
}
