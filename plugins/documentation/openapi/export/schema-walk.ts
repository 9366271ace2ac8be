import { type Data, type DataObject, isObject } from '#contract';

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. */
const ONE = new Set([
  ...['items', 'additionalItems', 'unevaluatedItems', 'contains', 'not', 'if', 'then', 'else'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'contentSchema'],
]);
const MANY = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies']);

/** Applies a function to the direct subschemas of a schema. Other values, such as examples, are unchanged. */
export function mapSchemas(schema: DataObject, map: (inner: Data) => Data): DataObject {
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inside(keyword, value, map)]));
}

function inside(keyword: string, value: Data, map: (inner: Data) => Data): Data {
  if (MANY.has(keyword) && Array.isArray(value)) return value.map((inner) => (isSchema(inner) ? map(inner) : inner));
  if (ONE.has(keyword) && isSchema(value)) return map(value);
  if (NAMED.has(keyword) && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, isSchema(inner) ? map(inner) : inner]),
    );
  }
  return value;
}

function isSchema(value: Data): boolean {
  return isObject(value) || typeof value === 'boolean';
}
