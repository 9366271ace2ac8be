import { type AtService, Slices } from '#contract';
import { sortByOrder } from '../registry/order.ts';
import type { Registry } from '../registry/registry.ts';
import type { Attached } from './attachments.ts';
import { compileEndpoint } from './endpoint.ts';
import { findPlugins, loadPlugins } from './namespaces.ts';
import { type NestedPipe, nesting } from './nested.ts';
import { byDependency, Offers } from './offers.ts';
import { gatewayAgent } from './request.ts';
import type { Route } from './route.ts';
import { attach, type Build } from './site.ts';

/** A configuration turned into functions. */
export interface Compiled {
  readonly routes: readonly Route[];
  /** The pipes that components of the service hold. */
  readonly nested: readonly NestedPipe[];
  /** What the service's components attached, outermost first. */
  readonly service: readonly Attached<AtService>[];
}

/**
 * Compiles every endpoint. Mistakes are collected in `build.errors`, all of them; with any, the result must not serve.
 */
export async function compile(build: Build, registry: Registry): Promise<Compiled> {
  const { config, services } = build;
  await loadPlugins(config, registry);
  const service: Attached<AtService>[] = [];
  const offers = new Offers();
  const nested: NestedPipe[] = [];
  const agent = gatewayAgent(services.version);
  const context = nesting({ build, registry, service, offers, agent, log: services.log }, nested);
  const found = findPlugins(build, registry, config.extra_config, 'service', '');
  for (const { plugin, place, config: raw, pointer } of byDependency(found)) {
    const log = services.log.at(`[SERVICE: ${plugin.name}]`);
    const handed = attach<AtService>(build, plugin, place, raw, {
      pointer,
      log,
      offers,
      compilePipe: context.compilePipe,
    });
    if (!handed) continue;
    offers.add(plugin, handed.offers);
    service.push({ plugin, at: handed, pointer });
  }
  const routes: Route[] = [];
  const slices = new Slices();
  for (const [index, endpoint] of config.endpoints.entries()) {
    const route = compileEndpoint(context, endpoint, index);
    if (route) routes.push(route);
    if (slices.over) await slices.next();
  }
  return { routes, nested, service: sortByOrder(service, registry.catalogue.order, 'router') };
}
