import fc from 'fast-check';
import type { Schema } from '#contract';
import { data, oddNumbers, oddTexts } from './grammar.ts';

type Fields = Record<string, unknown>;
type Objects = Extract<Schema, { type: 'object' }>;
type Recursive = Extract<Schema, { type: 'recursive' }>;
type Numbers = Extract<Schema, { type: 'integer' | 'number' }>;

/** Maximum depth of a recursive schema; below it an empty object is generated. */
const LEVELS = 3;

/** State of the generation for one component. */
interface Making {
  /** Words that the component understands. */
  readonly words: readonly string[];
  /** Generators of recursive schemas, by name and level. */
  readonly made: Map<string, fc.Arbitrary<unknown>>;
}
const durations = ['0s', '1ms', '20ms', '1s', '1m', '1.5h', '720h', '-1s', '9999999h', '1', ''];

/** Configurations of a component: its examples, examples with other fields, and ones that only follow the schema. */
export function configurationsOf(schema: Schema): fc.Arbitrary<unknown> {
  const examples = [...(schema.examples ?? [])];
  const followed = valuesOf(schema, { words: wordsOf(examples), made: new Map() }, 0);
  if (examples.length === 0) return followed;
  const example = fc.constantFrom(...examples);
  const mixed = fc.tuple(example, followed, fc.nat()).map(([base, other, chosen]) => mix(base, other, chosen));
  return fc.oneof(
    { weight: 2, arbitrary: example },
    { weight: 4, arbitrary: mixed },
    { weight: 2, arbitrary: followed },
    { weight: 1, arbitrary: data },
  );
}

/** Distinct texts and keys in the given values, which are the words a component understands. */
export function wordsOf(values: readonly unknown[]): string[] {
  const words = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string') words.add(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) words.add(key);
      visit(inner);
    }
  };
  for (const value of values) visit(value);
  return [...words];
}

/** Values that conform to a schema. Rules that the schema does not express may be violated. */
function valuesOf(schema: Schema, making: Making, level: number): fc.Arbitrary<unknown> {
  if ('anyOf' in schema) return fc.oneof(...schema.anyOf.map((choice) => valuesOf(choice, making, level)));
  switch (schema.type) {
    case 'string':
      return schema.enum ? fc.constantFrom(...schema.enum) : textsOf(schema.pattern, making.words);
    case 'integer':
    case 'number':
      return numbersOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'duration':
      return fc.constantFrom(...durations);
    case 'array':
      return fc.array(valuesOf(schema.items, making, level), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(3, schema.minItems ?? 0),
      });
    case 'object':
      return objectsOf(schema, making, level);
    case 'any':
      return data;
    case 'recursive':
      return level >= LEVELS ? fc.constant({}) : recursed(schema, making, level + 1);
  }
}

function recursed({ name, schema }: Recursive, making: Making, level: number): fc.Arbitrary<unknown> {
  const key = `${name} ${level}`;
  const made = making.made.get(key) ?? valuesOf(schema(), making, level);
  making.made.set(key, made);
  return made;
}

function textsOf(pattern: string | undefined, words: readonly string[]): fc.Arbitrary<string> {
  const known = fc.constantFrom('a', 'id', 'X-A', '/a', 'http://127.0.0.1:9', ...words);
  const fitting = pattern === undefined ? known : matching(pattern, known);
  return fc.oneof({ weight: 5, arbitrary: fitting }, { weight: 1, arbitrary: oddTexts });
}

function matching(pattern: string, otherwise: fc.Arbitrary<string>): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'));
  } catch {
    return otherwise;
  }
}

function numbersOf({ type, enum: allowed, minimum, exclusiveMinimum, maximum }: Numbers): fc.Arbitrary<number> {
  if (allowed) return fc.constantFrom(...allowed);
  const least = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
  const bounded = [least, least + 1, 10, 1000, ...(maximum === undefined ? [2 ** 31, 2 ** 53 - 1, 1e21] : [maximum])];
  const small = fc.integer({ min: Math.ceil(least), max: Math.ceil(least) + 20 });
  const fractions = type === 'number' ? [fc.constantFrom(0.5, 1e-9, 1e300)] : [];
  return fc.oneof(
    { weight: 4, arbitrary: small },
    { weight: 2, arbitrary: fc.oneof(fc.constantFrom(...bounded), ...fractions) },
    { weight: 1, arbitrary: oddNumbers },
  );
}

function objectsOf(schema: Objects, making: Making, level: number): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], exactlyOneOf = [], values } = schema;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, valuesOf(field, making, level)]),
  );
  const grouped = exactlyOneOf.flat().filter((name) => name in fields);
  const requiredKeys = [...new Set([...required.filter((name) => name in fields), ...grouped])];
  const record = level === 0 ? fc.record(fields, { requiredKeys, noNullPrototype: true }) : fewOf(fields, requiredKeys);
  const chosen = fc.tuple(record, fc.nat()).map(([value, at]) => chooseOne(value as Fields, exactlyOneOf, at));
  const isOpen = values !== undefined || schema.properties === undefined;
  if (!isOpen) return chosen;
  const keys = fc.oneof(fc.constantFrom('a', 'X-A', ...making.words), oddTexts);
  const map = fc.dictionary(keys, values ? valuesOf(values, making, level) : data, {
    minKeys: schema.minProperties ?? 0,
    maxKeys: 3,
    noNullPrototype: true,
  });
  return fc.tuple(map, chosen).map(([others, own]) => ({ ...others, ...own }));
}

/** Required fields and up to two others, so that a recursive schema does not grow with its levels. */
function fewOf(fields: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[]): fc.Arbitrary<unknown> {
  const others = Object.keys(fields).filter((name) => !requiredKeys.includes(name));
  return fc.subarray(others, { maxLength: Math.min(2, others.length) }).chain((names) =>
    fc.record(Object.fromEntries([...requiredKeys, ...names].map((name) => [name, fields[name]!])), {
      noNullPrototype: true,
    }),
  );
}

/** Keeps one field of each group. */
function chooseOne(value: Fields, groups: readonly (readonly string[])[], at: number): Fields {
  for (const group of groups) {
    const kept = group[at % group.length];
    for (const name of group) if (name !== kept) delete value[name];
  }
  return value;
}

/** An example with one or two fields replaced. @param chosen selects the fields. */
function mix(base: unknown, other: unknown, chosen: number): unknown {
  if (!isFields(base) || !isFields(other)) return chosen % 2 === 0 ? base : other;
  const fields = Object.entries(other);
  const taken = [chosen, chosen >>> 8].map((at) => fields[at % fields.length] ?? []);
  return { ...base, ...Object.fromEntries(taken.filter(([name]) => name !== undefined)) };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
