import { type Data, type DataObject, isObject } from '#contract';

/** Schema keywords of OpenAPI 3.0; any other keyword makes the document invalid. */
const KEYWORDS = new Set([
  ...['title', 'description', 'type', 'format', 'default', 'enum', 'example', 'nullable', 'deprecated', 'readOnly'],
  ...['writeOnly', 'discriminator', 'externalDocs', 'xml', 'allOf', 'anyOf', 'oneOf', 'not', 'items', 'properties'],
  ...['additionalProperties', 'required', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'maxProperties', 'minProperties'],
]);

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** Translations of JSON Schema keywords, applied before keywords unknown to OpenAPI 3.0 are dropped. */
const translations: readonly ((schema: DataObject) => void)[] = [
  constant,
  types,
  examples,
  tuple,
  bounds,
  patterns,
  emptyLists,
];

/** Converts a schema of any JSON Schema draft to OpenAPI 3.0. Its subschemas have already been translated. */
export function toDialect30(schema: DataObject | boolean): Data {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} };
  const translated = { ...schema };
  for (const translate of translations) translate(translated);
  return Object.fromEntries(
    Object.entries(translated).filter(([keyword]) => KEYWORDS.has(keyword) || keyword.startsWith('x-')),
  );
}

function constant(schema: DataObject): void {
  if (Object.hasOwn(schema, 'const')) schema['enum'] = [schema['const']!];
}

/** Converts a list of types to one nullable type, or to a choice. */
function types(schema: DataObject): void {
  const { type } = schema;
  if (type === undefined) return;
  const named = [type].flat().filter((name): name is string => typeof name === 'string');
  if (named.includes('null')) schema['nullable'] = true;
  const known = named.filter((name) => TYPES.has(name));
  delete schema['type'];
  if (known.length === 1) schema['type'] = known[0]!;
  else if (known.length > 1)
    combine(
      schema,
      known.map((name) => withItems({ type: name })),
    );
  withItems(schema);
}

/** Adds a choice to the existing rules of the schema. */
function combine(schema: DataObject, choices: DataObject[]): void {
  if (schema['anyOf'] === undefined) schema['anyOf'] = choices;
  else schema['allOf'] = [...(Array.isArray(schema['allOf']) ? schema['allOf'] : []), { anyOf: choices }];
}

/** OpenAPI requires `items` for arrays. */
function withItems(schema: DataObject): DataObject {
  if (schema['type'] === 'array') schema['items'] ??= {};
  return schema;
}

function examples(schema: DataObject): void {
  const { examples: list } = schema;
  if (Array.isArray(list) && list.length > 0) schema['example'] ??= list[0]!;
}

/** Converts a tuple to a choice for every item. */
function tuple(schema: DataObject): void {
  const row = schema['prefixItems'] ?? schema['items'];
  if (!Array.isArray(row)) return;
  schema['items'] = row.length > 0 ? { anyOf: row } : {};
}

/** Converts exclusive bounds to flags next to the bound. */
function bounds(schema: DataObject): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = schema[exclusive];
    if (value === undefined || typeof value === 'boolean') continue;
    const other = schema[bound];
    const isTighter = bound === 'minimum' ? Number(other) > Number(value) : Number(other) < Number(value);
    delete schema[exclusive];
    if (other !== undefined && isTighter) continue;
    schema[bound] = value;
    schema[exclusive] = true;
  }
}

/** Converts pattern properties to additional properties that match any of their schemas. */
function patterns(schema: DataObject): void {
  const { patternProperties: named, additionalProperties: others } = schema;
  if (!isObject(named)) return;
  const choices = Object.values(named);
  if (others === undefined || others === true || isOpen(others)) return;
  // The schema `false` has already been translated to `{not: {}}`.
  const all = isObject(others) && !isNever(others) ? [...choices, others] : choices;
  if (all.length > 0) schema['additionalProperties'] = all.length === 1 ? all[0]! : { anyOf: all };
}

function isOpen(schema: Data): boolean {
  return isObject(schema) && Object.keys(schema).length === 0;
}

function isNever(schema: DataObject): boolean {
  return isObject(schema['not'] ?? null) && isOpen(schema['not']!) && Object.keys(schema).length === 1;
}

/** Removes empty lists where OpenAPI requires items, and forms of older drafts that are not lists. */
function emptyLists(schema: DataObject): void {
  for (const keyword of ['required', 'enum', 'allOf', 'anyOf', 'oneOf']) {
    const list = schema[keyword];
    if (list !== undefined && !(Array.isArray(list) && list.length > 0)) delete schema[keyword];
  }
}
