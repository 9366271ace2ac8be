import { type Data, type DataObject, getKey, isObject, setKey } from '#contract';
import { chosenFormat } from './formats.ts';
import { emptyFields, type Field, type Fields, type JsonType, Shape, type Strings } from './shape.ts';

/** Settings of an inferred schema. */
export interface Inferring {
  /** Minimum number of samples for keys to become required and for formats to be named. */
  readonly minSamples: number;
  /** Whether strings with few different values become an enum. */
  readonly enums: boolean;
}

/** Number of different keys above which objects can be maps, whose keys are data. */
const MAX_KEYS = 30;

/** Minimum number of samples per distinct value for an enum to be inferred. */
const SAMPLES_PER_VALUE = 3;

/** Writes a shape as a JSON Schema. Keys are sorted, so that equal samples yield equal text in any order. */
export function toSchema(shape: Shape, inferring: Inferring): DataObject {
  const { isOpen, types, strings, items, fields } = shape;
  if (isOpen || types.size === 0) return {};
  const { typeNames: named } = shape;
  return {
    type: named.length === 1 ? named[0]! : named,
    ...(strings && ofStrings(strings, types, inferring)),
    ...(items && { items: toSchema(items, inferring) }),
    ...(fields && ofFields(asMap(fields), inferring)),
  };
}

function ofStrings(
  { count, formats, values, isEnum }: Strings,
  types: ReadonlySet<JsonType>,
  inferring: Inferring,
): DataObject {
  const format = count >= inferring.minSamples ? chosenFormat(formats) : undefined;
  const isText = [...types].every((type) => type === 'string' || type === 'null');
  const isGuessed = inferring.enums && format === undefined && count >= (values?.size ?? 0) * SAMPLES_PER_VALUE;
  if (values && isText && (isEnum || isGuessed)) {
    return { enum: [...[...values].sort(), ...(types.has('null') ? [null] : [])] };
  }
  return format === undefined ? {} : { format };
}

function ofFields({ count, known, others }: Fields, inferring: Inferring): DataObject {
  const keys = [...known.keys()].sort();
  const required = count < inferring.minSamples ? [] : keys.filter((key) => known.get(key)!.count === count);
  const properties: DataObject = {};
  for (const key of keys) setKey(properties, key, toSchema(known.get(key)!.shape, inferring));
  return {
    ...(keys.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(others && { additionalProperties: toSchema(others, inferring) }),
  };
}

/**
 * Treats keys as data if there are many and most of them are missing from some object. Keys of a single object are data
 * if their values have the same type.
 */
function asMap({ count, known, others }: Fields): Fields {
  if (known.size <= MAX_KEYS) return { count, known, others };
  const constant = [...known].filter(([, field]) => field.count === count);
  const types = new Set([...known.values()].map(({ shape }) => [...shape.types].sort().join()));
  if (count === 1 ? types.size > 1 : constant.length * 2 >= known.size) return { count, known, others };
  const map: Fields = { count, known: new Map<string, Field>(count === 1 ? [] : constant), others: new Shape() };
  if (others) map.others!.include(others);
  for (const [key, { shape }] of known) if (!map.known.has(key)) map.others!.include(shape);
  return map;
}

/**
 * Converts the schema of a contract to a shape. A schema without a type accepts any value.
 * @param samples number of samples of the response: a required key counts as present in all of them, any other key as
 * missing from one.
 */
export function toShape(schema: Data, samples: number): Shape {
  const shape = new Shape();
  if (!isObject(schema)) return shape;
  for (const type of [schema['type'] ?? []].flat()) shape.types.add(type as JsonType);
  const { format, enum: values, items } = schema;
  if (shape.types.has('string')) {
    const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : null;
    const formats = new Set(typeof format === 'string' ? [format] : []);
    shape.strings = { count: samples, formats, values: texts && new Set(texts), isEnum: texts !== null };
  }
  if (items !== undefined) shape.items = toShape(items, samples);
  if (shape.types.has('object')) shape.fields = fieldsOf(schema, samples);
  return shape;
}

function fieldsOf(schema: DataObject, samples: number): Fields {
  const fields = { ...emptyFields(), count: samples };
  const { required, additionalProperties: others } = schema;
  const always = new Set(Array.isArray(required) ? required : []);
  const properties = getKey(schema, 'properties');
  for (const [key, inner] of Object.entries(isObject(properties) ? properties : {})) {
    fields.known.set(key, { shape: toShape(inner, samples), count: always.has(key) ? samples : samples - 1 });
  }
  if (isObject(others)) fields.others = toShape(others, samples);
  return fields;
}
