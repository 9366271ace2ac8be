import { type Data, isObject } from '#contract';
import { compareNumbers, numberKey } from './decimal.ts';
import { isNumeric } from './kind.ts';

/** Equality of JSON values: numbers by value, objects whatever the order of their keys. */
export function equals(a: Data, b: Data): boolean {
  if (a === b) return true;
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equals(item, b[index]!));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equals(a[key]!, b[key]!));
}

/** Gives equal values the same number. Linear: each value is looked into once, however often it is asked for. */
export type Identify = (value: Data) => number;

export function createIdentify(): Identify {
  // Texts never look like array indices, whose hashes anybody can make collide.
  const numbers = new Map<string, number>();
  const known = new Map<object, number>();
  const numberOf = (text: string): number => {
    const number = numbers.get(text) ?? numbers.size;
    if (number === numbers.size) numbers.set(text, number);
    return number;
  };
  const identify = (value: Data): number => {
    if (typeof value === 'string') return numberOf('"' + value);
    if (isNumeric(value)) return numberOf('#' + numberKey(value));
    if (typeof value !== 'object' || value === null) return numberOf(`!${value}`);
    const seen = known.get(value);
    if (seen !== undefined) return seen;
    const number = Array.isArray(value)
      ? numberOf(`[${value.map(identify).join()}`)
      : numberOf(
          '{' +
            Object.keys(value)
              .sort()
              .map((key) => `${numberOf('"' + key)}:${identify(value[key]!)}`)
              .join(),
        );
    known.set(value, number);
    return number;
  };
  return identify;
}

/** Calls back with the positions of each item and of the nearest equal one before it. */
export function eachDuplicate(
  items: readonly Data[],
  identify: Identify,
  found: (first: number, second: number) => void,
): void {
  if (items.length < 2) return;
  const last = new Map<number, number>();
  for (let index = 0; index < items.length; index += 1) {
    const number = identify(items[index]!);
    const first = last.get(number);
    if (first !== undefined) found(first, index);
    last.set(number, index);
  }
}
