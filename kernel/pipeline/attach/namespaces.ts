import { ConfigError, type Data, findNear, type Level, type Namespace, type Place, type Plugin } from '#contract';
import { joinPointer, notSupportedYet, supportedRelatives } from '../../config/index.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Build } from './build.ts';

/** A namespace found in an `extra_config`, with its plugin. */
export interface ConfiguredPlugin {
  readonly plugin: Plugin;
  readonly place: Place;
  readonly config: Data;
  readonly pointer: string;
}

/** Maximum number of reported namespaces of one `extra_config`: each is compared with all names, in about 70 us. */
const MAX_UNKNOWN = 200;

/**
 * Finds the plugins of one `extra_config`. A namespace that is unknown, or has no effect at this level, is a
 * configuration error.
 *
 * Codes: NAMESPACE_LEVEL, NAMESPACE_UNKNOWN, CONFIG_NOT_SUPPORTED.
 */
export function findPlugins(
  build: Build,
  registry: Registry,
  extra: Readonly<Record<string, Data>>,
  level: Level,
  pointer: string,
): ConfiguredPlugin[] {
  const results: ConfiguredPlugin[] = [];
  let unknown = 0;
  for (const namespace in extra) {
    if (/^[@$_#]/.test(namespace)) continue;
    const at = joinPointer(pointer, 'extra_config', namespace);
    const place = registry.place(namespace, level);
    if (place) results.push({ plugin: registry.plugin(namespace)!, place, config: extra[namespace]!, pointer: at });
    else if (++unknown <= MAX_UNKNOWN) build.errors.push(unknownNamespace(registry, namespace, level, at, extra));
  }
  if (unknown > MAX_UNKNOWN)
    build.errors.push(moreUnknown(unknown - MAX_UNKNOWN, joinPointer(pointer, 'extra_config')));
  return results;
}

function moreUnknown(count: number, pointer: string): ConfigError {
  return new ConfigError('NAMESPACE_UNKNOWN', pointer, `${count} more unknown namespace${count === 1 ? '' : 's'}`);
}

/** Error for a plugin that cannot be used in any `extra_config`. Code: NAMESPACE_LEVEL. */
function placeless({ name, encodings, discoveries, always }: Plugin, pointer: string): ConfigError {
  const hints = [
    ...(encodings ?? []).map((encoding) => `"encoding": "${encoding.name}"`),
    ...(discoveries ?? []).map((discovery) => `"sd": "${discovery.name}"`),
  ];
  const hint = hints.length > 0 ? hints.join(' or ') : 'remove it';
  const why = always ? 'it is attached to every service automatically' : 'it cannot be used in extra_config';
  return new ConfigError('NAMESPACE_LEVEL', pointer, `"${name}" has no configuration: ${why}`, { hint });
}

/** Names of levels in messages. */
export const HOLDERS: Readonly<Record<Level, string>> = {
  service: 'the service',
  endpoint: 'an endpoint',
  backend: 'a backend',
  agent: 'an agent',
};

function unknownNamespace(
  registry: Registry,
  namespace: Namespace,
  level: Level,
  pointer: string,
  siblings: Readonly<Record<string, Data>>,
): ConfigError {
  // The plugin of the router's options, which belong to the kernel.
  const levels: readonly Level[] | undefined =
    namespace === 'router' ? ['service'] : registry.plugin(namespace)?.places?.map((place) => place.at);
  if (levels?.length) {
    const works = levels.map((name) => HOLDERS[name]).join(' or ');
    return new ConfigError(
      'NAMESPACE_LEVEL',
      pointer,
      `"${namespace}" has no effect at ${level} level: it belongs in the extra_config of ${works}`,
      { hint: `move it to the extra_config of ${works}` },
    );
  }
  const supported = [...registry.namespaces.filter((name) => !/^(?:encoding|discovery)\//.test(name)), 'router'];
  const unsupported = notSupportedYet(namespace, pointer, supported, registry.compatibility);
  if (unsupported) return unsupported;
  const belonging = registry.plugin(namespace) && /^(encoding|discovery)\/(.+)$/.exec(namespace);
  if (belonging) {
    const hint = belonging[1] === 'encoding' ? `"encoding": "${belonging[2]}"` : `"sd": "${belonging[2]}"`;
    return new ConfigError('NAMESPACE_LEVEL', pointer, `"${namespace}" is the value of a field, not a component`, {
      hint,
    });
  }
  const plugin = registry.plugin(namespace);
  if (plugin) return placeless(plugin, pointer);
  const near = findNear(namespace, supported);
  const relatives = supportedRelatives(namespace, supported);
  const meant = near ? [near.name] : supported.filter((candidate) => `/${candidate}/`.includes(`/${namespace}/`));
  const isVague = meant.length === 0 || (relatives !== undefined && !near?.isSure);
  return new ConfigError('NAMESPACE_UNKNOWN', pointer, `unknown namespace "${namespace}"`, {
    hint: isVague ? relatives : `did you mean ${meant.map((name) => `"${name}"`).join(' or ')}?`,
    fix: near?.isSure && !Object.hasOwn(siblings, near.name) ? { key: near.name } : undefined,
  });
}
