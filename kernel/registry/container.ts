import { type AwilixContainer, asFunction, asValue, createContainer, InjectionMode } from 'awilix';
import type { Catalogue, Plugin, Services } from '#contract';

/** The process's container: services by name, plugins as `plugin:<namespace>`, each made at its first use. */
export type Container = AwilixContainer<Services & Record<`plugin:${string}`, Promise<Plugin>>>;

/** Registers the kernel's own services and every plugin of the catalogue, loading none. */
export function createProcessContainer(catalogue: Catalogue, services: Services): Container {
  const container: Container = createContainer({ injectionMode: InjectionMode.PROXY, strict: true });
  for (const [name, service] of Object.entries(services)) container.register(name, asValue(service));
  for (const [namespace, load] of Object.entries(catalogue.plugins)) {
    container.register(`plugin:${namespace}`, asFunction(() => load().then((module) => module.plugin)).singleton());
  }
  return container;
}

/**
 * Loads the plugin that provides a service and registers the service: made once, disposed of with the container when it
 * has a `close` method.
 */
export async function provideService(container: Container, catalogue: Catalogue, name: keyof Services): Promise<void> {
  if (container.hasRegistration(name)) return;
  const load = Object.hasOwn(catalogue.services, name) ? catalogue.services[name] : undefined;
  if (!load) throw new Error(`no plugin provides the service "${name}"`);
  const { plugin } = await load();
  await Promise.all((plugin.needs ?? []).map((needed) => provideService(container, catalogue, needed)));
  const make = plugin.provides?.[name] as ((services: Services) => object) | undefined;
  if (!make) throw new Error(`plugin "${plugin.name}" does not provide the service "${name}"`);
  container.register(
    name,
    asFunction((services: Services) => make(services))
      .singleton()
      .disposer((service: object) =>
        'close' in service && typeof service.close === 'function' ? service.close() : undefined,
      ),
  );
}
