import { type Data, type DataObject, type EndpointConfig, isObject, type ServiceConfig } from '#contract';
import { joinPointer, type KnownPlugins } from '../../config/index.ts';
import type { Files } from './files.ts';

export type Level = 'service' | 'endpoint' | 'backend' | 'agent';

/** A component where it stands. What it is configured with is not yet validated. */
export interface Component {
  readonly namespace: string;
  readonly level: Level;
  /** By present names. */
  readonly pointer: string;
  readonly settings: Readonly<DataObject>;
}

/** A part of the configuration and its pointer, by present names. */
export interface Part<T> {
  readonly config: T;
  readonly pointer: string;
}

/** What rules look at. */
export interface Summary {
  readonly config: ServiceConfig;
  /** Root fields by name, those that this release does not serve included. */
  readonly root: Readonly<DataObject>;
  readonly endpoints: readonly Part<EndpointConfig>[];
  readonly agents: readonly Part<DataObject>[];
  /** Of endpoints and agents together. */
  readonly backendCount: number;
  readonly components: readonly Component[];
  readonly files: Files;
  readonly known: KnownPlugins;
}

/** The components and parts of a configuration, in order of declaration. */
export function summarize(config: ServiceConfig, files: Files, known: KnownPlugins): Summary {
  const root = config as unknown as DataObject;
  const endpoints = partsOf<EndpointConfig>(config.endpoints, '/endpoints');
  const agents = partsOf<DataObject>(root['async_agent'], '/async_agent');
  const holders: [Level, Part<unknown>][] = [['service', { config, pointer: '' }]];
  for (const [level, parts] of [
    ['endpoint', endpoints],
    ['agent', agents],
  ] as const) {
    for (const part of parts as readonly Part<{ readonly backend?: unknown }>[]) {
      holders.push([level, part]);
      for (const backend of partsOf(part.config.backend, `${part.pointer}/backend`)) holders.push(['backend', backend]);
    }
  }
  const components = holders.flatMap(([level, part]) => componentsOf(level, part));
  const backendCount = holders.filter(([level]) => level === 'backend').length;
  return { config, root, endpoints, agents, backendCount, components, files, known };
}

function partsOf<T>(list: unknown, pointer: string): Part<T>[] {
  if (!Array.isArray(list)) return [];
  return list.map((config, index) => ({ config, pointer: joinPointer(pointer, index) }));
}

function componentsOf(level: Level, { config, pointer }: Part<unknown>): Component[] {
  const extra = (config as { readonly extra_config?: Data }).extra_config;
  if (!isObject(extra)) return [];
  return Object.entries(extra).map(([namespace, settings]) => ({
    namespace,
    level,
    pointer: joinPointer(pointer, 'extra_config', namespace),
    settings: isObject(settings) ? settings : {},
  }));
}
