import { ConfigError, copyData, type Data, type PipeConfig, type Place, type Plugin, type Schema } from '#contract';
import {
  compileSchema,
  completePipe,
  fieldName,
  joinPointer,
  markedLiterals,
  parentPointer,
  pipesIn,
  secretWarning,
} from '../config/index.ts';
import { unreadableFile } from '../contract/internal.ts';
import { HOLDERS } from './namespaces.ts';
import type { Reads } from './reads.ts';
import { type Build, createSite, type Location } from './site.ts';

/** A plugin and what it handed over at one place. */
export interface Attached<A> {
  readonly plugin: Plugin;
  readonly at: A;
  /** Where its configuration stands. */
  readonly pointer: string;
  readonly reads: Reads;
}

/**
 * Attaches a plugin at one place: validates its configuration, hands it its site and collects what is wrong.
 * @returns what `attach` handed over, or undefined when the configuration was refused.
 */
export function attach<A>(build: Build, plugin: Plugin, place: Place, raw: Data, stance: Location): A | undefined {
  const { value, errors } = compileSchema(place.schema)(copyData(raw), stance.pointer);
  if (errors.length > 0) {
    for (const error of errors) build.errors.push(ofOtherPlace(error, plugin, place, stance.pointer));
    return undefined;
  }
  if (!completePipes(build, place, value, stance)) return undefined;
  const make = place.attach as (site: unknown) => A;
  const made = collecting(build, stance.pointer, () => make(createSite(build, plugin, Object.freeze(value), stance)));
  if (!made) return undefined;
  for (const literal of markedLiterals(place.schema, raw, stance.pointer)) build.warnings.push(secretWarning(literal));
  return made;
}

/** Fills in what the pipes of a component leave open. @returns false when one of them has mistakes. */
function completePipes(build: Build, { schema }: Place, value: unknown, { pointer, endpoint }: Location): boolean {
  const { config: service, known } = build;
  const around = { service, known, timeout: endpoint?.timeout ?? build.config.timeout };
  let isSound = true;
  for (const { pointer: at, value: pipe, rules } of pipesIn(schema, value)) {
    const { errors, warnings } = completePipe(pipe as unknown as PipeConfig, pointer + at, around);
    const refused = refusedComponents(pipe as unknown as PipeConfig, rules.components, pointer + at);
    for (const error of [...errors, ...refused]) build.errors.push(error);
    for (const warning of warnings) build.warnings.push(warning);
    isSound &&= errors.length + refused.length === 0;
  }
  return isSound;
}

/** Code: PIPE_COMPONENT. */
function refusedComponents(
  { extra_config: extra }: PipeConfig,
  allowed: readonly string[] | undefined,
  pointer: string,
): ConfigError[] {
  if (!allowed) return [];
  const refused = Object.keys(extra).filter((namespace) => !/^[@$_#]/.test(namespace) && !allowed.includes(namespace));
  return refused.map((namespace) => {
    const at = joinPointer(pointer, 'extra_config', namespace);
    const message = `"${namespace}" does nothing here`;
    return new ConfigError('PIPE_COMPONENT', at, message, { hint: `one of ${allowed.join(', ')}` });
  });
}

/** What a plugin hands over at a place, or undefined when it refused the configuration: its mistake is collected. */
export function collecting<A>(build: Build, pointer: string, make: () => A): A | undefined {
  try {
    return make();
  } catch (error) {
    build.errors.push(faultOf(error, pointer));
    return undefined;
  }
}

/** What an attachment threw, as a mistake: of its own, or of a file that could not be read. @throws what is neither. */
function faultOf(error: unknown, pointer: string): ConfigError {
  if (error instanceof ConfigError) return error;
  const { path } = error as Partial<NodeJS.ErrnoException>;
  if (typeof path !== 'string') throw error;
  return new ConfigError('FILE_UNREADABLE', pointer, unreadableFile(path, error), { cause: error });
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
