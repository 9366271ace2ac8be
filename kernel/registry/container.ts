import { type AwilixContainer, asFunction, asValue, createContainer, InjectionMode } from 'awilix/browser';
import type { Catalogue, Plugin, Services } from '#contract';

/** The process's container: services by name, plugins as `plugin:<namespace>`, each created on first use. */
export type Container = AwilixContainer<Services & Record<`plugin:${string}`, Promise<Plugin>>>;

/** Registers the kernel's own services and every plugin of the catalog, without creating or loading any. */
export function createProcessContainer(catalogue: Catalogue, services: Services): Container {
  const container: Container = createContainer({ injectionMode: InjectionMode.PROXY, strict: true });
  for (const name of Object.keys(services) as (keyof Services)[]) {
    container.register(name, asFunction(() => services[name]).singleton());
  }
  for (const [namespace, load] of Object.entries(catalogue.plugins)) {
    container.register(`plugin:${namespace}`, asFunction(() => load().then((module) => module.plugin)).singleton());
  }
  return container;
}

/** Values that plugins of an endpoint, backend or the service offer to other plugins, including those of the surrounding levels, by port. */
export type PlaceScope = AwilixContainer<Record<string, readonly unknown[]>>;

/** Opens a scope within a container, or within the surrounding place, which provides the values that it lacks. */
export function openScope(around: AwilixContainer): PlaceScope {
  return around.createScope<Record<string, readonly unknown[]>>();
}

const keyOf = (port: string): string => `port:${port}`;

/**
 * Returns all values that plugins offer at a port (an exchange point between plugins), at a place of the configuration
 * and at the places that contain it, outermost first.
 */
export function offeredAt(place: AwilixContainer, port: string): readonly unknown[] {
  return place.resolve<readonly unknown[] | undefined>(keyOf(port), { allowUnregistered: true }) ?? [];
}

/** Adds a value that a plugin offers at a place of the configuration. */
export function offerAt(place: PlaceScope, port: string, value: unknown): void {
  place.register(keyOf(port), asValue([...offeredAt(place, port), value]));
}
