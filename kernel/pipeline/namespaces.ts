import {
  ConfigError,
  type Data,
  type Level,
  type Namespace,
  type Place,
  type Plugin,
  type ServiceConfig,
} from '#contract';
import { joinPointer, nearest, notSupportedYet } from '../config/index.ts';
import type { Registry } from '../registry/registry.ts';
import type { Build } from './site.ts';

/** One namespace found in an `extra_config`, with its plugin. */
export interface Found {
  readonly plugin: Plugin;
  readonly place: Place;
  readonly config: Data;
  readonly pointer: string;
}

/** Every plugin a configuration names: its components, encodings and discoveries. */
export function namedPlugins(config: ServiceConfig, registry: Registry): Set<Namespace> {
  const names = new Set<Namespace>([registry.catalogue.defaultProtocol]);
  const add = (extra: Readonly<Record<string, unknown>>) => {
    for (const namespace in extra) names.add(namespace);
  };
  add(config.extra_config);
  for (const endpoint of config.endpoints) {
    names.add(`encoding/${endpoint.output_encoding}`);
    add(endpoint.extra_config);
    for (const backend of endpoint.backend) {
      names.add(`encoding/${backend.encoding}`);
      names.add(`discovery/${backend.sd}`);
      add(backend.extra_config);
    }
  }
  return names;
}

/**
 * The plugins of one `extra_config`. A namespace that nobody registered, or that does nothing at this level, is a
 * configuration error (configuration rule 11).
 */
export function findPlugins(
  build: Build,
  registry: Registry,
  extra: Readonly<Record<string, Data>>,
  level: Level,
  pointer: string,
): Found[] {
  const found: Found[] = [];
  for (const namespace in extra) {
    if (/^[@$_#]/.test(namespace)) continue;
    const at = joinPointer(pointer, 'extra_config', namespace);
    const place = registry.place(namespace, level);
    if (place) found.push({ plugin: registry.plugin(namespace)!, place, config: extra[namespace]!, pointer: at });
    else build.errors.push(unknownNamespace(registry, namespace, level, at));
  }
  return found;
}

function unknownNamespace(registry: Registry, namespace: Namespace, level: Level, pointer: string): ConfigError {
  const levels = registry.plugin(namespace)?.places?.map((place) => place.at);
  if (levels?.length) {
    return new ConfigError('NAMESPACE_LEVEL', pointer, `"${namespace}" does nothing at ${level} level`, {
      hint: `move it to the extra_config of ${levels.map((name) => (name === 'endpoint' ? 'an endpoint' : name === 'backend' ? 'a backend' : 'the service')).join(' or ')}`,
    });
  }
  const unsupported = notSupportedYet(namespace, pointer);
  if (unsupported) return unsupported;
  const near = nearest(
    namespace,
    registry.namespaces.filter((name) => !/^(?:encoding|discovery)\//.test(name)),
  );
  return new ConfigError(
    'NAMESPACE_UNKNOWN',
    pointer,
    `"${namespace}" is not a known component`,
    near ? { hint: `did you mean "${near}"?` } : {},
  );
}
