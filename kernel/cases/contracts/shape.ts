import { type Data, type DataObject, isObject } from '#contract';
import { MASKED } from '../har.ts';
import { formatsOf } from './formats.ts';

/** Types of JSON Schema, in the order in which they are written. */
export const jsonTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

export type JsonType = (typeof jsonTypes)[number];

/** Nesting depth below which values are not examined: any value is accepted there. */
const MAX_DEPTH = 64;

/** Number of different keys of an object above which further keys are treated as those of a map. */
const MAX_FIELDS = 1000;

/** Number of different strings that are kept as a possible enum. */
export const MAX_VALUES = 10;

/** Length of the longest string that can be a value of an enum, in characters. */
const MAX_VALUE_LENGTH = 64;

/** The strings that samples contain in one field. */
export interface Strings {
  count: number;
  /** Formats that all of these strings have. */
  readonly formats: Set<string>;
  /** The distinct strings; null if there are too many of them, or one is too long. */
  values: Set<string> | null;
  /** Whether a contract already describes the value by an enum. */
  isEnum: boolean;
}

/** A key of the sampled objects at one position of a body. */
export interface Field {
  readonly shape: Shape;
  /** Number of sampled objects that have the key. */
  count: number;
}

/** All objects that the samples contain at one position of a body. */
export interface Fields {
  count: number;
  readonly known: Map<string, Field>;
  /** Values of keys that are data rather than names, as in a map by ID; null without any. */
  others: Shape | null;
}

/** Keys that are data: numbers, UUIDs, hashes, dates, addresses and long texts. They are never written to a contract. */
const dataKey = /^\d+$|^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$|^[\da-f]{16,}$|^\d{4}-\d\d-\d\d|@|^.{65}/is;

/** The union of all samples of a value: its types, the fields of its objects and the items of its arrays. */
export class Shape {
  /** Whether any value is accepted, because samples are nested too deeply or a schema has no type. */
  isOpen = false;
  readonly types = new Set<JsonType>();
  strings: Strings | null = null;
  fields: Fields | null = null;
  /** Items of all arrays; null if all arrays are empty. */
  items: Shape | null = null;

  /** Adds a sample. */
  add(value: Data, depth = MAX_DEPTH): void {
    // The recorder masks values of any type as text, so the type of a masked value is unknown.
    if (value === MASKED) return;
    if (depth === 0) {
      this.isOpen = true;
      return;
    }
    const type = typeOf(value);
    this.types.add(type);
    if (type === 'string') this.#addString(value as string);
    else if (type === 'array') this.#addItems(value as Data[], depth);
    else if (type === 'object') this.#addObject(value as DataObject, depth);
  }

  /** Names of the types for a schema: a number can be an integer. */
  get typeNames(): JsonType[] {
    return jsonTypes.filter((type) => this.types.has(type) && !(type === 'integer' && this.types.has('number')));
  }

  /** Adds all samples of another shape. */
  include(other: Shape): void {
    this.isOpen ||= other.isOpen;
    for (const type of other.types) this.types.add(type);
    if (other.strings) this.#includeStrings(other.strings);
    this.items = united(this.items, other.items);
    if (other.fields) this.#includeFields(other.fields);
  }

  #addItems(items: readonly Data[], depth: number): void {
    if (items.length === 0) return;
    this.items ??= new Shape();
    for (const item of items) this.items.add(item, depth - 1);
  }

  #addString(text: string): void {
    const values = text.length > MAX_VALUE_LENGTH ? null : new Set([text]);
    this.#includeStrings({ count: 1, formats: formatsOf(text, this.strings?.formats), values, isEnum: false });
  }

  #includeStrings({ count, formats, values, isEnum }: Strings): void {
    const own = this.strings;
    if (!own) {
      this.strings = { count, formats: new Set(formats), values: values && new Set(values), isEnum };
      return;
    }
    own.count += count;
    own.isEnum ||= isEnum;
    for (const format of own.formats) if (!formats.has(format)) own.formats.delete(format);
    if (values && own.values) for (const value of values) own.values.add(value);
    if (!values || (own.values && own.values.size > MAX_VALUES)) own.values = null;
  }

  #addObject(object: DataObject, depth: number): void {
    this.fields ??= emptyFields();
    this.fields.count++;
    for (const key of Object.keys(object)) this.#field(this.fields, key, 1).add(object[key]!, depth - 1);
  }

  #includeFields({ count, known, others }: Fields): void {
    this.fields ??= emptyFields();
    this.fields.count += count;
    for (const [key, field] of known) this.#field(this.fields, key, field.count).include(field.shape);
    this.fields.others = united(this.fields.others, others);
  }

  /** The shape for the values of a key. @param count of objects with the key that are being added. */
  #field(fields: Fields, key: string, count: number): Shape {
    const known = fields.known.get(key);
    if (known) {
      known.count += count;
      return known.shape;
    }
    if (dataKey.test(key) || fields.known.size >= MAX_FIELDS) {
      fields.others ??= new Shape();
      return fields.others;
    }
    const shape = new Shape();
    fields.known.set(key, { shape, count });
    return shape;
  }
}

/** Adds the samples of a shape to another one; either can be null for no samples. */
export function united(shape: Shape | null, other: Shape | null): Shape | null {
  if (!other) return shape;
  const whole = shape ?? new Shape();
  whole.include(other);
  return whole;
}

export function emptyFields(): Fields {
  return { count: 0, known: new Map(), others: null };
}

/** The JSON type of a value; whole numbers are integers. */
function typeOf(value: Data): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'object') return /^-?\d+$/.test(value.rawJSON) ? 'integer' : 'number';
  return typeof value as 'string' | 'boolean';
}
