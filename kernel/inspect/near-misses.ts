import { nearest, parseSegment, readSegment } from '../config/index.ts';
import type { Route } from '../pipeline/route.ts';

/** An endpoint that does not match a path but looks like it. */
export interface NearMiss {
  readonly route: Route;
  /** What keeps it from matching. */
  readonly why: string;
}

const MAX_MISSES = 3;
/** A segment that is only spelled differently is half as wrong as another one. */
const MISSPELLED = 0.5;
/** Enough to put an endpoint of another method behind one that is as near otherwise. */
const OTHER_METHOD = 0.25;

/**
 * The endpoints most like a path, nearest first. At least half of the segments must agree, and a fixed one must be alike:
 * a variable agrees with anything.
 * @param plain decoded path.
 */
export function nearMisses(routes: readonly Route[], method: string, plain: string): NearMiss[] {
  const path = plain.split('/').slice(1);
  return routes
    .map((route) => {
      const pattern = route.endpoint.endpoint.split('/').slice(1);
      const open = pattern.at(-1) === '*';
      const wanted = open ? pattern.slice(0, -1) : pattern;
      const found = open ? path.slice(0, wanted.length) : path;
      const length = Math.max(wanted.length, found.length);
      const distance = Math.min(distanceOf(wanted, found), distanceOf(wanted.toReversed(), found.toReversed()));
      const cost = distance + (route.endpoint.method === method ? 0 : OTHER_METHOD);
      return { route, cost, near: distance <= length / 2, wanted, found };
    })
    .filter(({ near }) => near)
    .sort((one, other) => one.cost - other.cost)
    .slice(0, MAX_MISSES)
    .map(({ route, wanted, found }) => ({ route, why: difference(wanted, found) }));
}

function distanceOf(wanted: readonly string[], found: readonly string[]): number {
  const common = Math.min(wanted.length, found.length);
  let distance = Math.abs(wanted.length - found.length);
  let isAlike = false;
  for (let at = 0; at < common; at++) {
    const fitting = fits(wanted[at]!, found[at]!);
    const misspelled = !fitting && isMisspelled(wanted[at]!, found[at]!);
    if (!fitting) distance += misspelled ? MISSPELLED : 1;
    isAlike ||= misspelled || (fitting && !wanted[at]!.includes('{'));
  }
  return isAlike ? distance : Number.POSITIVE_INFINITY;
}

/** Every other word is near one of two letters. */
function isMisspelled(wanted: string, found: string): boolean {
  return wanted.length > 2 && nearest(found, [wanted]) !== undefined;
}

function fits(wanted: string, found: string): boolean {
  return readSegment(parseSegment(wanted).texts, found) !== undefined;
}

function difference(wanted: readonly string[], found: readonly string[]): string {
  if (wanted.length !== found.length) {
    return `has ${wanted.length} segments where the path has ${found.length}`;
  }
  const at = wanted.findIndex((segment, index) => !fits(segment, found[index]!));
  return at < 0 ? 'serves another method' : `segment ${at + 1} is "${wanted[at]}", not "${found[at]}"`;
}
