import {
  type BackendConfig,
  type BackendSite,
  ConfigError,
  type ConfigErrorOptions,
  copyData,
  type Data,
  type EndpointConfig,
  type Log,
  type Pattern,
  PatternError,
  type Place,
  type Plugin,
  type ServiceConfig,
  type Services,
  type Site,
} from '#contract';
import { compileSchema, fieldName, markedLiterals, parentPointer, secretWarning } from '../config/index.ts';
import type { Hold } from './hold.ts';
import { HOLDERS } from './namespaces.ts';
import { isUnread } from './unread-file.ts';

type Dispose = () => void | Promise<void>;

/** What one build of a configuration acquires and finds, gathered while plugins attach. */
export interface Build {
  readonly config: ServiceConfig;
  readonly services: Services;
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
  readonly warmups: ((signal: AbortSignal) => Promise<void>)[];
  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T;
  /** As of `Site`, with the owner's name. */
  share<T>(
    owner: string,
    key: Data,
    open: () => T,
    use: (value: T, asked: Data) => Data,
  ): (asked: Data) => Data | Promise<Data>;
  /** As of `Site`; may be taken out of the build. Throws an `UnreadFile` where only the document is examined. */
  readonly read: (path: string) => Uint8Array;
  defer(dispose: Dispose): void;
  /** The same build for one endpoint: what it acquires is held for as long as the endpoint has streams. */
  forEndpoint(): { readonly build: Build; readonly hold: Hold };
}

/** Where in the configuration a namespace stands. */
export interface Stance {
  readonly pointer: string;
  readonly log: Log;
  readonly endpoint?: EndpointConfig;
  readonly backend?: BackendConfig;
  readonly index?: number;
}

/**
 * Attaches a plugin at one place: validates its configuration, hands it its site and collects what is wrong.
 * @returns what `attach` handed over, or undefined when the configuration was refused.
 */
export function attach<A>(build: Build, plugin: Plugin, place: Place, raw: Data, stance: Stance): A | undefined {
  const { value, errors } = compileSchema(place.schema)(copyData(raw), stance.pointer);
  if (errors.length > 0) {
    build.errors.push(...errors.map((error) => ofOtherPlace(error, plugin, place, stance.pointer)));
    return undefined;
  }
  build.warnings.push(...markedLiterals(place.schema, raw, stance.pointer).map(secretWarning));
  const make = place.attach as (site: unknown) => A;
  return collecting(build, stance.pointer, () => make(createSite(build, plugin, Object.freeze(value), stance)));
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

/** What an attachment threw, as a mistake. @throws what is none. */
function faultOf(error: unknown, pointer: string): ConfigError {
  if (error instanceof ConfigError) return error;
  if (isUnread(error)) return new ConfigError('FILE_UNREAD', pointer, (error as Error).message, { cause: error });
  throw error;
}

/** Says of a setting which the plugin has at another level only where it belongs. */
function ofOtherPlace(error: ConfigError, plugin: Plugin, { at }: Place, pointer: string): ConfigError {
  if (error.code !== 'SCHEMA_UNKNOWN_KEY' || parentPointer(error.pointer) !== pointer) return error;
  const key = fieldName(error.pointer);
  const home = plugin.places?.find(({ schema }) => 'properties' in schema && Object.hasOwn(schema.properties!, key));
  if (!home) return error;
  const message = `'${key}' of "${plugin.name}" belongs to ${HOLDERS[home.at]}, not to ${HOLDERS[at]}`;
  return new ConfigError(error.code, error.pointer, message, {
    hint: `move it to the extra_config of ${HOLDERS[home.at]}`,
  });
}

/** The site of one namespace at one place; endpoint and backend are there when the place has them. */
export function createSite(build: Build, plugin: Plugin, config: unknown, stance: Stance): BackendSite<unknown> {
  return new PlaceSite(build, plugin.name, config, stance) as BackendSite<unknown>;
}

class PlaceSite implements Site<unknown> {
  readonly config: unknown;
  readonly pointer: string;
  readonly service: ServiceConfig;
  readonly services: Services;
  readonly log: Log;
  readonly endpoint: EndpointConfig | undefined;
  readonly backend: BackendConfig | undefined;
  readonly index: number | undefined;
  readonly #build: Build;
  readonly #owner: string;

  constructor(build: Build, owner: string, config: unknown, stance: Stance) {
    this.#build = build;
    this.#owner = owner;
    this.config = config;
    this.pointer = stance.pointer;
    this.service = build.config;
    this.services = build.services;
    this.log = stance.log;
    this.endpoint = stance.endpoint;
    this.backend = stance.backend;
    this.index = stance.index;
  }

  // Functions of their own, so that `attach` can take them out of the site.
  readonly keep = <T>(key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T =>
    this.#build.keep(this.#owner, key, open, close);

  readonly share = <T, Asked extends Data, Answer extends Data>(
    key: Data,
    open: () => T,
    use: (value: T, asked: Asked) => Answer,
  ): ((asked: Asked) => Answer | Promise<Answer>) =>
    this.#build.share(this.#owner, key, open, use as never) as (asked: Data) => Answer | Promise<Answer>;

  readonly read = (path: string): Uint8Array => this.#build.read(path);

  readonly pattern = (source: string, at: string): Pattern => {
    try {
      return this.services.patterns.compile(source);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const { message, hint, within } = error;
      throw this.fault('PATTERN_INVALID', at, message, { hint, within, cause: error });
    }
  };

  readonly warm = (task: (signal: AbortSignal) => Promise<void>): void => {
    this.#build.warmups.push(task);
  };

  readonly defer = (dispose: Dispose): void => this.#build.defer(dispose);

  readonly fault = (code: string, at: string, message: string, options?: ConfigErrorOptions): ConfigError =>
    new ConfigError(code, this.pointer + at, message, options);

  readonly warn = (code: string, at: string, message: string, options?: ConfigErrorOptions): void => {
    this.#build.warnings.push(new ConfigError(code, this.pointer + at, message, options));
  };
}
