import {
  ConfigError,
  type Data,
  findNear,
  type Level,
  type Namespace,
  type Place,
  type Plugin,
  type ServiceConfig,
} from '#contract';
import { joinPointer, knownNamespaces, notSupportedYet } from '../config/index.ts';
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
 *
 * Codes: NAMESPACE_LEVEL, NAMESPACE_UNKNOWN, CONFIG_NOT_SUPPORTED.
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
    else build.errors.push(unknownNamespace(registry, namespace, level, at, extra));
  }
  return found;
}

/** What a level is called in messages. */
export const HOLDERS: Readonly<Record<Level, string>> = {
  service: 'the service',
  endpoint: 'an endpoint',
  backend: 'a backend',
};

function unknownNamespace(
  registry: Registry,
  namespace: Namespace,
  level: Level,
  pointer: string,
  siblings: Readonly<Record<string, Data>>,
): ConfigError {
  // The options of the router are the kernel's own.
  const levels: readonly Level[] | undefined =
    namespace === 'router' ? ['service'] : registry.plugin(namespace)?.places?.map((place) => place.at);
  if (levels?.length) {
    const works = levels.map((name) => HOLDERS[name]).join(' or ');
    return new ConfigError(
      'NAMESPACE_LEVEL',
      pointer,
      `"${namespace}" does nothing at ${level} level: it works in the extra_config of ${works}`,
      { hint: `move it to the extra_config of ${works}` },
    );
  }
  const unsupported = notSupportedYet(namespace, pointer);
  if (unsupported) return unsupported;
  const belonging = registry.plugin(namespace) && /^(encoding|discovery)\/(.+)$/.exec(namespace);
  if (belonging) {
    const hint = belonging[1] === 'encoding' ? `"encoding": "${belonging[2]}"` : `"sd": "${belonging[2]}"`;
    return new ConfigError('NAMESPACE_LEVEL', pointer, `"${namespace}" is not a component but the value of a field`, {
      hint,
    });
  }
  const known = [...registry.namespaces.filter((name) => !/^(?:encoding|discovery)\//.test(name)), ...knownNamespaces];
  const near = findNear(namespace, new Set(known));
  const name = near?.name ?? known.find((candidate) => `/${candidate}/`.includes(`/${namespace}/`));
  return new ConfigError('NAMESPACE_UNKNOWN', pointer, `unknown namespace "${namespace}"`, {
    hint: name && `did you mean "${name}"?`,
    fix: near?.isSure && !Object.hasOwn(siblings, near.name) ? { key: near.name } : undefined,
  });
}
