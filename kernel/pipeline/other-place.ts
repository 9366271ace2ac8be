import { ConfigError, type Place, type Plugin, type Schema } from '#contract';
import { fieldName, parentPointer } from '../config/index.ts';
import { HOLDERS } from './namespaces.ts';

/** Says of a setting which the plugin has at another level, or in another form, only where it belongs. */
export function ofOtherPlace(error: ConfigError, plugin: Plugin, { at, schema }: Place, pointer: string): ConfigError {
  if (error.code !== 'SCHEMA_UNKNOWN_KEY' || parentPointer(error.pointer) !== pointer) return error;
  const key = fieldName(error.pointer);
  if ('anyOf' in schema && schema.anyOf.some((form) => hasField(form, key))) {
    const message = `'${key}' of "${plugin.name}" belongs to another form of it`;
    return new ConfigError(error.code, error.pointer, message, { hint: 'write one of its forms, not parts of both' });
  }
  const home = plugin.places?.find((place) => hasField(place.schema, key));
  if (!home) return error;
  const message = `'${key}' of "${plugin.name}" belongs to ${HOLDERS[home.at]}, not to ${HOLDERS[at]}`;
  return new ConfigError(error.code, error.pointer, message, {
    hint: `move it to the extra_config of ${HOLDERS[home.at]}`,
  });
}

function hasField(schema: Schema, key: string): boolean {
  return 'properties' in schema && schema.properties !== undefined && Object.hasOwn(schema.properties, key);
}
