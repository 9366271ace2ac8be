import { type Data, isObject, printJson } from '#contract';
import { canBeSecret, isSecret } from '../../config/index.ts';
import { joinPointer } from '../../values/pointer.ts';

/** A difference between an expected and an actual value; undefined for a missing one. */
export interface Difference {
  readonly path: string;
  readonly pointer: string;
  readonly expected: Data | undefined;
  readonly actual: Data | undefined;
}

/** Maximum number of differences that are shown. */
const MAX_SHOWN = 20;

/** Maximum length of a shown value, in characters. */
const MAX_VALUE = 200;

/** Maximum nesting depth that is compared value by value. */
const MAX_DEPTH = 200;

/**
 * Compares JSON values; the order of keys is irrelevant.
 * @param isPart whether objects may have more keys than expected. @returns lines with `-` for expected and `+` for actual
 *   values; none if they are equal.
 */
export function differences(expected: Data, actual: Data, isPart = false): string[] {
  const all = differencesOf(expected, actual, { isPart, limit: MAX_SHOWN });
  const lines = all.slice(0, MAX_SHOWN).flatMap(show);
  return all.length > MAX_SHOWN ? [...lines, '  further differences are not shown'] : lines;
}

interface Comparing {
  /** Whether objects may have more keys than expected. */
  readonly isPart: boolean;
  /**
   * Number of differences after which the comparison ends. The result then contains one more, as a sign that others
   * exist.
   */
  readonly limit: number;
}

/** Compares JSON values like `differences`. @returns the differences as values. */
export function differencesOf(expected: Data, actual: Data, comparing: Comparing): Difference[] {
  const all: Difference[] = [];
  compare({ path: '', pointer: '', expected, actual }, comparing, all, MAX_DEPTH);
  return all;
}

function compare(pair: Difference, comparing: Comparing, results: Difference[], depth: number): void {
  const { isPart, limit } = comparing;
  if (results.length > limit) return;
  const { path, pointer, expected, actual } = pair;
  if (depth > 0 && Array.isArray(expected) && Array.isArray(actual)) {
    for (let at = 0; at < Math.max(expected.length, actual.length); at++) {
      const inner = { path: `${path}[${at}]`, pointer: joinPointer(pointer, String(at)) };
      compare({ ...inner, expected: expected[at], actual: actual[at] }, comparing, results, depth - 1);
      if (results.length > limit) return;
    }
    return;
  }
  if (depth > 0 && isPlain(expected) && isPlain(actual)) {
    const keys = isPart ? Object.keys(expected) : new Set([...Object.keys(expected), ...Object.keys(actual)]);
    for (const key of keys) {
      const inner = { path: step(path, key), pointer: joinPointer(pointer, key) };
      compare({ ...inner, expected: own(expected, key), actual: own(actual, key) }, comparing, results, depth - 1);
    }
    return;
  }
  if (expected === undefined || actual === undefined || !isSame(expected, actual)) results.push(pair);
}

/** A number that JavaScript would change is an object that contains its digits; it is compared as a number. */
function isPlain(value: Data | undefined): value is { [key: string]: Data } {
  return isObject(value) && !JSON.isRawJSON(value);
}

function own(holder: { readonly [key: string]: Data }, key: string): Data | undefined {
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
}

function isSame(one: Data, other: Data): boolean {
  return one === other || (typeof one === typeof other && printJson(one) === printJson(other));
}

/** Appends a key or an index to a path, in the notation of JMESPath. */
export function step(path: string, key: string): string {
  const name = /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
  return path === '' ? name : `${path}.${name}`;
}

function show(difference: Difference): string[] {
  const { path, expected, actual } = difference;
  const isHidden = [expected, actual].some((value) => canBeSecret(value) && isSecret(difference.pointer, value));
  const name = path === '' ? '' : `${path}: `;
  const line = (sign: string, value: Data | undefined) =>
    value === undefined ? [] : [`${sign} ${name}${isHidden ? '***' : shortened(value, difference.pointer)}`];
  return [...line('-', expected), ...line('+', actual)];
}

function shortened(value: Data, pointer: string): string {
  const text = printJson(masked(value, pointer, MAX_DEPTH));
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…`.toWellFormed() : text;
}

/** Copies a value with its secrets masked, by names and texts. */
export function masked(value: Data, pointer: string, depth = MAX_DEPTH): Data {
  if (canBeSecret(value)) return isSecret(pointer, value) ? '***' : value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.map((item, at) => masked(item, joinPointer(pointer, String(at)), depth - 1));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, masked(item, joinPointer(pointer, key), depth - 1)]),
  );
}
