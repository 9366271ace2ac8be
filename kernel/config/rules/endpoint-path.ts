import { ANY } from '../../contract/endpoint-schema.ts';
import type { ConfigErrorOptions } from '../../contract/errors.ts';
import { paramKey } from '../../contract/message.ts';
import { VIRTUAL, virtualName } from '../../contract/virtual-hosts.ts';
import type { Report } from '../issues/report.ts';
import { CATCHALL } from './rule.ts';

/** Paths that need no further checks: without variables, and not reserved by the gateway. */
const PLAIN = /^(?:\/(?!__)[\w.~-]+)+$/;

const RESERVED = ['/__health', '/__debug', '/__echo', '/__stats'] as const;

/**
 * Checks that the path of an endpoint can be served. Accepts any text, so that endpoints with other errors are checked
 * too.
 *
 * Codes: ROUTE_PATH, ROUTE_RESERVED.
 */
export function checkEndpointPath(
  route: { readonly method: string; readonly endpoint: string },
  pointer: string,
  options: { readonly disableRest: boolean; readonly probePaths: readonly string[] },
  report: Report,
): void {
  const { method, endpoint: path } = route;
  const isProbe = (method === 'GET' || method === ANY) && options.probePaths.includes(path);
  if (path === CATCHALL || (PLAIN.test(path) && !isProbe)) return;
  const host = virtualName(path);
  if (host !== undefined && /^$|[{}]/.test(host)) {
    const message = `path '${path}': '${VIRTUAL}' must be followed by a host name`;
    report.error('ROUTE_PATH', `${pointer}/endpoint`, message, { hint: `${VIRTUAL}shop/path` });
    return;
  }
  // The colon before the port of a virtual host is allowed, so it is replaced before the path is checked.
  const plain = host === undefined ? path : path.replace(host, host.replaceAll(':', '-'));
  for (const { message, ...rest } of pathFaults(plain, options.disableRest)) {
    report.error('ROUTE_PATH', `${pointer}/endpoint`, message, rest);
  }
  const reserved = RESERVED.find((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  if (reserved === undefined && !isProbe) return;
  report.error('ROUTE_RESERVED', `${pointer}/endpoint`, `${method} ${path} is reserved for the gateway itself`, {
    hint: reserved === undefined ? 'Move health_path or ready_path of the router, or choose another path.' : undefined,
  });
}

export interface PathFault extends Pick<ConfigErrorOptions, 'hint' | 'fix' | 'within'> {
  readonly message: string;
}
/** A segment that is a single variable, as almost all are. */
const VARIABLE = /^\{[\w-]+\}$/;
const VARIABLE_NAME = /^[\w-]+$/;

/**
 * Errors in the path of an endpoint: misplaced `/`, `*`, `?`, `&`, `%` and `:`, and invalid forms of a `{variable}`.
 * @param gluedVariables variables may be part of a segment, as in `/file.{ext}` and `/{from}-{to}`.
 */
function pathFaults(path: string, gluedVariables: boolean): PathFault[] {
  if (!path.startsWith('/')) {
    return [{ message: `path '${path}' must start with '/'`, hint: `/${path}`, fix: { value: `/${path}` } }];
  }
  if (path === '/*') {
    return [{ message: "the root wildcard '/*' is not supported", hint: '/__catchall' }];
  }
  return [...forbiddenCharacters(path), ...variableFaults(path, gluedVariables)];
}

function forbiddenCharacters(path: string): PathFault[] {
  const faults: PathFault[] = [];
  for (const mark of ['?', '&', '%']) {
    const start = path.indexOf(mark);
    if (start < 0) continue;
    const hint = mark === '?' ? "query parameters are listed in 'input_query_strings'" : undefined;
    faults.push({ message: `path '${path}' must not contain '${mark}'`, hint, within: { start, end: start + 1 } });
  }
  const star = path.indexOf('*');
  if (star >= 0 && (star !== path.length - 1 || path[star - 1] !== '/')) {
    const within = { start: star, end: star + 1 };
    faults.push({ message: `path '${path}': '*' is only allowed at the end, as in '/*'`, within });
  }
  if (path.includes(':')) {
    const hint = path.replaceAll(/\/:([\w-]+)/g, '/{$1}');
    const start = path.indexOf(':');
    const isMeant = !hint.includes(':');
    faults.push({
      message: `path '${path}': colons are not supported`,
      within: { start, end: start + 1 },
      ...(isMeant && { hint, fix: { value: hint } }),
    });
  }
  return faults;
}

function variableFaults(path: string, gluedVariables: boolean): PathFault[] {
  if (!path.includes('{') && !path.includes('}')) return [];
  const faults: PathFault[] = [];
  const names = new Set<string>();
  let next = 0;
  for (const segment of path.split('/')) {
    const offset = next;
    next += segment.length + 1;
    if (!segment.includes('{') && !segment.includes('}')) continue;
    const whole = { start: offset, end: offset + segment.length };
    if (VARIABLE.test(segment)) {
      const name = paramKey(segment.slice(1, -1));
      if (names.has(name)) faults.push({ message: `path '${path}': duplicate variable '${segment}'`, within: whole });
      names.add(name);
      continue;
    }
    const problem = segmentProblem(segment, gluedVariables);
    if (problem) {
      faults.push({ message: `path '${path}': the segment '${segment}' ${problem}`, within: whole });
      continue;
    }
    for (const { 0: variable, 1: name, index } of segment.matchAll(/\{([^{}]*)\}/g)) {
      const within = { start: offset + index, end: offset + index + variable.length };
      if (!VARIABLE_NAME.test(name!)) {
        faults.push({
          message: `path '${path}': '${variable}' is not a valid placeholder: names consist of letters, digits, '-' and '_'`,
          within,
        });
      } else if (names.has(paramKey(name!))) {
        faults.push({ message: `path '${path}': duplicate variable '${variable}'`, within });
      }
      names.add(paramKey(name!));
      if (variable === segment || gluedVariables) continue;
      const message = `path '${path}': '${variable}' must fill a whole segment unless disable_rest is true`;
      faults.push({ message, within });
    }
  }
  return faults;
}

/** Error in a segment's combination of texts and variables. */
function segmentProblem(segment: string, gluedVariables: boolean): string | undefined {
  if (!/^(?:[^{}]|\{[^{}]*\})*$/.test(segment)) return "has a '{' or '}' without its counterpart";
  if (!gluedVariables && /\}.*\{/.test(segment)) return 'contains more than one placeholder';
  return segment.includes('}{') ? 'has two variables with no text between them' : undefined;
}
