import type { Schema } from '#contract';
import { DURATION_PATTERN } from './duration.ts';

/** JSON Schema, draft 07. */
export type JsonSchema = Record<string, unknown>;

/** Keys of closed objects with these prefixes are comments, unless they are fields. */
const COMMENT_PATTERN = '^[@$_#]';

/** Appended to the description of every duration. */
export const DURATION_WORDS = 'Duration: a number and a unit (ns, us, µs, ms, s, m, h).';

/**
 * Converts a schema to the validator's form: JSON Schema plus the keywords of `keywords.ts` (`closed`, `entries`,
 * `map`, `duration`, `distinct`, `choice`, `secret`).
 */
export function toJsonSchema(schema: Schema): object {
  return forValidator(schema, false);
}

/**
 * Converts a schema to the form for editors and other tools: plain JSON Schema, draft 07, without `$schema`, so that it
 * can be embedded in another one. Fields without a title get one derived from their name.
 */
export function toPublicSchema(schema: Schema): JsonSchema {
  return { ...describedSchema(schema), ...schema.published };
}

function describedSchema(schema: Schema): JsonSchema {
  const { title, examples, secret, unused } = schema;
  const description = [schema.description, unused && withoutEffect(unused)].filter(Boolean).join(' ') || undefined;
  const deprecated = schema.deprecated ?? (unused && !unused.only ? true : undefined);
  const shared = present({
    title,
    description,
    examples,
    default: schema.default,
    writeOnly: secret === true || undefined,
    deprecated,
  });
  if ('anyOf' in schema) return { ...shared, anyOf: schema.anyOf.map(toPublicSchema) };
  switch (schema.type) {
    case 'any':
      return shared;
    case 'recursive':
      return { ...shared, allOf: [{ $ref: `${DEFINITIONS}${schema.name}` }] };
    case 'duration':
      return {
        ...shared,
        type: 'string',
        pattern: DURATION_PATTERN,
        description: [description, DURATION_WORDS].filter(Boolean).join(' '),
      };
    case 'array':
      return { ...shared, ...limits(schema), type: 'array', items: toPublicSchema(schema.items) };
    case 'object': {
      const { properties, values, required } = schema;
      const object = { ...shared, ...limits(schema), type: 'object', ...exactlyOne(schema.exactlyOneOf) };
      const rest = values && { additionalProperties: toPublicSchema(values) };
      if (!properties) return { ...object, ...rest };
      const fields = mapEntries(properties, toPublicField);
      return {
        ...object,
        ...present({ required }),
        ...(rest ? { properties: fields, ...rest } : closedObject(fields)),
      };
    }
    case 'integer':
      return { ...shared, ...wholeNumbers, ...limits(schema), type: 'integer' };
    default:
      return { ...shared, ...limits(schema), type: schema.type };
  }
}

function withoutEffect({ because, only }: NonNullable<Schema['unused']>): string {
  if (!only) return `Without effect: ${because}.`;
  return `${only.map((value) => JSON.stringify(value)).join(', ')} has no effect: ${because}.`;
}

/** Integers beyond this range are not exact. */
const wholeNumbers = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

/** Location of referenced schemas. */
export const DEFINITIONS = '#/definitions/';

/** Schemas that a schema refers to, by name: the recursive ones. */
export function recursiveSchemas(schema: Schema, results = new Map<string, Schema>()): Map<string, Schema> {
  if ('type' in schema && schema.type === 'recursive') {
    if (results.has(schema.name)) return results;
    const held = schema.schema();
    results.set(schema.name, held);
    return recursiveSchemas(held, results);
  }
  for (const inner of innerSchemas(schema)) recursiveSchemas(inner, results);
  return results;
}

/** Schemas of the parts of a value. */
export function innerSchemas(schema: Schema): readonly Schema[] {
  if ('anyOf' in schema) return schema.anyOf;
  if (schema.type === 'array') return [schema.items];
  if (schema.type !== 'object') return [];
  return [...Object.values(schema.properties ?? {}), ...(schema.values ? [schema.values] : [])];
}

function exactlyOne(groups: readonly (readonly string[])[] | undefined): JsonSchema {
  if (!groups) return {};
  // Strict validators require the fields in `required` to be declared in the same schema.
  const demand = (field: string) => ({ properties: { [field]: {} }, required: [field] });
  return { allOf: groups.map((group) => ({ oneOf: group.map(demand) })) };
}

/** An object with these fields and comments, and nothing else. */
export function closedObject(properties: JsonSchema): JsonSchema {
  const fields = Object.entries(properties);
  const isComment = ([key]: [string, unknown]) => new RegExp(COMMENT_PATTERN).test(key);
  return {
    properties: Object.fromEntries(fields.filter((field) => !isComment(field))),
    // Strict validators reject a field that also matches a pattern: such a field gets a pattern of its own.
    patternProperties: {
      ...Object.fromEntries(fields.filter(isComment).map(([key, field]) => [`^${key.replace('$', '\\$')}$`, field])),
      [COMMENT_PATTERN]: true,
    },
    additionalProperties: false,
  };
}

function toPublicField(schema: Schema, key: string): JsonSchema {
  const words = key.replaceAll('_', ' ').trim();
  return { title: words.charAt(0).toUpperCase() + words.slice(1), ...toPublicSchema(schema) };
}

/** @param isField the value belongs to a key of a closed object: defaults can only be filled in there. */
function forValidator(schema: Schema, isField: boolean): JsonSchema {
  const shared = present({ secret: schema.secret, examples: schema.examples });
  if (isField && schema.default !== undefined) shared['default'] = schema.default;
  if ('anyOf' in schema) return { ...shared, choice: schema.anyOf };
  switch (schema.type) {
    case 'any':
      return shared;
    case 'recursive':
      return { ...shared, choice: schema };
    case 'duration':
      return { ...shared, duration: true };
    case 'array': {
      const { uniqueItems, ...rest } = limits(schema);
      const array = { ...shared, ...rest, type: 'array', items: forValidator(schema.items, false) };
      return uniqueItems ? { ...array, distinct: true } : array;
    }
    case 'object': {
      const { properties, values, required, exactlyOneOf } = schema;
      const rest = values && { additionalProperties: forValidator(values, false) };
      const entries = limits(schema);
      const counted = Object.keys(entries).length > 0 && { entries };
      const object = { ...shared, ...counted, type: 'object', ...present({ exactlyOneOf }), ...rest };
      if (!properties) return { ...object, map: true };
      return {
        ...object,
        closed: true,
        ...present({ required }),
        properties: mapEntries(properties, (field) => forValidator(field, true)),
      };
    }
    case 'integer':
      return { ...wholeNumbers, ...shared, ...limits(schema), type: 'integer' };
    default:
      return { ...shared, ...limits(schema), type: schema.type };
  }
}

const LIMITS = [
  'enum',
  'pattern',
  'minLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;

/** Keywords with the same meaning in JSON Schema. */
function limits(schema: Schema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => (LIMITS as readonly string[]).includes(key)));
}

function present(fields: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function mapEntries(
  properties: Readonly<Record<string, Schema>>,
  change: (schema: Schema, key: string) => JsonSchema,
): JsonSchema {
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, change(schema, key)]));
}
