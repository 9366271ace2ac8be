import { nearest, parseSegment, readSegment } from '../config/index.ts';
import { ANY } from '../contract/internal.ts';
import type { Route } from '../pipeline/compile/route.ts';

/** An endpoint that does not match a path but is similar to it. */
export interface NearMiss {
  readonly route: Route;
  /** Reason why the endpoint does not match. */
  readonly why: string;
}

const MAX_MISSES = 3;
/** Penalty of a misspelled segment: half that of a different one. */
const MISSPELLED = 0.5;
/**
 * Penalty of a different method, which ranks such an endpoint after an endpoint that is equal except for the method.
 */
const OTHER_METHOD = 0.25;

/**
 * Endpoints most similar to a path, nearest first. At least half of the segments must match, and at least one segment
 * with fixed text must be similar, because variables match any text.
 * @param plain decoded path.
 */
export function nearMisses(routes: readonly Route[], method: string, plain: string): NearMiss[] {
  const path = plain.split('/').slice(1);
  return routes
    .map((route) => {
      const pattern = route.endpoint.endpoint.split('/').slice(1);
      const open = pattern.at(-1) === '*';
      const wanted = open ? pattern.slice(0, -1) : pattern;
      const results = open ? path.slice(0, wanted.length) : path;
      const length = Math.max(wanted.length, results.length);
      const distance = Math.min(distanceOf(wanted, results), distanceOf(wanted.toReversed(), results.toReversed()));
      const cost = distance + ([method, ANY].includes(route.endpoint.method) ? 0 : OTHER_METHOD);
      return { route, cost, near: distance <= length / 2, wanted, matches: results };
    })
    .filter(({ near }) => near)
    .sort((one, other) => one.cost - other.cost)
    .slice(0, MAX_MISSES)
    .map(({ route, wanted, matches: results }) => ({ route, why: difference(wanted, results) }));
}

function distanceOf(wanted: readonly string[], results: readonly string[]): number {
  const common = Math.min(wanted.length, results.length);
  let distance = Math.abs(wanted.length - results.length);
  let isAlike = false;
  for (let at = 0; at < common; at++) {
    const fitting = fits(wanted[at]!, results[at]!);
    const misspelled = !fitting && isMisspelled(wanted[at]!, results[at]!);
    if (!fitting) distance += misspelled ? MISSPELLED : 1;
    isAlike ||= misspelled || (fitting && !wanted[at]!.includes('{'));
  }
  return isAlike ? distance : Number.POSITIVE_INFINITY;
}

/** True for a misspelled segment, but not for words of one or two letters, which resemble almost any other word. */
function isMisspelled(wanted: string, match: string): boolean {
  return wanted.length > 2 && nearest(match, [wanted]) !== undefined;
}

function fits(wanted: string, match: string): boolean {
  return readSegment(parseSegment(wanted).texts, match) !== undefined;
}

function difference(wanted: readonly string[], results: readonly string[]): string {
  if (wanted.length !== results.length) {
    return `the pattern has ${wanted.length} segments, the path has ${results.length}`;
  }
  const at = wanted.findIndex((segment, index) => !fits(segment, results[index]!));
  return at < 0 ? 'serves another method' : `segment ${at + 1} is "${wanted[at]}", not "${results[at]}"`;
}
