import { CallError, type Data, type DataObject, isObject, mergeShallow, parseExact, printJson } from '#contract';
import { isNumeric, type Numeric } from '../../../shared/values/exact-values.ts';
import { absolute, mean, order, roundDown, roundUp, total } from './numbers.ts';
import type { Evaluate, Run } from './run.ts';

/** Type of an argument. `expression` is evaluated for each item, as in `&age`. */
export type Kind =
  | 'any'
  | 'array'
  | 'boolean'
  | 'expression'
  | 'null'
  | 'number'
  | 'numbers'
  | 'object'
  | 'string'
  | 'strings';

/** A function of the language. */
export interface Definition {
  /** Types allowed for each argument; in a variadic function, the last entry also applies to all further arguments. */
  readonly takes: readonly (readonly Kind[])[];
  readonly isVariadic?: true;
  /** @param args values, without the expression. @param key the expression; the identity if the function takes none. */
  // biome-ignore lint/suspicious/noExplicitAny: `takes` has proved the types of the arguments.
  readonly call: (args: readonly any[], key: Evaluate, run: Run) => Data;
}

const any = ['any'] as const;
const array = ['array'] as const;
const expression = ['expression'] as const;
const number = ['number'] as const;
const numbers = ['numbers'] as const;
const object = ['object'] as const;
const string = ['string'] as const;
const sortable = ['numbers', 'strings'] as const;

/** The standard functions. */
export const functions: ReadonlyMap<string, Definition> = new Map<string, Definition>([
  ['abs', { takes: [number], call: ([value]) => absolute(value) }],
  ['avg', { takes: [numbers], call: ([values]) => mean(values) }],
  ['ceil', { takes: [number], call: ([value]) => roundUp(value) }],
  [
    'contains',
    { takes: [['array', 'string'], any], call: ([subject, item], _key, run) => contains(subject, item, run) },
  ],
  ['ends_with', { takes: [string, string], call: ([text, end]) => text.endsWith(end) }],
  ['floor', { takes: [number], call: ([value]) => roundDown(value) }],
  ['join', { takes: [string, ['strings']], call: ([glue, texts], _key, run) => join(glue, texts, run) }],
  ['keys', { takes: [object], call: ([value]) => Object.keys(value) }],
  ['length', { takes: [['string', 'array', 'object']], call: ([value]) => lengthOf(value) }],
  ['map', { takes: [expression, array], call: ([items], key, run) => mapAll(items, key, run) }],
  ['max', { takes: [sortable], call: ([items]) => extreme(items, items, 1) }],
  [
    'max_by',
    { takes: [array, expression], call: ([items], key, run) => extreme(items, keysOf('max_by', items, key, run), 1) },
  ],
  ['merge', { takes: [object], isVariadic: true, call: (objects) => mergeShallow(objects as DataObject[]) }],
  ['min', { takes: [sortable], call: ([items]) => extreme(items, items, -1) }],
  [
    'min_by',
    { takes: [array, expression], call: ([items], key, run) => extreme(items, keysOf('min_by', items, key, run), -1) },
  ],
  ['not_null', { takes: [any], isVariadic: true, call: (values) => values.find((value) => value !== null) ?? null }],
  ['reverse', { takes: [['string', 'array']], call: ([value], _key, run) => reverse(value, run) }],
  ['sort', { takes: [sortable], call: ([items], _key, run) => sortBy(items, items, run) }],
  [
    'sort_by',
    { takes: [array, expression], call: ([items], key, run) => sortBy(items, keysOf('sort_by', items, key, run), run) },
  ],
  ['starts_with', { takes: [string, string], call: ([text, start]) => text.startsWith(start) }],
  ['sum', { takes: [numbers], call: ([values]) => total(values) }],
  ['to_array', { takes: [any], call: ([value]) => (Array.isArray(value) ? value : [value]) }],
  ['to_number', { takes: [any], call: ([value]) => toNumber(value) }],
  ['to_string', { takes: [any], call: ([value], _key, run) => toText(value, run) }],
  ['type', { takes: [any], call: ([value]) => kindOf(value) }],
  ['values', { takes: [object], call: ([value]) => Object.values(value) }],
]);

/** Returns the type of a value, as the function `type` does. */
export function kindOf(value: Data): 'array' | 'boolean' | 'null' | 'number' | 'object' | 'string' {
  if (value === null) return 'null';
  if (isNumeric(value)) return 'number';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'boolean' | 'object' | 'string';
}

const matches: { readonly [kind in Kind]: (value: Data) => boolean } = {
  any: () => true,
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  expression: () => false,
  null: (value) => value === null,
  number: isNumeric,
  numbers: (value) => Array.isArray(value) && value.every(isNumeric),
  object: isObject,
  string: isString,
  strings: (value) => Array.isArray(value) && value.every(isString),
};

const words: { readonly [kind in Kind]: string } = {
  any: 'a value',
  array: 'an array',
  boolean: 'a boolean',
  expression: 'an expression',
  null: 'null',
  number: 'a number',
  numbers: 'an array of numbers',
  object: 'an object',
  string: 'a string',
  strings: 'an array of strings',
};

/** @throws CallError JMESPATH_TYPE for an argument of another type. */
export function checkArgument(name: string, kinds: readonly Kind[], value: Data): void {
  if (kinds.some((kind) => matches[kind](value))) return;
  const wanted = kinds.map((kind) => words[kind]).join(' or ');
  const given = Array.isArray(value) ? 'another array' : words[kindOf(value)];
  throw new CallError('JMESPATH_TYPE', `${name}() requires ${wanted}, but got ${given}`);
}

function isString(value: Data): value is string {
  return typeof value === 'string';
}

function contains(subject: Data[] | string, item: Data, run: Run): boolean {
  if (typeof subject === 'string') return typeof item === 'string' && subject.includes(item);
  return subject.some((candidate) => run.areEqual(candidate, item));
}

function join(glue: string, texts: readonly string[], run: Run): string {
  let characters = glue.length * texts.length;
  for (const text of texts) characters += text.length;
  run.write(characters);
  return texts.join(glue);
}

function lengthOf(value: string | Data[] | DataObject): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'string' ? [...value].length : Object.keys(value).length;
}

function mapAll(items: readonly Data[], key: Evaluate, run: Run): Data[] {
  run.spend(items.length);
  return items.map((item) => key(item, run));
}

function reverse(value: string | readonly Data[], run: Run): Data {
  if (typeof value !== 'string') return value.toReversed();
  run.write(value.length);
  return [...value].reverse().join('');
}

function toText(value: Data, run: Run): string {
  if (typeof value === 'string') return value;
  run.print(value);
  return printJson(value);
}

/** Returns the comparison keys of the items. @throws CallError JMESPATH_TYPE unless they are all numbers or all strings. */
function keysOf(name: string, items: readonly Data[], key: Evaluate, run: Run): Data[] {
  const keys = mapAll(items, key, run);
  if (!keys.every(isNumeric) && !keys.every(isString)) {
    const message = `${name}() requires an expression that returns only numbers or only strings`;
    throw new CallError('JMESPATH_TYPE', message);
  }
  return keys;
}

/** Returns the first item with the greatest (`sign` 1) or the least (-1) key; null for an empty list. */
function extreme(items: readonly Data[], keys: readonly Data[], sign: 1 | -1): Data {
  let best = 0;
  for (let at = 1; at < keys.length; at++) if (sign * order(keys[at]!, keys[best]!) > 0) best = at;
  return items[best] ?? null;
}

/** Cost of a comparison, in steps: less than evaluating a value, unless texts are long. */
const COMPARISON = 1 / 32;
const LONG_TEXT = 8192;

function sortBy(items: readonly Data[], keys: readonly Data[], run: Run): Data[] {
  const places = items.map((_item, at) => at);
  const compare = (a: Data, b: Data): number => {
    run.spend(COMPARISON);
    if (typeof a === 'string') run.spend(a.length / LONG_TEXT);
    return order(a, b);
  };
  return places.sort((a, b) => compare(keys[a]!, keys[b]!)).map((at) => items[at]!);
}

function toNumber(value: Data): Numeric | null {
  if (isNumeric(value)) return value;
  if (typeof value !== 'string' || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return null;
  return parseExact(value) as Numeric;
}
