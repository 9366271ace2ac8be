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
import { joinPointer } from '../../config/index.ts';
import { scheduler, virtualName } from '../../contract/internal.ts';
import { sortByOrder } from '../../registry/order.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Attached } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import type { Build } from '../attach/build.ts';
import type { HandlerUse } from '../attach/guards.ts';
import { warnOfLostQuery } from '../request/lost-query.ts';
import type { CompiledAgent } from './agent.ts';
import { compileEndpoint } from './endpoint.ts';
import type { Http2Routes } from './http2-routes.ts';
import type { NestedPipe } from './nested.ts';
import { PlainEndpoints } from './plain-endpoints.ts';
import type { Route } from './route.ts';
import { attachService, compileRest, type Earlier, type ServiceFrame } from './service-frame.ts';
import { refuseTaken } from './taken-paths.ts';

/** A compiled configuration. */
export interface Compiled {
  readonly routes: readonly Route[];
  readonly agents: readonly CompiledAgent[];
  /** Protocols that any endpoint can upgrade connections to, in lowercase. */
  readonly upgrades: ReadonlySet<string>;
  /** Endpoints that a component publishes over HTTP/2; null for none. */
  readonly http2: Http2Routes | null;
  /** All routes, with those over HTTP/2 at the end. */
  readonly published: readonly Route[];
  /** Paths that plugins handle themselves. */
  readonly own: readonly { readonly plugin: Plugin; readonly route: OwnRoute }[];
  /** Wraps around all requests, outermost first. */
  readonly around: readonly Wrap<ClientRequest>[];
  /** Hooks for the head of every response, in order. */
  readonly heads: readonly NonNullable<AtService['head']>[];
  /** Pipes nested in service-level components. */
  readonly nested: readonly NestedPipe[];
  /** Attachments of service-level components, outermost first. */
  readonly service: readonly Attached<AtService>[];
  /** The parts of the configuration that surround all endpoints. */
  readonly frame: ServiceFrame;
  /** Handlers of plugins from files, where configurations of other plugins refer to them. */
  readonly handlerUses: readonly HandlerUse[];
}

/**
 * Compiles every endpoint. The plugins that the configuration refers to must be loaded. All errors are collected in
 * `build.errors`; if there are any, the result must not be used.
 * @param earlier parts of an earlier configuration to reuse; null to compile everything.
 * @throws RebuildNeeded when these cannot be reused.
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
    // In this order, the hook of the outermost plugin runs last.
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
      // Reused routes are counted instead of measuring the time after each, which would cost as much as reusing one.
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

/** Warns of endpoints whose virtual host does not exist. Code: a warning, ROUTE_UNREACHABLE. */
function warnOfUnreachable({ config, noticed }: Build, service: readonly Attached<AtService>[]): void {
  const names = service.flatMap(({ at }) => at.virtualHosts?.names ?? []);
  for (let index = 0; index < config.endpoints.length; index++) {
    const { endpoint } = config.endpoints[index]!;
    const name = virtualName(endpoint);
    if (name === undefined || names.includes(name)) continue;
    const message = `no virtual host is named "${name}": no request reaches ${endpoint}`;
    const hint = names.length > 0 ? `one of ${names.join(', ')}` : 'declare the host in a component at the root';
    noticed.push(new ConfigError('ROUTE_UNREACHABLE', joinPointer('/endpoints', index, 'endpoint'), message, { hint }));
  }
}

/**
 * Rejects endpoints with the same method and path as one published over HTTP/2: metrics are keyed by method and path.
 * Code: ROUTE_COLLISION.
 */
function refusePublished(build: Build, { contentType, ...http2 }: Http2Routes, routes: readonly Route[]): void {
  for (const { endpoint } of routes) {
    const published = http2.routes.get(endpoint.endpoint);
    if (published?.endpoint.method !== endpoint.method) continue;
    const pointer = joinPointer('/endpoints', build.config.endpoints.indexOf(endpoint), 'endpoint');
    const message = `${endpoint.method} ${endpoint.endpoint} is also published for ${contentType}: the metrics of the two could not be distinguished`;
    const related = [http2.pointers.get(endpoint.endpoint)!];
    build.errors.push(new ConfigError('ROUTE_COLLISION', pointer, message, { hint: 'choose another path', related }));
  }
}
