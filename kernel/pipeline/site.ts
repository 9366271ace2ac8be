import {
  type BackendConfig,
  type BackendSite,
  ConfigError,
  copyData,
  type Data,
  type EndpointConfig,
  type EndpointSite,
  type Log,
  type Place,
  type Plugin,
  type ServiceConfig,
  type Services,
  type Site,
} from '#contract';
import { compileSchema } from '../config/index.ts';

type Dispose = () => void | Promise<void>;

/** What one build of a configuration acquires and finds, gathered while plugins attach. */
export interface Build {
  readonly config: ServiceConfig;
  readonly services: Services;
  /** False when configurations are only validated: no plugin is attached and no route comes out. */
  readonly attaching: boolean;
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
  readonly warmups: ((signal: AbortSignal) => Promise<void>)[];
  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T;
  defer(dispose: Dispose): void;
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
    build.errors.push(...errors);
    return undefined;
  }
  if (!build.attaching) return undefined;
  try {
    return (place.attach as (site: unknown) => A)(createSite(build, plugin, Object.freeze(value), stance));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    build.errors.push(error);
    return undefined;
  }
}

/** The site of one namespace at one place; endpoint and backend are there when the place has them. */
export function createSite(build: Build, plugin: Plugin, config: unknown, stance: Stance): BackendSite<unknown> {
  const { pointer } = stance;
  const site: Site<unknown> & Partial<EndpointSite<unknown>> & Partial<BackendSite<unknown>> = {
    config,
    pointer,
    service: build.config,
    services: build.services,
    log: stance.log,
    ...(stance.endpoint && { endpoint: stance.endpoint }),
    ...(stance.backend && { backend: stance.backend, index: stance.index! }),
    keep: (key, open, close) => build.keep(plugin.name, key, open, close),
    warm: (task) => build.warmups.push(task),
    defer: (dispose) => build.defer(dispose),
    fault: (code, at, message, options) => new ConfigError(code, pointer + at, message, options),
    warn: (code, at, message, options) => build.warnings.push(new ConfigError(code, pointer + at, message, options)),
  };
  return site as BackendSite<unknown>;
}
