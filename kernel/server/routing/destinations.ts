import type { IncomingMessage } from 'node:http';
import type { ClientRequest, OwnRoute, RouterOptions, ServiceConfig, VirtualHosts } from '#contract';
import { VIRTUAL, virtualName } from '../../contract/internal.ts';
import type { Compiled } from '../../pipeline/compile/compile.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import { type Outcome, Router } from './router.ts';
import { cleanPath } from './target.ts';

/** Result of routing a request. */
export type Destination =
  | Outcome
  | { readonly kind: 'own'; readonly route: OwnRoute }
  /** Response to `OPTIONS` (`auto_options`): the methods of a declared path. */
  | { readonly kind: 'options'; readonly allow: readonly string[] };

/** Routes requests. */
export interface Wayfinder {
  /** @param path as in the request target. */
  ofMessage(message: IncomingMessage, path: string): Destination;
  /** Routes a request that was derived from another one. */
  ofRequest(request: ClientRequest): Destination;
}

/** Routes requests by method, path and host: to a plugin's own route, a declared endpoint, or neither. */
export class Destinations implements Wayfinder {
  /** Router of the endpoints that apply to all hosts. */
  readonly router: Router;
  /** Routers of virtual hosts; null without any. */
  readonly virtual: VirtualRouters | null;
  readonly #own: OwnRoutes;
  readonly #options: RouterOptions;

  constructor(router: Router, virtual: VirtualRouters | null, own: OwnRoutes, options: RouterOptions) {
    this.router = router;
    this.virtual = virtual;
    this.#own = own;
    this.#options = options;
  }

  ofMessage({ method, headers }: IncomingMessage, path: string): Destination {
    return this.find(method!, path, headers.host);
  }

  ofRequest({ method, path, host }: ClientRequest): Destination {
    return this.find(method, path, host);
  }

  /** @param host as sent by the client. */
  find(method: string, path: string, host = ''): Destination {
    if (this.#options.path_parameters === 'refuse' && /;|%3b/i.test(path)) return withParameter;
    return this.#find(method === 'HEAD' && this.#options.auto_head ? 'GET' : method, path, host);
  }

  #find(method: string, path: string, host: string): Destination {
    const own = this.#own.find(method, path);
    if (own) return { kind: 'own', route: own };
    if (this.virtual?.isReserved(path)) return none;
    const virtual = this.virtual?.of(host);
    const outcome = virtual
      ? either(virtual.find(method, path), () => this.router.find(method, path))
      : this.router.find(method, path);
    if (outcome.kind === 'route') return outcome;
    if (this.#options.auto_options && method === 'OPTIONS') {
      const allow = joined(this.router.methodsOf(path), virtual?.methodsOf(path) ?? []);
      if (allow.length > 0) return { kind: 'options', allow: withHead(allow, this.#options) };
    }
    if (outcome.kind === 'method') return { kind: 'method', allow: withHead(outcome.allow, this.#options) };
    return outcome.kind === 'none' ? (this.#own.near(path) ?? outcome) : outcome;
  }
}

const none: Destination = Object.freeze({ kind: 'none' });
const withParameter: Destination = Object.freeze({
  kind: 'refused',
  text: 'error: path parameters are not allowed',
});

/** Combines the outcomes of a virtual host and of all hosts; the virtual host takes precedence. */
function either(virtual: Outcome, plainOutcome: () => Outcome): Outcome {
  if (virtual.kind === 'route' || virtual.kind === 'refused') return virtual;
  const plain = plainOutcome();
  if (plain.kind === 'route' || virtual.kind === 'none') return plain;
  if (virtual.kind !== 'method' || plain.kind !== 'method') return virtual;
  return { kind: 'method', allow: joined(virtual.allow, plain.allow) };
}

/** Adds HEAD to methods that include GET, if `auto_head` is on. */
function withHead(methods: readonly string[], { auto_head: isOn }: RouterOptions): readonly string[] {
  if (!isOn || !methods.includes('GET') || methods.includes('HEAD')) return methods;
  return [...methods, 'HEAD'].sort();
}

function joined(one: readonly string[], other: readonly string[]): string[] {
  return [...new Set([...one, ...other])].sort();
}

/** Routers of virtual hosts, by name. */
class VirtualRouters {
  readonly routers: ReadonlyMap<string, Router>;
  readonly #hosts: VirtualHosts | undefined;

  constructor(routers: ReadonlyMap<string, Router>, hosts: VirtualHosts | undefined) {
    this.routers = routers;
    this.#hosts = hosts;
  }

  of(host: string): Router | undefined {
    const name = this.#hosts?.nameOf(host) ?? null;
    return name === null ? undefined : this.routers.get(name);
  }

  /**
   * Whether a path is in the internal namespace of virtual hosts, regardless of its encoding. Clients cannot request
   * such paths.
   */
  isReserved(path: string): boolean {
    if (!/^\/+(?:_|%5f|\.|%2e|%2f)/i.test(path)) return false;
    try {
      return cleanPath(decodeURIComponent(path)).startsWith(VIRTUAL);
    } catch {
      return false;
    }
  }
}

/**
 * Builds the destinations of a compiled configuration, and the router of its endpoints for all hosts.
 * @param before destinations of the previous configuration; routers with the same routes are reused.
 * @param routesRequests false for processes that may never route a request; the routing trees are then built on first use, to
 * save memory.
 */
export async function destinationsOf(
  config: ServiceConfig,
  { own, routes, service }: Compiled,
  before: Destinations | null = null,
  routesRequests = true,
): Promise<{ readonly router: Router; readonly destinations: Destinations }> {
  const { router: options } = config;
  const hasVirtual = routes.some(({ endpoint }) => endpoint.endpoint.startsWith(VIRTUAL));
  const groups = hasVirtual ? Map.groupBy(routes, ({ endpoint }) => virtualName(endpoint.endpoint)) : noGroups;
  const plain = hasVirtual ? (groups.get(undefined) ?? []) : routes;
  const build = routesRequests ? Router.build : Router.later;
  const router = await build(config, plain, '', before?.router);
  const routers = new Map<string, Router>();
  for (const [name, group] of groups) {
    if (name === undefined) continue;
    routers.set(name, await build(config, group, VIRTUAL + name, before?.virtual?.routers.get(name) ?? null));
  }
  const hosts = service.find(({ at }) => at.virtualHosts)?.at.virtualHosts;
  const virtual = routers.size > 0 || hosts ? new VirtualRouters(routers, hosts) : null;
  const ownRoutes = new OwnRoutes(
    own.map(({ route }) => route),
    options,
  );
  return { router, destinations: new Destinations(router, virtual, ownRoutes, options) };
}

const noGroups: ReadonlyMap<string | undefined, Route[]> = new Map();

/** Routes that plugins handle themselves. They take precedence over declared endpoints. */
export class OwnRoutes {
  readonly #exact = new Map<string, OwnRoute[]>();
  readonly #below: { readonly prefix: string; readonly route: OwnRoute }[] = [];
  readonly #options: RouterOptions;

  constructor(routes: readonly OwnRoute[], options: RouterOptions) {
    this.#options = options;
    for (const route of routes) {
      if (route.path.endsWith('/*')) this.#below.push({ prefix: route.path.slice(0, -1), route });
      else this.#exact.set(route.path, [...(this.#exact.get(route.path) ?? []), route]);
    }
  }

  find(method: string, path: string): OwnRoute | undefined {
    const exact = this.#exact.get(path);
    if (exact) return exact.find((route) => takes(route, method));
    return this.#below.find(({ prefix, route }) => path.startsWith(prefix) && takes(route, method))?.route;
  }

  /**
   * Returns the closest match for a path without an endpoint: one that differs in its trailing slash, or has other
   * methods; undefined for none.
   */
  near(path: string): Exclude<Outcome, { kind: 'route' }> | undefined {
    const allow = this.#methodsOf(path);
    if (allow.length > 0) {
      return this.#options.disable_handle_method_not_allowed ? undefined : { kind: 'method', allow };
    }
    const { disable_redirect_trailing_slash: noSlash, disable_redirect_fixed_path: noFix } = this.#options;
    if (noSlash && noFix) return undefined;
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    return this.#has(other) ? { kind: 'redirect', path: other, slashOnly: true } : undefined;
  }

  #methodsOf(path: string): readonly string[] {
    const here = [
      ...(this.#exact.get(path) ?? []),
      ...this.#below.filter(({ prefix }) => path.startsWith(prefix)).map(({ route }) => route),
    ];
    return withHead([...new Set(here.flatMap(({ method }) => method ?? []))], this.#options);
  }

  #has(path: string): boolean {
    return this.#exact.has(path) || this.#below.some(({ prefix }) => path.startsWith(prefix));
  }
}

function takes({ method }: OwnRoute, requestMethod: string): boolean {
  return method === undefined || method === requestMethod;
}
