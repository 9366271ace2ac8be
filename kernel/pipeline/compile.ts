import {
  type AtService,
  type ClientRequest,
  ConfigError,
  meterOf,
  meters,
  type OwnRoute,
  type Phase,
  type Plugin,
  type Site,
  type Wrap,
} from '#contract';
import { joinPointer } from '../config/index.ts';
import { virtualName, YieldScheduler } from '../contract/internal.ts';
import { sortByOrder } from '../registry/order.ts';
import type { Registry } from '../registry/registry.ts';
import { type CompiledAgent, compileAgent } from './agent.ts';
import { type Attached, attach, collecting, isUnread, onlyClaim, reportHidden } from './attach.ts';
import { compileEndpoint } from './endpoint.ts';
import { attachContained, type HandlerUse } from './guards.ts';
import { compileHttp2, type Http2Routes } from './http2-routes.ts';
import { type ConfiguredPlugin, findPlugins } from './namespaces.ts';
import { type NestedPipe, nesting } from './nested.ts';
import { type AttachDefault, byDependency, Offers } from './offers.ts';
import { Reads } from './reads.ts';
import { gatewayAgent } from './request.ts';
import type { Route } from './route.ts';
import { type Build, createSite, type Location } from './site.ts';

/** A configuration turned into functions. */
export interface Compiled {
  readonly routes: readonly Route[];
  readonly agents: readonly CompiledAgent[];
  /** Protocols that connections of any endpoint can go on in, in lower case. */
  readonly upgrades: ReadonlySet<string>;
  /** What a component publishes over HTTP/2; null for nothing. */
  readonly http2: Http2Routes | null;
  /** All of these: the routes, and behind them those over HTTP/2. */
  readonly published: readonly Route[];
  /** Paths that plugins answer themselves. */
  readonly own: readonly { readonly plugin: Plugin; readonly route: OwnRoute }[];
  /** What stands around everything that is answered, outermost first. */
  readonly around: readonly Wrap<ClientRequest>[];
  /** Who sees the head of every answer, in order. */
  readonly heads: readonly NonNullable<AtService['head']>[];
  /** The pipes that components of the service hold. */
  readonly nested: readonly NestedPipe[];
  /** What the service's components attached, outermost first. */
  readonly service: readonly Attached<AtService>[];
  /** Handlers of plugins from files, where configurations of other plugins name them. */
  readonly handlerUses: readonly HandlerUse[];
}

/**
 * Compiles every endpoint. The plugins that the configuration names are loaded. Mistakes are collected in `build.errors`,
 * all of them; with any, the result must not serve.
 */
export async function compile(build: Build, registry: Registry): Promise<Compiled> {
  const { config, services } = build;
  const service: Attached<AtService>[] = [];
  const offers = Offers.atRoot(registry.openScope(), (namespace) => attachDefault(namespace));
  const nested: NestedPipe[] = [];
  const agent = gatewayAgent(services.version);
  const context = nesting({ build, registry, service, offers, agent, log: services.log }, nested);
  for (const name of registry.catalogue.always ?? []) {
    const plugin = registry.plugin(name)!;
    const log = services.log.at(`[SERVICE: ${name}]`);
    const reads = new Reads(build.reads);
    const { compilePipe } = context;
    const site = createSite(build, plugin, undefined, { pointer: '', log, offers, compilePipe, reads });
    const handed = collecting(build, '', () =>
      attachContained(build, plugin, '', undefined, () => plugin.always?.(site as unknown as Site<undefined>)),
    );
    if (!handed) continue;
    offers.add(plugin, handed.offers);
    service.push({ plugin, at: handed, pointer: '', reads });
  }
  const results = findPlugins(build, registry, config.extra_config, 'service', '');
  const attachService = (
    { plugin, place, config: raw, pointer }: ConfiguredPlugin,
    unnamed: Pick<Location, 'isUnnamed'> = {},
  ): void => {
    const log = services.log.at(`[SERVICE: ${plugin.name}]`);
    const reads = new Reads(build.reads);
    const { compilePipe } = context;
    const handed = attach<AtService>(build, plugin, place, raw, {
      pointer,
      log,
      offers,
      compilePipe,
      reads,
      ...unnamed,
    });
    const mistake = build.errors.at(-1);
    if (!handed && isUnread(mistake)) offers.postpone(plugin, mistake!);
    if (!handed) return;
    offers.add(plugin, handed.offers);
    service.push({ plugin, at: handed, pointer, reads });
  };
  const named = new Set(results.map(({ plugin }) => plugin));
  const attachDefault: AttachDefault = (namespace) => {
    const plugin = registry.plugin(namespace);
    const place = registry.place(namespace, 'service');
    if (!plugin || !place || named.has(plugin)) return;
    named.add(plugin);
    const pointer = joinPointer('', 'extra_config', namespace);
    attachService({ plugin, place, config: {}, pointer }, { isUnnamed: true });
  };
  for (const each of byDependency(results)) attachService(each);
  refuseSecondClaims(build, service);
  measureFaults(build, offers);
  const wrapping = service.filter(({ at }) => at.request !== undefined);
  reportHidden(build, sortByOrder(wrapping, registry.catalogue.order, 'request'));
  const routes: Route[] = [];
  const scheduler = new YieldScheduler();
  for (const [index, endpoint] of config.endpoints.entries()) {
    const route = compileEndpoint(context, endpoint, `/endpoints/${index}`);
    if (route) routes.push(route);
    if (scheduler.due) await scheduler.yield();
  }
  const http2 = compileHttp2(context);
  const agents = config.async_agent.flatMap((agent, index) => compileAgent(context, agent, index) ?? []);
  const inOrder = (phase: Phase) => sortByOrder(service, registry.catalogue.order, phase).map(({ at }) => at);
  const own = service.flatMap(({ plugin, at }) => (at.routes ?? []).map((route) => ({ plugin, route })));
  refuseTaken(build, own, routes);
  warnOfUnreachable(build, service);
  return {
    routes,
    nested,
    agents,
    http2,
    published: http2 ? [...routes, ...http2.routes.values()] : routes,
    upgrades: new Set(routes.flatMap(({ upgrades }) => [...upgrades])),
    own,
    around: inOrder('request').flatMap(({ request }) => request ?? []),
    // As a reply passes: the outermost sees it last.
    heads: inOrder('request')
      .toReversed()
      .flatMap(({ head }) => head ?? []),
    service: sortByOrder(service, registry.catalogue.order, 'middleware'),
    handlerUses: build.handlerUses,
  };
}

/** Counts the faults of plugins from files, where somebody exports measurements. */
function measureFaults(build: Build, offers: Offers): void {
  const asking = { name: 'faults', description: '', takes: [meters] };
  const meter = build.containment && meterOf({ takeAll: (port) => offers.takeAll(asking, port) });
  if (!meter) return;
  const description = 'Faults in hooks of plugins that were loaded from files.';
  build.faultMeter.faults = meter.counter('plugin.faults', { description });
}

/** What one component of the service alone may decide. */
function refuseSecondClaims(build: Build, service: readonly Attached<AtService>[]): void {
  onlyClaim(build, service, 'reload', 'decide how configurations are replaced');
  onlyClaim(build, service, 'admin', 'set the admin port');
  onlyClaim(build, service, 'virtualHosts', 'tell which endpoints are for which hosts');
  const logging = service.flatMap(({ at, ...rest }) => (at.logging ? [{ ...rest, at: at.logging }] : []));
  onlyClaim(build, logging, 'level', 'set the level of the application log');
  onlyClaim(build, logging, 'format', 'decide the format of the application log');
  onlyClaim(build, logging, 'accessSink', 'decide where the access log goes');
}

/** No host leads to an endpoint. Code: a warning, ROUTE_UNREACHABLE. */
function warnOfUnreachable({ config, warnings }: Build, service: readonly Attached<AtService>[]): void {
  const names = service.flatMap(({ at }) => at.virtualHosts?.names ?? []);
  for (const [index, { endpoint }] of config.endpoints.entries()) {
    const name = virtualName(endpoint);
    if (name === undefined || names.includes(name)) continue;
    const message = `no virtual host is named "${name}": no request reaches ${endpoint}`;
    const hint = names.length > 0 ? `one of ${names.join(', ')}` : 'a component at the root names the hosts';
    warnings.push(
      new ConfigError('ROUTE_UNREACHABLE', joinPointer('/endpoints', index, 'endpoint'), message, { hint }),
    );
  }
}

/** A path that a plugin answers is no endpoint's. Code: ROUTE_COLLISION. */
function refuseTaken(build: Build, own: Compiled['own'], routes: readonly Route[]): void {
  const exact = new Map(own.map(({ plugin, route }) => [route.path, { plugin, route }]));
  for (const { endpoint } of routes) {
    const taken = exact.get(endpoint.endpoint);
    if (!taken || (taken.route.method !== undefined && taken.route.method !== endpoint.method)) continue;
    const pointer = joinPointer('/endpoints', build.config.endpoints.indexOf(endpoint), 'endpoint');
    const message = `"${taken.plugin.name}" answers ${endpoint.method} ${endpoint.endpoint}`;
    build.errors.push(new ConfigError('ROUTE_COLLISION', pointer, message, { hint: 'another path' }));
  }
}
