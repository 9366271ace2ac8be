import type { JsonSchema } from '../../kernel/config/index.ts';
import { DURATION_PATTERN } from '../../kernel/config/schema/duration.ts';
import { DURATION_WORDS } from '../../kernel/config/schema/schema.ts';
import { code, plain, table, value } from './markdown.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Notes on fields, in addition to their descriptions: where nested fields are documented, if not in the same table. */
export type Elsewhere = Readonly<Record<string, string>>;

/**
 * Table of the fields of an object, at every depth: `a.b` is field `b` of object `a`, `a[].b` of the objects of list
 * `a`, `a.*` the values of map `a`.
 */
export function fieldTable(schema: JsonSchema, elsewhere: Elsewhere): string {
  const rows = rowsOf(schema, '', elsewhere);
  return rows.length > 0
    ? table(['Field', 'Type', 'Default', 'Description', 'Example'], rows)
    : `Any object. ${plain(String(schema['description']))}`;
}

function rowsOf(schema: JsonSchema, prefix: string, elsewhere: Elsewhere): string[][] {
  const { properties, items, additionalProperties: values } = schema as Parts;
  if (items) return rowsOf(items, `${prefix}[]`, elsewhere);
  if (!properties) return values ? rowsOf(values, `${prefix}.*`, elsewhere) : [];
  const required = requiredOf(schema);
  return Object.entries(properties).flatMap(([key, field]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const more = elsewhere[key];
    const row = [
      code(path),
      typeOf(field),
      required.has(key) ? 'required' : value(field['default']),
      [...descriptionOf(field), ...(more === undefined ? [] : [more])].join(' '),
      value((field['examples'] as unknown[] | undefined)?.[0]),
    ];
    return [row, ...(more === undefined ? rowsOf(field, path, elsewhere) : [])];
  });
}

interface Parts {
  readonly properties?: Schemas;
  readonly items?: JsonSchema;
  /** Schema of a map's values; false for a closed object. */
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly allOf?: readonly { anyOf?: readonly [{ required: readonly string[] }] }[];
}

/** Required fields. Of a field with several spellings only the current one is included; of a group of alternatives none. */
function requiredOf(schema: JsonSchema): Set<string> {
  const { required = [], allOf = [] } = schema as Parts;
  return new Set([...required, ...allOf.flatMap(({ anyOf }) => anyOf?.[0].required ?? [])]);
}

function descriptionOf({ description, deprecated, writeOnly }: JsonSchema): string[] {
  const words = plain(String(description).replace(DURATION_WORDS, '').trim());
  return [...(deprecated ? ['*Deprecated.*'] : []), words, ...(writeOnly ? ['A secret: never printed.'] : [])];
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: choices, anyOf, pattern, items, properties, additionalProperties: values } = schema;
  if (choices) return choiceOf(choices as unknown[]);
  if (anyOf) return (anyOf as JsonSchema[]).map(typeOf).join(' or ');
  if (pattern === DURATION_PATTERN) return 'duration';
  if (items) return `list of ${typeOf(items as JsonSchema)}`;
  if (values) return `map of ${typeOf(values as JsonSchema)}`;
  if (type === 'object') return properties ? 'object' : 'any object';
  return type === undefined ? 'any' : `${type}${rangeOf(schema)}`;
}

function choiceOf(choices: readonly unknown[]): string {
  return `${choices.length === 1 ? 'only' : 'one of'} ${choices.map(value).join(', ')}`;
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  if (exclusiveMinimum !== undefined) return `, more than ${exclusiveMinimum}`;
  if (minimum === undefined || minimum === Number.MIN_SAFE_INTEGER) return '';
  const isBounded = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return isBounded ? `, ${minimum} to ${maximum}` : `, ${minimum} or more`;
}
