import { DEFINITIONS, type JsonSchema } from '../schema/schema.ts';
import { type Kind, knownFields } from './not-supported.ts';
import { OLD_FIELDS, type OldNames } from './old-names.ts';

const INERT = {
  description: 'Unsupported field. Only its empty value is accepted, which has no effect.',
  deprecated: true,
};

type Schemas = Readonly<Record<string, JsonSchema>>;

/**
 * Extends the public schema of a core object with what files written for other products may contain: version 2 field
 * names, and fields that only KrakenD has, with the values that are equivalent to omitting them.
 */
export function withOldFields(kind: Kind, schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] as Schemas;
  const inert = Object.entries(knownFields(kind)).flatMap(([name, values]) =>
    values.length > 0 && !Object.hasOwn(properties, name) ? [[name, { title: name, ...INERT, enum: values }]] : [],
  );
  const filled = { ...schema, properties: { ...properties, ...Object.fromEntries(inert) } };
  return kind === 'router' ? filled : withOldNames(filled, OLD_FIELDS);
}

/** Patterns for the old names of a namespace, each with a deprecation schema that refers to the current one. */
export function oldNamespaceSchemas(namespace: string, oldNames: readonly string[], reference: JsonSchema): Schemas {
  const description = `Former name of "${namespace}".`;
  return Object.fromEntries(
    oldNames.map((name) => [`^github[._]com/${name}$`, { description, deprecated: true, allOf: [reference] }]),
  );
}

/** Accepts version 2 documents; in any other version the names of version 2 are unknown keys. */
export function withVersionTwo(root: JsonSchema, definitions: Schemas): JsonSchema {
  const properties = root['properties'] as Schemas;
  const version = {
    ...properties['version'],
    enum: [3, 4, 2],
    description:
      'Version of the configuration format. Versions 3 and 4 have the same fields here; version 2 is read as version 3.',
  };
  return {
    ...root,
    properties: { ...properties, version },
    if: { type: 'object', properties: { version: { const: 2 } }, required: ['version'] },
    else: withoutOldNames(root, definitions) ?? {},
  };
}

/** Schemas of fields under their version 2 names. */
const oldFields = new WeakSet<JsonSchema>();

/** Adds the version 2 names of its fields to the public schema of an object. */
export function withOldNames(schema: JsonSchema, names: OldNames): JsonSchema {
  const properties = schema['properties'] as Schemas;
  const old = Object.entries(names).filter(([, name]) => Object.hasOwn(properties, name));
  if (old.length === 0) return schema;
  const fields = old.map(([key, name]) => {
    const { default: _default, ...field } = properties[name]!;
    const description = `Former name of "${name}" in version 2.`;
    const oldField: JsonSchema = { ...field, title: key, description, deprecated: true };
    oldFields.add(oldField);
    return [key, oldField];
  });
  const { required = [], ...rest } = schema as { required?: string[] };
  const isRenamed = (name: string) => old.some(([, present]) => present === name);
  const eitherName = required.filter(isRenamed).map((name) => {
    const spellings = [name, ...old.filter(([, present]) => present === name).map(([key]) => key)];
    return { anyOf: spellings.map(demand) };
  });
  return {
    ...rest,
    required: required.filter((name) => !isRenamed(name)),
    ...(eitherName.length > 0 && { allOf: eitherName }),
    properties: { ...properties, ...Object.fromEntries(fields) },
  };
}

/** Repeats the field in `properties` next to `required`, as strict validators demand. */
function demand(field: string): JsonSchema {
  return { type: 'object', properties: { [field]: true }, required: [field] };
}

/**
 * Schema that rejects version 2 names wherever a schema has them, and nothing else; undefined if it has none.
 * @param within references followed so far: a recursive schema is visited once.
 */
function withoutOldNames(
  schema: JsonSchema,
  definitions: Schemas,
  within: readonly string[] = [],
): JsonSchema | undefined {
  const [wrapped] = (schema['allOf'] ?? []) as JsonSchema[];
  const reference = (schema['$ref'] ?? wrapped?.['$ref']) as string | undefined;
  if (reference !== undefined) {
    if (within.includes(reference)) return undefined;
    return withoutOldNames(definitions[reference.slice(DEFINITIONS.length)]!, definitions, [...within, reference]);
  }
  if (schema['items'] !== undefined) {
    const items = withoutOldNames(schema['items'] as JsonSchema, definitions, within);
    return items && { type: 'array', items };
  }
  const results = ['properties', 'patternProperties'].flatMap((keyword) => {
    const inner = Object.entries((schema[keyword] ?? {}) as Schemas).flatMap(([key, field]) => {
      const refusal = oldFields.has(field) ? false : withoutOldNames(field, definitions, within);
      return refusal === undefined ? [] : [[key, refusal] as const];
    });
    return inner.length > 0 ? [[keyword, Object.fromEntries(inner)] as const] : [];
  });
  return results.length > 0 ? { type: 'object', ...Object.fromEntries(results) } : undefined;
}
