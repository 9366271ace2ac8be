import { type Params, paramKey, type Reply } from '#contract';
import type { Http2Routes } from '../pipeline/compile/http2-routes.ts';
import type { Route } from '../pipeline/compile/route.ts';
import { splitPlaceholders } from '../pipeline/request/pattern.ts';
import { isOfType } from '../server/http2/destinations.ts';
import type { Destination } from '../server/routing/destinations.ts';
import { createFallbackReplies } from '../server/routing/fallback-replies.ts';
import { parseTarget, type Target } from '../server/routing/target.ts';
import { type FindPosition, pointerOnly } from './file-position.ts';
import { type NearMiss, nearMisses } from './near-misses.ts';
import { findOtherMatches, type OtherMatch } from './other-matches.ts';
import { pointerOf, type RouteView, viewRoute } from './routes.ts';
import type { Served } from './served.ts';

/** The component or endpoint that handles a request. */
export type Match =
  /** `params` are given under the names in the endpoint's path; `*` contains the part that a wildcard matched. */
  | { readonly kind: 'route'; readonly route: RouteView; readonly params: Params }
  /** A path handled by a component: health, debug or echo. */
  | { readonly kind: 'builtin' }
  | { readonly kind: 'options'; readonly status: 200; readonly allow: readonly string[] }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'method'; readonly status: 405; readonly allow: readonly string[] }
  | { readonly kind: 'refused'; readonly status: 400; readonly text: string }
  | { readonly kind: 'none'; readonly status: 404 };

/** An endpoint that was not chosen, with the reason. */
export interface Considered {
  readonly route: RouteView;
  readonly why: string;
}

export interface Matching {
  readonly match: Match;
  /** The reason, in one sentence. */
  readonly why: string;
  /** Other endpoints that match the path. */
  readonly rivals: readonly Considered[];
  /** Endpoints most similar to the path, when none matches. */
  readonly nearMisses: readonly Considered[];
}

/** Result of matching a request, with the data it is based on. */
export interface RouteMatch extends Matching {
  /** Parsed target; null when it is invalid. */
  readonly target: Target | null;
  /** The endpoint that serves the request; null without one. */
  readonly winner: Route | null;
  /** Path parameters as in the request. */
  readonly params: Params;
}

/**
 * Finds the endpoint or component that handles a request, using the router of the gateway. No request is sent. @param
 * target as sent by the client.
 */
export async function matchRoute(
  served: Served,
  method: string,
  target: string,
  position: FindPosition = pointerOnly,
): Promise<Matching> {
  const { match, why, rivals, nearMisses: near } = await findMatch(served, method, target, position);
  return { match, why, rivals, nearMisses: near };
}

/** Request headers that affect which endpoint is matched, by lowercase name. */
type RevealingHeaders = Readonly<Partial<Record<'x-forwarded-prefix' | 'host' | 'content-type', string>>>;

/** Same as `matchRoute`, and also returns the matching route and the other candidates. */
export async function findMatch(
  served: Served,
  method: string,
  target: string,
  position: FindPosition,
  headers: RevealingHeaders = {},
): Promise<RouteMatch> {
  const { config, compiled, destinations } = served;
  const { host, 'x-forwarded-prefix': prefix, 'content-type': type } = headers;
  const parsed = parseTarget(target);
  const nothing = { target: parsed, winner: null, params: {}, rivals: [], nearMisses: [] };
  if (!parsed)
    return { ...nothing, ...withReason({ kind: 'refused', status: 400, text: 'error: invalid request target' }) };
  const { path, search } = parsed;
  const published = findPublished(compiled.http2, method, path, type, position);
  if (published) return { ...nothing, ...published };
  const destination = destinations.find(method, path, host);
  if (destination.kind === 'own') return { ...nothing, ...withReason({ kind: 'builtin' }) };

  const view = (route: Route) => viewRoute(route, pointerOf(served, route), position);
  const consider = (list: readonly (OtherMatch | NearMiss)[]): Considered[] =>
    list.map(({ route, why }) => ({ route: view(route), why }));
  const winner = destination.kind === 'route' ? destination.route : null;
  const rivals = consider(await findOtherMatches(served, method, path, winner));
  if (destination.kind === 'route') {
    const { route, params } = destination;
    const match: Match = { kind: 'route', route: view(route), params: asDeclared(params, route) };
    return { target: parsed, winner, params, ...withReason(match), rivals, nearMisses: [] };
  }

  const near =
    destination.kind === 'none' && rivals.length === 0 ? nearMisses(compiled.routes, method, readable(path)) : [];
  const reply = createFallbackReplies(config).of(destination, method, search, prefix);
  const match = asMatch(destination, reply);
  return { target: parsed, winner, params: {}, rivals, nearMisses: consider(near), ...withReason(match) };
}

/**
 * Finds the endpoint that handles an HTTP/2 request by its content type. Without a content type, that of the endpoint
 * published at the path is assumed, because no other endpoint has the same method and path.
 */
function findPublished(
  http2: Http2Routes | null,
  method: string,
  path: string,
  type: string | undefined,
  position: FindPosition,
): Pick<RouteMatch, 'match' | 'why' | 'winner'> | null {
  if (!http2 || (type !== undefined && !isOfType(type, http2.contentType))) return null;
  const winner = http2.routes.get(path);
  if (!winner) return type === undefined ? null : { ...withReason({ kind: 'builtin' }), winner: null };
  if (type === undefined && winner.endpoint.method !== method) return null;
  const route = viewRoute(winner, http2.pointers.get(path)!, position, http2.contentType);
  return { ...withReason({ kind: 'route', route, params: {} }), winner };
}

function asDeclared(params: Params, { endpoint: { endpoint: pattern } }: Route): Params {
  const declared = splitPlaceholders(pattern).filter((_piece, at) => at % 2 === 1);
  const names = new Map([['Wildcard', '*'], ...declared.map((name) => [paramKey(name), name] as const)]);
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [names.get(key) ?? key, value]));
}

function asMatch(destination: Exclude<Destination, { kind: 'route' | 'own' }>, { status, headers }: Reply): Match {
  switch (destination.kind) {
    case 'redirect':
      return { kind: 'redirect', status, location: headers.get('location')! };
    case 'method':
      return { kind: 'method', status: 405, allow: destination.allow };
    case 'options':
      return { kind: 'options', status: 200, allow: destination.allow };
    case 'refused':
      return { kind: 'refused', status: 400, text: destination.text };
    case 'none':
      return { kind: 'none', status: 404 };
  }
}

const reasons: { readonly [K in Match['kind']]: (match: Extract<Match, { kind: K }>) => string } = {
  route: ({ route }) =>
    route.pattern === '/__catchall' ? 'no other endpoint matches' : `the path matches ${route.pattern}`,
  builtin: () => "the gateway's own paths take precedence over endpoints",
  options: () => 'auto_options answers OPTIONS requests on every declared path',
  redirect: ({ location }) => `the path is declared as ${location}`,
  method: ({ allow }) => `the path is declared for ${allow.join(', ')} only`,
  refused: ({ text }) => text,
  none: () => 'no endpoint matches the path',
};

function withReason(match: Match): { match: Match; why: string } {
  return { match, why: (reasons[match.kind] as (match: Match) => string)(match) };
}

function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
