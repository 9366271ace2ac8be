import type { Data, DataObject } from '#contract';

/** Keywords that only OpenAPI 3.0 or older drafts have. */
const DROPPED = ['nullable', 'id', '$id', '$schema', 'definitions', '$defs'];

/** Converts a schema of OpenAPI 3.0 or an older draft to JSON Schema 2020-12. Its subschemas have already been translated. */
export function toDialect31(schema: DataObject | boolean): Data {
  if (typeof schema === 'boolean') return schema;
  const translated = { ...schema };
  if (schema['nullable'] === true) allowNull(translated);
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const flag = schema[exclusive];
    if (typeof flag !== 'boolean') continue;
    delete translated[exclusive];
    if (!flag || schema[bound] === undefined) continue;
    translated[exclusive] = schema[bound];
    delete translated[bound];
  }
  if (Array.isArray(schema['items'])) {
    translated['prefixItems'] = schema['items'];
    delete translated['items'];
    if (schema['additionalItems'] !== undefined) translated['items'] = schema['additionalItems'];
    delete translated['additionalItems'];
  }
  if (schema['required'] !== undefined && !Array.isArray(schema['required'])) delete translated['required'];
  for (const keyword of DROPPED) delete translated[keyword];
  return translated;
}

function allowNull(schema: DataObject): void {
  const { type, enum: values } = schema;
  if (type !== undefined) schema['type'] = [...new Set([...[type].flat(), 'null'])] as Data[];
  if (Array.isArray(values) && !values.includes(null)) schema['enum'] = [...values, null];
}
