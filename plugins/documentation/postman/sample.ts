import { type Data, type DataObject, isObject } from '#contract';
import { lookUp } from '../lib/references.ts';

/** Maximum number of values in a sample; the rest is omitted. */
const MAX_VALUES = 1000;

/** Maximum depth of a sample; deeper levels are omitted, because a schema may contain itself. */
const MAX_DEPTH = 12;

interface Sampling {
  readonly root: DataObject;
  values: number;
}

/** Creates a sample value for a JSON Schema: its default, its first choice, or an empty value of its type. */
export function sampleOf(schema: DataObject): Data {
  return sample(schema, { root: schema, values: 0 }, 0);
}

function sample(written: Data, sampling: Sampling, depth: number): Data {
  const schema = resolve(written, sampling.root);
  if (schema === null || depth > MAX_DEPTH || ++sampling.values > MAX_VALUES) return null;
  const given = givenIn(schema);
  if (given !== undefined) return given;
  const inner = (each: Data) => sample(each, sampling, depth + 1);
  const { allOf: all, type } = schema;
  const [choice] = [schema['oneOf'], schema['anyOf']].flatMap((list) => (Array.isArray(list) ? list.slice(0, 1) : []));
  if (Array.isArray(all))
    return joined([...all.map(inner), ...(hasProperties(schema) ? [objectOf(schema, inner)] : [])]);
  if (choice !== undefined && !hasProperties(schema)) return inner(choice);
  const [first] = [type].flat().filter((name) => name !== 'null');
  if (first === 'object' || (first === undefined && hasProperties(schema))) return objectOf(schema, inner);
  if (first === 'array') return isObject(schema['items'] ?? null) ? [inner(schema['items']!)] : [];
  return typeof first === 'string' && Object.hasOwn(empty, first) ? empty[first]! : null;
}

const empty: Readonly<Record<string, Data>> = { string: '', number: 0, integer: 0, boolean: false };

function givenIn(schema: DataObject): Data | undefined {
  const { default: preset, const: only, enum: choices, examples } = schema;
  const firsts = [choices, examples].map((list) => (Array.isArray(list) ? list[0] : undefined));
  return [preset, only, ...firsts].find((value) => value !== undefined);
}

function hasProperties(schema: DataObject): boolean {
  return isObject(schema['properties'] ?? null) || Array.isArray(schema['required']);
}

/** Creates an object with all properties, including those that are only listed as required. */
function objectOf({ properties, required }: DataObject, inner: (schema: Data) => Data): DataObject {
  const known = isObject(properties ?? null) ? (properties as DataObject) : {};
  const names = new Set(Object.keys(known));
  if (Array.isArray(required)) for (const name of required) if (typeof name === 'string') names.add(name);
  return Object.fromEntries([...names].map((name) => [name, Object.hasOwn(known, name) ? inner(known[name]!) : '']));
}

function joined(samples: readonly Data[]): Data {
  const objects = samples.filter(isObject);
  if (objects.length === 0) return samples.find((each) => each !== null) ?? null;
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}

/** Returns the schema that a reference points to; null if it is not a schema, and for circular references. */
function resolve(written: Data, root: DataObject): DataObject | null {
  let schema: Data | undefined = written;
  for (const _ of Array(MAX_DEPTH)) {
    if (!isObject(schema ?? null)) return null;
    const { $ref: reference } = schema as DataObject;
    if (typeof reference !== 'string') return schema as DataObject;
    schema = lookUp(root, reference);
  }
  return null;
}
