import { type AttachmentTraits, ConfigError, type Place, type Plugin, type Schema } from '#contract';
import { fieldName, parentPointer } from '../config/index.ts';
import type { Attached } from './attachments.ts';
import { HOLDERS } from './namespaces.ts';
import type { Build } from './site.ts';

/**
 * What one component alone may bring to a place. Two that bring it are a mistake that names both.
 *
 * Code: PLUGINS_CONFLICT.
 * @param does what they both do, as in "decide how the backends are called".
 */
export function onlyClaim<A, K extends keyof A>(
  build: Build,
  attached: readonly Attached<A>[],
  part: K,
  does: string,
): A[K] | undefined {
  const [first, ...others] = attached.filter(({ at }) => at[part] !== undefined);
  for (const other of others) {
    const message = `"${first!.plugin.name}" and "${other.plugin.name}" cannot both ${does}`;
    build.errors.push(new ConfigError('PLUGINS_CONFLICT', other.pointer, message, { related: [first!.pointer] }));
  }
  return first?.at[part];
}

/** A wrap that may answer by itself hides what stands inside it: the operator is told what. */
export function reportHidden(build: Build, outermostFirst: readonly Attached<AttachmentTraits>[]): void {
  for (const [at, { plugin, at: stand, pointer }] of outermostFirst.entries()) {
    const hidden = outermostFirst.slice(at + 1).filter((inner) => inner.plugin !== plugin);
    if (!stand.terminal || hidden.length === 0) continue;
    const names = hidden.map((inner) => `"${inner.plugin.name}"`).join(', ');
    build.warnings.push(
      new ConfigError('PLUGIN_HIDDEN', pointer, `"${plugin.name}" answers by itself, so ${names} may never run`, {
        related: hidden.map((inner) => inner.pointer),
      }),
    );
  }
}

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
