import type { Namespace } from '#contract';
import { joinPointer } from '../config/index.ts';
import { ANY } from '../contract/internal.ts';
import type { Route } from '../pipeline/compile/route.ts';
import type { Stage } from '../pipeline/steps/stages.ts';
import { type FilePosition, type FindPosition, pointerOnly } from './file-position.ts';
import type { Served } from './served.ts';

/** One backend of a published endpoint. */
export interface BackendView extends FilePosition {
  /** HTTP method; `*` keeps the client's method. */
  readonly method: string;
  readonly hosts: readonly string[];
  readonly urlPattern: string;
  /** Encoding of the backend's responses. */
  readonly encoding: string;
  /** Components in the pipe of the backend, outermost first; the last one connects to the backend. */
  readonly namespaces: readonly Namespace[];
}

/** One published endpoint. */
export interface RouteView extends FilePosition {
  /** Method and pattern, as in `GET /users/{id}`. */
  readonly id: string;
  readonly method: string;
  readonly pattern: string;
  readonly outputEncoding: string;
  readonly timeoutMs: number;
  /** Components that wrap all backends, outermost first. */
  readonly namespaces: readonly Namespace[];
  readonly backends: readonly BackendView[];
}

/** Filter of endpoints; absent members match everything. */
export interface RouteFilter {
  /** HTTP method; endpoints for all methods match any. */
  readonly method?: string | undefined;
  /** Prefix that the pattern of an endpoint must have. */
  readonly prefix?: string | undefined;
  /** Component in the pipe of the endpoint or of one of its backends. */
  readonly namespace?: Namespace | undefined;
}

/** Lists the published endpoints in order of declaration, followed by those that a component publishes over HTTP/2. */
export function listRoutes(
  { config, compiled }: Pick<Served, 'config' | 'compiled'>,
  filter: RouteFilter = {},
  position: FindPosition = pointerOnly,
): RouteView[] {
  const positions = new Map(config.endpoints.map((endpoint, index) => [endpoint, index]));
  const declared = compiled.routes
    .filter((route) => isWanted(route, filter))
    .map((route) => viewRoute(route, joinPointer('/endpoints', positions.get(route.endpoint)!), position));
  return [...declared, ...listHttp2(compiled, filter, position)];
}

function listHttp2({ http2 }: Served['compiled'], filter: RouteFilter, position: FindPosition): RouteView[] {
  if (!http2) return [];
  const { routes, contentType, pointers } = http2;
  return [...routes]
    .filter(([, route]) => isWanted(route, filter))
    .map(([path, route]) => viewRoute(route, pointers.get(path)!, position, contentType));
}

/** Pointer of an endpoint, declared or published over HTTP/2. */
export function pointerOf({ config, compiled }: Pick<Served, 'config' | 'compiled'>, { endpoint }: Route): string {
  const index = config.endpoints.indexOf(endpoint);
  return index >= 0 ? joinPointer('/endpoints', index) : compiled.http2!.pointers.get(endpoint.endpoint)!;
}

/** @param pointer of the endpoint in the configuration. @param contentType of an endpoint published over HTTP/2. */
export function viewRoute(route: Route, pointer: string, position: FindPosition, contentType?: string): RouteView {
  const { endpoint, output, stages } = route;
  return {
    id: routeId(route),
    method: endpoint.method,
    pattern: endpoint.endpoint,
    outputEncoding: contentType ?? output.name,
    timeoutMs: endpoint.timeout,
    namespaces: namespacesOf(stages.around),
    backends: endpoint.backend.map((backend, at) => ({
      method: backend.method || '*',
      hosts: stages.backends[at]!.hostless ? [] : backend.host,
      urlPattern: backend.url_pattern,
      encoding: output.raw ? output.name : backend.encoding,
      namespaces: namespacesOf(stages.backends[at]!.stages),
      ...position(joinPointer(pointer, 'backend', at)),
    })),
    ...position(pointer),
  };
}

export function routeId({ endpoint }: Pick<Route, 'endpoint'>): string {
  return `${endpoint.method} ${endpoint.endpoint}`;
}

function namespacesOf(stages: readonly Stage[]): Namespace[] {
  return [...new Set(stages.map(({ namespace }) => namespace))];
}

function isWanted({ endpoint, stages }: Route, { method, prefix = '', namespace }: RouteFilter): boolean {
  if (method !== undefined && ![method, ANY].includes(endpoint.method)) return false;
  if (!endpoint.endpoint.startsWith(prefix)) return false;
  const all = [stages.around, ...stages.backends.map((backend) => backend.stages)].flat();
  return namespace === undefined || all.some((stage) => stage.namespace === namespace);
}
