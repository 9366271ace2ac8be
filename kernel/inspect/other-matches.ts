import { ANY } from '../contract/internal.ts';
import type { Route } from '../pipeline/compile/route.ts';
import { Router } from '../server/routing/router.ts';
import { cleanPath } from '../server/routing/target.ts';
import { fixedLength } from '../server/routing/trie-path.ts';
import { routeId } from './routes.ts';
import type { Served } from './served.ts';

/** An endpoint that also matches a path but does not serve it. */
export interface OtherMatch {
  readonly route: Route;
  readonly why: string;
}

const CATCH_ALL = '/__catchall';

/** Maximum number of other matches reported. */
const MAX_OTHER_MATCHES = 10;

/**
 * Finds the other endpoints that match a path: first those of the same method, in the order of their precedence, then
 * the first one of every other method. Uses the router repeatedly, each time without the endpoints found before.
 *
 * @param path as on the wire. @param winner the endpoint that serves the request; null without one.
 */
export async function findOtherMatches(
  served: Served,
  method: string,
  path: string,
  winner: Route | null,
): Promise<OtherMatch[]> {
  const { config, compiled } = served;
  const plain = readable(path, config.router.remove_extra_slash);
  if (plain === null) return [];
  const able = compiled.routes.filter((route) => route !== winner && mayMatch(route.endpoint.endpoint, plain));
  const servesAll = ({ endpoint }: Route) => endpoint.endpoint === CATCH_ALL || endpoint.method === ANY;
  const byMethod = Map.groupBy(able, (route) => (servesAll(route) ? method : route.endpoint.method));
  const reach = async (requestMethod: string, routes: readonly Route[]) => {
    const outcome = (await Router.build(config, routes)).find(requestMethod, path);
    return outcome.kind === 'route' ? outcome.route : null;
  };
  const rivals: OtherMatch[] = [];
  let left = byMethod.get(method) ?? [];
  while (winner && rivals.length < MAX_OTHER_MATCHES) {
    const next = await reach(method, left);
    if (!next) break;
    rivals.push({ route: next, why: whyLost(winner, next) });
    left = left.filter((route) => route !== next);
  }
  for (const [other, routes] of byMethod) {
    const route = other === method || rivals.length === MAX_OTHER_MATCHES ? null : await reach(other, routes);
    if (route) rivals.push({ route, why: `matches the path, but serves ${other}` });
  }
  return rivals;
}

function readable(path: string, cleans: boolean): string | null {
  try {
    const plain = decodeURIComponent(path);
    return cleans ? cleanPath(plain) : plain;
  } catch {
    return null;
  }
}

/** Fast check that is true for every pattern that matches a path, and for some patterns that do not. */
function mayMatch(pattern: string, plain: string): boolean {
  return pattern === CATCH_ALL || plain.startsWith(/^[^{*]*/.exec(pattern)![0]);
}

/**
 * The rule of precedence that decided between two patterns, determined by the first segment in which their kinds
 * differ.
 */
function whyLost(winner: Route, loser: Route): string {
  if (loser.endpoint.endpoint === CATCH_ALL) return 'serves only requests that no other endpoint matches';
  const [won, lost] = [winner, loser].map(({ endpoint }) => endpoint.endpoint.split('/')) as [string[], string[]];
  for (const [at, segment] of won.entries()) {
    const other = lost[at];
    if (other === segment || other === undefined) continue;
    if (other === '*') return `its wildcard is less specific than ${routeId(winner)}`;
    if (!other.includes('{')) continue;
    if (!segment.includes('{')) return `its placeholder ${other} is less specific than the fixed segment ${segment}`;
    if (fixedLength(other) < fixedLength(segment)) return `${other} is less specific than ${segment}`;
  }
  if (loser.endpoint.method === ANY) return 'serves the methods without an endpoint of their own on the path';
  return `${routeId(winner)} matches first`;
}
