import {
  type AtService,
  type ClientRequest,
  ConfigError,
  type EndpointConfig,
  type OwnRoute,
  type Phase,
  type Plugin,
  type Wrap,
} from '#contract';
import { joinPointer } from '../config/index.ts';
import { ANY, scheduler, virtualName } from '../contract/internal.ts';
import { sortByOrder } from '../registry/order.ts';
import type { Registry } from '../registry/registry.ts';
import type { CompiledAgent } from './agent.ts';
import type { Attached } from './attach.ts';
import type { EndpointContext } from './attachments.ts';
import { compileEndpoint } from './endpoint.ts';
import type { HandlerUse } from './guards.ts';
import type { Http2Routes } from './http2-routes.ts';
import { warnOfLostQuery } from './lost-query.ts';
import type { NestedPipe } from './nested.ts';
import { PlainEndpoints } from './plain-endpoints.ts';
import type { Route } from './route.ts';
import { attachService, compileRest, type Earlier, type ServiceFrame } from './service-frame.ts';
import type { Build } from './site.ts';

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
  /** What all endpoints have around them. */
  readonly frame: ServiceFrame;
  /** Handlers of plugins from files, where configurations of other plugins name them. */
  readonly handlerUses: readonly HandlerUse[];
}

/**
 * Compiles every endpoint. The plugins that the configuration names are loaded. Mistakes are collected in `build.errors`,
 * all of them; with any, the result must not serve.
 * @param earlier what may be gone on with; null to compile everything.
 * @throws RebuildNeeded where that does not do.
 */
export async function compile(build: Build, registry: Registry, earlier: Earlier | null = null): Promise<Compiled> {
  const { config } = build;
  const frame = earlier?.frame ?? attachService(build, registry);
  const context = { ...frame.context, build };
  const routes = await compileEndpoints(context, config.endpoints, earlier);
  earlier?.takeRest();
  frame.rest ??= compileRest(context, config);
  const { http2, agents } = frame.rest;
  frame.isClosed = true;
  const own = frame.service.flatMap(({ plugin, at }) => (at.routes ?? []).map((route) => ({ plugin, route })));
  refuseTaken(build, own, routes);
  if (http2) refusePublished(build, http2, routes);
  if (scheduler.due) await scheduler.yield();
  warnOfUnreachable(build, frame.service);
  warnOfLostQuery(build, routes);
  if (scheduler.due) await scheduler.yield();
  const { order } = registry.catalogue;
  const inOrder = (phase: Phase) => sortByOrder(frame.service, order, phase).map(({ at }) => at);
  return {
    routes,
    frame,
    nested: frame.nested,
    agents,
    http2,
    published: http2 ? [...routes, ...http2.routes.values()] : routes,
    upgrades: upgradesOf(routes),
    own,
    around: inOrder('request').flatMap(({ request }) => request ?? []),
    // As a reply passes: the outermost sees it last.
    heads: inOrder('request')
      .toReversed()
      .flatMap(({ head }) => head ?? []),
    service: sortByOrder(frame.service, order, 'middleware'),
    handlerUses: build.everyHandlerUse,
  };
}

async function compileEndpoints(
  context: EndpointContext,
  endpoints: readonly EndpointConfig[],
  earlier: Earlier | null,
): Promise<Route[]> {
  const plain = PlainEndpoints.of(context);
  const routes: Route[] = [];
  try {
    for (let index = 0; index < endpoints.length; index++) {
      const endpoint = endpoints[index]!;
      const known = earlier?.take(index, endpoint);
      const route = known ?? compileEndpoint(context, endpoint, `/endpoints/${index}`, null, plain);
      if (route) routes.push(route);
      // To look at the clock costs as much as to go on with one.
      if ((!known || index % 32 === 0) && scheduler.due) await scheduler.yield();
    }
  } finally {
    await plain?.close();
  }
  if (earlier) await scheduler.yield();
  return routes;
}

function upgradesOf(routes: readonly Route[]): ReadonlySet<string> {
  const all = new Set<string>();
  for (const { upgrades } of routes) for (const upgrade of upgrades) all.add(upgrade);
  return all;
}

/** No host leads to an endpoint. Code: a warning, ROUTE_UNREACHABLE. */
function warnOfUnreachable({ config, noticed }: Build, service: readonly Attached<AtService>[]): void {
  const names = service.flatMap(({ at }) => at.virtualHosts?.names ?? []);
  for (let index = 0; index < config.endpoints.length; index++) {
    const { endpoint } = config.endpoints[index]!;
    const name = virtualName(endpoint);
    if (name === undefined || names.includes(name)) continue;
    const message = `no virtual host is named "${name}": no request reaches ${endpoint}`;
    const hint = names.length > 0 ? `one of ${names.join(', ')}` : 'a component at the root names the hosts';
    noticed.push(new ConfigError('ROUTE_UNREACHABLE', joinPointer('/endpoints', index, 'endpoint'), message, { hint }));
  }
}

/** A path that a plugin answers is no endpoint's. Code: ROUTE_COLLISION. */
function refuseTaken(build: Build, own: Compiled['own'], routes: readonly Route[]): void {
  if (own.length === 0) return;
  const exact = new Map(own.map(({ plugin, route }) => [route.path, { plugin, route }]));
  for (const { endpoint } of routes) {
    const taken = exact.get(endpoint.endpoint);
    if (!taken || !overlap(taken.route.method, endpoint.method)) continue;
    const pointer = joinPointer('/endpoints', build.config.endpoints.indexOf(endpoint), 'endpoint');
    const message = `"${taken.plugin.name}" answers ${endpoint.method} ${endpoint.endpoint}`;
    build.errors.push(new ConfigError('ROUTE_COLLISION', pointer, message, { hint: 'another path' }));
  }
}

/** @param own of a path that a plugin answers; undefined for every method. */
function overlap(own: string | undefined, declared: string): boolean {
  return own === undefined || declared === ANY || own === declared;
}

/** What is counted by method and path is of one endpoint, whatever asks for it. Code: ROUTE_COLLISION. */
function refusePublished(build: Build, { contentType, ...http2 }: Http2Routes, routes: readonly Route[]): void {
  for (const { endpoint } of routes) {
    const published = http2.routes.get(endpoint.endpoint);
    if (published?.endpoint.method !== endpoint.method) continue;
    const pointer = joinPointer('/endpoints', build.config.endpoints.indexOf(endpoint), 'endpoint');
    const message = `${endpoint.method} ${endpoint.endpoint} is also published for ${contentType}: their metrics could not be distinguished`;
    const related = [http2.pointers.get(endpoint.endpoint)!];
    build.errors.push(new ConfigError('ROUTE_COLLISION', pointer, message, { hint: 'another path', related }));
  }
}
