import { ConfigError, type OwnRoute, type Plugin } from '#contract';
import { joinPointer, parseSegment, readSegment } from '../../config/index.ts';
import { ANY } from '../../contract/internal.ts';
import type { Build } from '../attach/build.ts';
import type { Route } from './route.ts';

/** A path that a plugin handles itself. */
interface Taken {
  readonly plugin: Plugin;
  readonly route: OwnRoute;
}

/**
 * Rejects endpoints with a path that a plugin handles itself, and warns of endpoints with variables that share a word
 * with such a path: requests for it never reach them. Endpoints without a common word are assumed to be general on
 * purpose. Codes: ROUTE_COLLISION; a warning ROUTE_SHADOWED.
 */
export function refuseTaken({ config, errors, noticed }: Build, own: readonly Taken[], routes: readonly Route[]): void {
  if (own.length === 0) return;
  const exact = new Map(own.map((taken) => [taken.route.path, taken]));
  const split = own.map((taken) => ({ ...taken, segments: taken.route.path.split('/') }));
  for (const { endpoint } of routes) {
    const { endpoint: path, method } = endpoint;
    const overlaps = ({ route }: Taken) => route.method === undefined || method === ANY || route.method === method;
    const at = () => joinPointer('/endpoints', config.endpoints.indexOf(endpoint), 'endpoint');
    const taken = exact.get(path);
    if (taken && overlaps(taken)) {
      const message = `"${taken.plugin.name}" answers ${method} ${path}`;
      errors.push(new ConfigError('ROUTE_COLLISION', at(), message, { hint: 'choose another path' }));
      continue;
    }
    if (!path.includes('{')) continue;
    const segments = path.split('/');
    const shadowing = split.find((each) => overlaps(each) && isAmong(each.segments, segments));
    if (!shadowing) continue;
    const { plugin, route } = shadowing;
    const message = `"${plugin.name}" answers ${method} ${route.path}: such requests never reach ${method} ${path}`;
    noticed.push(new ConfigError('ROUTE_SHADOWED', at(), message, { hint: 'choose another path' }));
  }
}

/** Whether the variables of a pattern match a path, and at least one of its words is the same. */
function isAmong(path: readonly string[], pattern: readonly string[]): boolean {
  if (path.length !== pattern.length) return false;
  const matches = pattern.every((segment, at) => readSegment(parseSegment(segment).texts, path[at]!) !== undefined);
  return matches && pattern.some((segment, at) => segment !== '' && segment === path[at]);
}
