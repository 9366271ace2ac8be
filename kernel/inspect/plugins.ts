import type { Namespace, Plugin, ServiceConfig } from '#contract';
import { joinPointer, oldNamesOf } from '../config/index.ts';
import type { Compiled } from '../pipeline/compile/compile.ts';
import type { Route } from '../pipeline/compile/route.ts';
import type { Registry } from '../registry/registry.ts';
import { type FilePosition, type FindPosition, pointerOnly } from './file-position.ts';
import type { Served } from './served.ts';

/** A plugin, and how the serving configuration uses it. */
export interface PluginView {
  readonly name: Namespace;
  readonly description: string;
  /** Origin of the plugin: `core` if it is built into the gateway, `file` if it is loaded from a file. */
  readonly kind: 'core' | 'file';
  /** Version of the gateway. */
  readonly version: string;
  /** File path; null for built-in plugins. */
  readonly file: string | null;
  /** Hash of the file and its imports; null for built-in plugins. */
  readonly hash: string | null;
  /** Whether the plugin runs in a thread of its own. */
  readonly isolated: boolean;
  /** All names under which a configuration can use the plugin. */
  readonly namespaces: readonly Namespace[];
  /** Places in the active configuration where the plugin is used. */
  readonly places: readonly FilePosition[];
  /** Number of instances: one for each endpoint, backend or service that configures the plugin, in each configuration that is in use. */
  readonly instances: number;
  /** Number of calls to the endpoints that use the plugin. */
  readonly calls: number;
  /** Number of these calls with a status of 500 or above. */
  readonly errors: number;
}

/**
 * Lists the gateway's plugins by name; loads all of them.
 * @param generations number of active configurations.
 */
export async function listPlugins(
  registry: Registry,
  { config, compiled }: Pick<Served, 'config' | 'compiled'>,
  generations: number,
  position: FindPosition = pointerOnly,
): Promise<PluginView[]> {
  await registry.load(registry.namespaces);
  const { version } = registry.services;
  const named = Map.groupBy(registry.namespaces, (namespace) => registry.plugin(namespace)!);
  const uses = Map.groupBy(usesOf(config, compiled.routes), ({ namespace }) => registry.plugin(namespace));
  const views = [...named].map(([plugin, namespaces]): PluginView => {
    const { name, description } = plugin;
    const used = uses.get(plugin) ?? [];
    const traffic = routesOf(used, compiled.routes).map((route) => route.traffic);
    return {
      name,
      description,
      kind: plugin.source ? 'file' : 'core',
      version,
      file: plugin.source?.file ?? null,
      hash: plugin.source?.hash ?? null,
      isolated: plugin.source?.isIsolated ?? false,
      namespaces: [...namespaces, ...namespaces.flatMap((namespace) => writtenNames(namespace, registry))],
      places: used.map(({ pointer }) => position(pointer)),
      instances: used.length * generations,
      calls: sumOf(traffic, 'calls'),
      errors: sumOf(traffic, 'errors'),
    };
  });
  const unnamed = registry.unnamed.flatMap((plugin) => viewsOf(plugin, compiled, { version, generations }, position));
  return [...views, ...unnamed].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Describes a plugin that has no namespace, or each handler that it provides. */
function viewsOf(
  { name, description, source, handlers }: Plugin,
  { handlerUses, routes }: Pick<Compiled, 'handlerUses' | 'routes'>,
  { version, generations }: { readonly version: string; readonly generations: number },
  position: FindPosition,
): PluginView[] {
  const { file, hash, isIsolated: isolated = false } = source!;
  return (handlers ?? [name]).map((each): PluginView => {
    const used = handlerUses.filter((use) => use.name === each && use.source.file === file);
    const isEverywhere = !handlers || used.some(({ endpoint }) => endpoint === undefined);
    const traffic = routes
      .filter((route) => isEverywhere || used.some(({ endpoint }) => endpoint === route.endpoint))
      .map((route) => route.traffic);
    return {
      name: each,
      description,
      kind: 'file',
      version,
      file,
      hash,
      isolated,
      namespaces: [],
      places: used.map(({ pointer }) => position(pointer)),
      instances: (handlers ? used.length : 1) * generations,
      calls: sumOf(traffic, 'calls'),
      errors: sumOf(traffic, 'errors'),
    };
  });
}

function sumOf<K extends string>(traffic: readonly { readonly [key in K]: number }[], key: K): number {
  return traffic.reduce((sum, each) => sum + each[key], 0);
}

/** Deprecated names of a namespace, as written in configurations. */
function writtenNames(namespace: Namespace, { compatibility }: Registry): string[] {
  return oldNamesOf(namespace, compatibility).map((name) => `github.com/${name}`);
}

/** A place where a configuration names or implicitly uses a plugin. */
interface Use {
  readonly namespace: Namespace;
  readonly pointer: string;
  /** The route; null for the whole service. */
  readonly route: Route | null;
}

function usesOf(config: ServiceConfig, routes: readonly Route[]): Use[] {
  const routeOf = new Map(routes.map((route) => [route.endpoint, route]));
  return [
    ...componentsOf(config, '', null),
    ...config.endpoints.flatMap((endpoint, index) => {
      const pointer = joinPointer('/endpoints', index);
      const route = routeOf.get(endpoint)!;
      return [
        { namespace: `encoding/${endpoint.output_encoding}`, pointer: joinPointer(pointer, 'output_encoding'), route },
        ...componentsOf(endpoint, pointer, route),
        ...endpoint.backend.flatMap((backend, at) => {
          const backendPointer = joinPointer(pointer, 'backend', at);
          return [
            { namespace: `encoding/${backend.encoding}`, pointer: joinPointer(backendPointer, 'encoding'), route },
            { namespace: `discovery/${backend.sd}`, pointer: joinPointer(backendPointer, 'sd'), route },
            ...componentsOf(backend, backendPointer, route),
            ...protocolOf(route, at)
              .filter((namespace) => !Object.hasOwn(backend.extra_config, namespace))
              .map((namespace) => ({ namespace, pointer: backendPointer, route })),
          ];
        }),
      ];
    }),
  ];
}

function componentsOf(
  { extra_config: extra }: { readonly extra_config: Readonly<Record<string, unknown>> },
  pointer: string,
  route: Route | null,
): Use[] {
  return Object.keys(extra).map((namespace) => ({
    namespace,
    pointer: joinPointer(pointer, 'extra_config', namespace),
    route,
  }));
}

/** Finds the component of a protocol that connects to a backend without being configured there. */
function protocolOf({ stages }: Route, backend: number): Namespace[] {
  return stages.backends[backend]!.stages.filter(({ as }) => as === 'protocol').map(({ namespace }) => namespace);
}

/** Routes of the uses, without duplicates; all routes for a use in the service. */
function routesOf(uses: readonly Use[], routes: readonly Route[]): readonly Route[] {
  if (uses.some(({ route }) => route === null)) return routes;
  return [...new Set(uses.map(({ route }) => route!))];
}
