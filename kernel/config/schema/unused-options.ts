import { ConfigError, type Data, isObject, type Schema } from '#contract';
import { escapePointer } from '../../values/pointer.ts';
import { cloneData } from '../normalize/plain-data.ts';
import { innerSchemas } from './schema.ts';
import { compileSchema } from './validate.ts';

/**
 * Finds fields that are set but have no effect according to the schema.
 *
 * Code: a warning, OPTION_UNUSED.
 * @param settings as written. @param pointer to the settings.
 */
export function unusedOptions(schema: Schema, settings: Data, pointer: string): ConfigError[] {
  if (!hasUnused(schema)) return [];
  if ('anyOf' in schema) {
    const form = schema.anyOf.find((one) => compileSchema(one)(cloneData(settings), '').errors.length === 0);
    return form ? unusedOptions(form, settings, pointer) : [];
  }
  if (schema.type === 'recursive') return unusedOptions(schema.schema(), settings, pointer);
  if (Array.isArray(settings)) {
    if (schema.type !== 'array') return [];
    return settings.flatMap((item, index) => unusedOptions(schema.items, item, `${pointer}/${index}`));
  }
  if (schema.type !== 'object' || !isObject(settings)) return [];
  return Object.entries(settings).flatMap(([key, value]) => {
    const isField = schema.properties && Object.hasOwn(schema.properties, key);
    const field = isField ? schema.properties[key] : schema.values;
    return field ? ofField(field, key, value, `${pointer}/${escapePointer(key)}`) : [];
  });
}

function ofField(schema: Schema, key: string, value: Data, pointer: string): ConfigError[] {
  const { unused } = schema;
  const hasEffect = !unused || (unused.only && !(unused.only as readonly Data[]).includes(value));
  if (hasEffect) return unusedOptions(schema, value, pointer);
  if ((unused.unless as readonly Data[] | undefined)?.includes(value)) return [];
  const name = unused.only ? `${key} ${JSON.stringify(value)}` : key;
  return [new ConfigError('OPTION_UNUSED', pointer, `${name} has no effect: ${unused.because}`)];
}

const known = new WeakMap<Schema, boolean>();

/** True if a field of the schema can be without effect; computed once per schema. */
function hasUnused(schema: Schema): boolean {
  let hasOne = known.get(schema);
  if (hasOne === undefined) {
    known.set(schema, false);
    const inner = 'type' in schema && schema.type === 'recursive' ? [schema.schema()] : innerSchemas(schema);
    hasOne = inner.some((field) => field.unused !== undefined || hasUnused(field));
    known.set(schema, hasOne);
  }
  return hasOne;
}
