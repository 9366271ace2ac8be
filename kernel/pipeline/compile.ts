import { type AtService, Slices } from '#contract';
import { sortByOrder } from '../registry/order.ts';
import type { Registry } from '../registry/registry.ts';
import type { Attached, EndpointContext } from './attachments.ts';
import { compileEndpoint } from './endpoint.ts';
import { findPlugins, namedPlugins } from './namespaces.ts';
import { gatewayAgent } from './request.ts';
import type { Route } from './route.ts';
import { attach, type Build } from './site.ts';

/** A configuration turned into functions. */
export interface Compiled {
  readonly routes: readonly Route[];
  /** What the service's components attached, outermost first. */
  readonly service: readonly Attached<AtService>[];
}

/**
 * Compiles every endpoint. Mistakes are collected in `build.errors`, all of them; with any, the result must not serve.
 */
export async function compile(build: Build, registry: Registry): Promise<Compiled> {
  const { config, services } = build;
  await registry.load(namedPlugins(config, registry));
  const service: Attached<AtService>[] = [];
  for (const { plugin, place, config: raw, pointer } of findPlugins(
    build,
    registry,
    config.extra_config,
    'service',
    '',
  )) {
    const log = services.log.at(`[SERVICE: ${plugin.name}]`);
    const handed = attach<AtService>(build, plugin, place, raw, { pointer, log });
    if (handed) service.push({ plugin, at: handed, pointer });
  }
  const agent = gatewayAgent(services.version);
  const context: EndpointContext = { build, registry, service, agent, log: services.log };
  const routes: Route[] = [];
  const slices = new Slices();
  for (const [index, endpoint] of config.endpoints.entries()) {
    const route = compileEndpoint(context, endpoint, index);
    if (route) routes.push(route);
    if (slices.over) await slices.next();
  }
  return { routes, service: sortByOrder(service, registry.catalogue.order, 'router') };
}
