import type { Report } from '../report.ts';
import { pathFaults } from './path-syntax.ts';
import { CATCHALL } from './rule.ts';

const RESERVED = ['/__health', '/__debug', '/__echo', '/__stats'] as const;

/**
 * The path of an endpoint can be served. Works on any text, so that it also speaks of endpoints that are otherwise
 * broken.
 *
 * Codes: ROUTE_PATH, ROUTE_RESERVED.
 */
export function checkEndpointPath(
  route: { readonly method: string; readonly endpoint: string },
  pointer: string,
  options: { readonly disableRest: boolean; readonly healthPath: string | undefined },
  report: Report,
): void {
  const { method, endpoint: path } = route;
  if (path === CATCHALL) return;
  for (const { message, ...rest } of pathFaults(path, options.disableRest)) {
    report.error('ROUTE_PATH', `${pointer}/endpoint`, message, rest);
  }
  const reserved = RESERVED.find((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  const isHealth = method === 'GET' && path === options.healthPath;
  if (reserved === undefined && !isHealth) return;
  report.error('ROUTE_RESERVED', `${pointer}/endpoint`, `${method} ${path} is reserved for the gateway itself`);
}
