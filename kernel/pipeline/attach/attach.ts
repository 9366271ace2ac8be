import { resolve } from 'node:path';
import {
  type AttachmentTraits,
  ConfigError,
  copyData,
  type Data,
  type PipeConfig,
  type Place,
  type Plugin,
  type Schema,
} from '#contract';
import {
  compileSchema,
  completePipe,
  deepFreeze,
  fieldName,
  joinPointer,
  markedLiterals,
  parentPointer,
  pipesIn,
  secretWarning,
  unusedOptions,
} from '../../config/index.ts';
import { unreadableFile } from '../../contract/internal.ts';
import type { Build } from './build.ts';
import { attachContained } from './guards.ts';
import type { Location } from './location.ts';
import { HOLDERS } from './namespaces.ts';
import type { Reads } from './reads.ts';
import { createSite } from './site.ts';

/** A plugin with the hooks that it returned for one endpoint, backend, agent or the service. */
export interface Attached<A> {
  readonly plugin: Plugin;
  readonly at: A;
  /** Pointer to the plugin's configuration. */
  readonly pointer: string;
  readonly reads: Reads;
  /** Set when a service-level component attaches to each endpoint or backend. */
  readonly ofService?: true;
}

/**
 * Calls a plugin's `attach` function for one endpoint, backend, agent or the service: validates the configuration
 * there, passes it with its site, and collects errors.
 * @returns the hooks of the plugin, or undefined if the configuration was rejected.
 */
export function attach<A>(build: Build, plugin: Plugin, place: Place, raw: Data, stance: Location): A | undefined {
  const { value, errors } = compileSchema(place.schema)(copyData(raw), stance.pointer);
  if (errors.length > 0) {
    for (const error of errors) build.errors.push(ofOtherPlace(error, plugin, place, stance.pointer));
    return undefined;
  }
  if (!completePipes(build, place, value, stance)) return undefined;
  const make = place.attach as (site: unknown) => A;
  const made = collecting(
    build,
    stance.pointer,
    () =>
      attachContained(build, plugin, stance.pointer, stance.endpoint ?? stance.agent, () =>
        make(createSite(build, plugin, plugin.source ? deepFreeze(value) : Object.freeze(value), stance)),
      ),
    raw,
  );
  if (!made) return undefined;
  for (const literal of markedLiterals(place.schema, raw, stance.pointer)) build.warnings.push(secretWarning(literal));
  for (const warning of unusedOptions(place.schema, raw, stance.pointer)) build.warnings.push(warning);
  return made;
}

/** Fills in defaults in a component's pipes. @returns false when one of them has errors. */
function completePipes(build: Build, { schema }: Place, value: unknown, { pointer, endpoint }: Location): boolean {
  const { config: service, known } = build;
  const around = { service, known, timeout: endpoint?.timeout ?? build.config.timeout };
  let isSound = true;
  for (const { pointer: at, value: pipe, rules } of pipesIn(schema, value)) {
    const { errors, warnings } = completePipe(pipe as unknown as PipeConfig, pointer + at, { ...around, rules });
    const refused = refusedComponents(pipe as unknown as PipeConfig, rules.components, pointer + at);
    for (const error of [...errors, ...refused]) build.errors.push(error);
    for (const warning of warnings) build.warnings.push(warning);
    isSound &&= errors.length + refused.length === 0;
  }
  return isSound;
}

/** Reports components that are not allowed in a pipe. Code: PIPE_COMPONENT. */
function refusedComponents(
  { extra_config: extra }: PipeConfig,
  allowed: readonly string[] | undefined,
  pointer: string,
): ConfigError[] {
  if (!allowed) return [];
  const refused = Object.keys(extra).filter((namespace) => !/^[@$_#]/.test(namespace) && !allowed.includes(namespace));
  return refused.map((namespace) => {
    const at = joinPointer(pointer, 'extra_config', namespace);
    const message = `"${namespace}" has no effect here`;
    return new ConfigError('PIPE_COMPONENT', at, message, { hint: `one of ${allowed.join(', ')}` });
  });
}

/**
 * Returns what `make` returns, or undefined when it rejects the configuration: the error is collected.
 * @param config configuration at the pointer, which may name the file that cannot be read.
 */
export function collecting<A>(build: Build, pointer: string, make: () => A, config: Data = null): A | undefined {
  try {
    return make();
  } catch (error) {
    build.errors.push(faultOf(error, pointer, config));
    return undefined;
  }
}

/**
 * Converts an exception of an `attach` function to a configuration error: its own, or one for an unreadable file.
 * @throws the exception itself when it is neither.
 */
function faultOf(error: unknown, pointer: string, config: Data): ConfigError {
  if (error instanceof ConfigError) return error;
  const { path } = error as Partial<NodeJS.ErrnoException>;
  if (typeof path !== 'string') throw error;
  const at = pointer + (fieldNaming(resolve(path), config) ?? '');
  return new ConfigError('FILE_UNREADABLE', at, unreadableFile(path, error), { cause: error });
}

/** Pointer to the first value that names a file. */
function fieldNaming(file: string, value: Data): string | undefined {
  if (typeof value === 'string') return resolve(value) === file ? '' : undefined;
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, item] of Object.entries(value)) {
    const within = fieldNaming(file, item);
    if (within !== undefined) return joinPointer('', key) + within;
  }
  return undefined;
}

/**
 * Replaces the error for a setting that the plugin has at another level, or in another form, by one that says where it
 * belongs.
 */
export function ofOtherPlace(error: ConfigError, plugin: Plugin, { at, schema }: Place, pointer: string): ConfigError {
  if (error.code !== 'SCHEMA_UNKNOWN_KEY' || parentPointer(error.pointer) !== pointer) return error;
  const key = fieldName(error.pointer);
  if ('anyOf' in schema && schema.anyOf.some((form) => hasField(form, key))) {
    const message = `'${key}' of "${plugin.name}" cannot be combined with the other fields: it belongs to another form of the component`;
    return new ConfigError(error.code, error.pointer, message, { hint: 'use the fields of one form only' });
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

/**
 * Returns the value that only one component of an endpoint, backend or the service may provide. A second component that
 * provides it is an error naming both.
 *
 * Code: PLUGINS_CONFLICT.
 * @param does action of both components for the message, for example "decide how the backends are called".
 */
export function onlyClaim<A, K extends keyof A>(
  build: Build,
  attached: readonly Attached<A>[],
  key: K,
  does: string,
): A[K] | undefined {
  const [first, ...others] = attached.filter(({ at }) => at[key] !== undefined);
  for (const other of others) {
    const message = `"${first!.plugin.name}" and "${other.plugin.name}" cannot both ${does}`;
    build.errors.push(new ConfigError('PLUGINS_CONFLICT', other.pointer, message, { related: [first!.pointer] }));
  }
  return first?.at[key];
}

/** Warns of wraps hidden by an outer wrap that may respond itself. */
export function reportHidden(build: Build, outermostFirst: readonly Attached<AttachmentTraits>[]): void {
  for (const [at, { plugin, at: attachment, pointer }] of outermostFirst.entries()) {
    const hidden = outermostFirst.slice(at + 1).filter((inner) => inner.plugin !== plugin);
    if (!attachment.terminal || hidden.length === 0) continue;
    const names = hidden.map((inner) => `"${inner.plugin.name}"`).join(', ');
    build.warnings.push(
      new ConfigError(
        'PLUGIN_HIDDEN',
        pointer,
        `"${plugin.name}" can respond without calling ${names}, which may never run`,
        {
          related: hidden.map((inner) => inner.pointer),
        },
      ),
    );
  }
}

/** Error thrown in place of a file's content when a configuration is examined without reading the files it refers to. */
export class UnreadFile extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} is not read`);
    this.name = new.target.name;
    this.path = path;
  }
}

/** Whether an error occurred only because a file was not read, so that the component that names it cannot be checked. */
export function isUnread(error: unknown): boolean {
  return error instanceof Error && (error instanceof UnreadFile || isUnread(error.cause));
}
