import { type Conversion, copyData, type Data, type DataObject, isObject, joinPointer } from '#contract';
import { takeServer } from './named-server.ts';
import { eachBackend } from './old-clients.ts';

const SERVER = 'plugin/http-server';
const CLIENT = 'plugin/http-client';
const AT = joinPointer('', 'extra_config', SERVER, 'wildcard');

/** A public path prefix served by an endpoint. */
interface Prefix {
  readonly path: string;
  /** The endpoint's path as configured. */
  readonly endpoint: string;
  readonly pointer: string;
}

/**
 * Converts KrakenD's `wildcard` plugins to endpoints whose paths end in `/*`, one for each prefix and
 * one more for the prefix itself. The original endpoints no longer have paths of their own.
 * Codes: WILDCARD_FORM, WILDCARD_ENDPOINT, WILDCARD_PREFIX; a warning CONFIG_OLD_PLUGIN.
 */
export function convertWildcards(document: DataObject, report: Conversion): void {
  const server = takeServer(document, 'wildcard');
  const prefixes = server && prefixesOf(server.settings, report);
  if (!prefixes) return;
  const endpoints = document['endpoints'];
  if (!Array.isArray(endpoints)) return;
  for (const [path, group] of Map.groupBy(prefixes, ({ endpoint }) => endpoint)) {
    const positions = endpoints.flatMap((each, at) => (isObject(each) && each['endpoint'] === path ? [at] : []));
    if (positions.length === 0) {
      report.error('WILDCARD_ENDPOINT', joinPointer(AT, 'endpoints', path), `endpoint "${path}" does not exist`);
    }
    for (const at of positions) replace(endpoints, at, group, report);
  }
}

/** @returns undefined for invalid settings. */
function prefixesOf(wildcard: Data | undefined, report: Conversion): Prefix[] | undefined {
  const written = isObject(wildcard) ? wildcard['endpoints'] : undefined;
  if (!isObject(wildcard) || !isObject(written)) {
    report.error(
      'WILDCARD_FORM',
      isObject(wildcard) ? AT : joinPointer('', 'extra_config', SERVER),
      '"wildcard" needs "endpoints"',
      {
        hint: '"wildcard": {"endpoints": {"/__wildcard/foo": ["/foo"]}}',
      },
    );
    return undefined;
  }
  for (const key of Object.keys(wildcard)) {
    if (key !== 'endpoints' && !isComment(key)) {
      report.error('WILDCARD_FORM', joinPointer(AT, key), `"wildcard" has no field '${key}'`);
    }
  }
  const seen = new Map<string, string>();
  return Object.entries(written).flatMap(([endpoint, list]) => {
    if (isComment(endpoint)) return [];
    const at = joinPointer(AT, 'endpoints', endpoint);
    if (!Array.isArray(list) || list.length === 0) {
      report.error('WILDCARD_PREFIX', at, 'the value must be a list of prefixes', { hint: '["/foo"]' });
      return [];
    }
    return list.flatMap((path, index): Prefix[] => {
      const pointer = joinPointer(at, index);
      if (typeof path !== 'string' || !/^(?:\/[^/{}*?&%:#\\]+)+\/?$/.test(path)) {
        const hint =
          path === '/'
            ? 'an endpoint "/__catchall" answers every request'
            : 'write a prefix such as "/foo", without patterns';
        report.error('WILDCARD_PREFIX', pointer, `${JSON.stringify(path)} is not a valid path prefix`, { hint });
        return [];
      }
      const bare = path.replace(/\/$/, '');
      const other = seen.get(bare);
      if (other !== undefined) {
        report.error('WILDCARD_PREFIX', pointer, `the prefix "${bare}" is repeated`, { related: [other] });
        return [];
      }
      seen.set(bare, pointer);
      return [{ path: bare, endpoint, pointer }];
    });
  });
}

/** Replaces an endpoint by one for each prefix. */
function replace(endpoints: Data[], at: number, prefixes: readonly Prefix[], report: Conversion): void {
  const receiving = endpoints[at] as DataObject;
  const wanting = withoutClients(receiving);
  for (const index of wanting) {
    report.warn(
      'CONFIG_OLD_PLUGIN',
      `/endpoints/${at}/backend/${index}`,
      'the rest of the path is appended here as well, although the backend does not use the client "wildcard"',
    );
  }
  let position = at;
  for (const { path, pointer } of prefixes) {
    for (const served of [`${path}/*`, path]) {
      if (served === path && isDeclared(endpoints, path, receiving['method'])) continue;
      endpoints[position] = { ...copyData(receiving), endpoint: served };
      if (position !== at) report.moved('/endpoints', String(position), String(at));
      position = endpoints.length;
    }
    report.warn(
      'CONFIG_OLD_PLUGIN',
      pointer,
      `the plugins "wildcard" are outdated: they were replaced by endpoints that end in "/*"`,
      {
        hint: `"endpoint": "${path}/*" with the backends of "${String(receiving['endpoint'])}"`,
      },
    );
  }
}

function isDeclared(endpoints: readonly Data[], path: string, method: Data | undefined): boolean {
  return endpoints.some(
    (each) => isObject(each) && each['endpoint'] === path && (each['method'] ?? 'GET') === (method ?? 'GET'),
  );
}

/** Removes the clients named `wildcard` from the backends of an endpoint. @returns positions of the backends without one. */
function withoutClients(endpoint: DataObject): number[] {
  const wanting: number[] = [];
  eachBackend({ endpoints: [endpoint] }, (backend, pointer) => {
    const components = backend['extra_config'];
    const client = isObject(components) ? components[CLIENT] : undefined;
    if (isObject(components) && isObject(client) && client['name'] === 'wildcard') delete components[CLIENT];
    else wanting.push(Number(pointer.slice(pointer.lastIndexOf('/') + 1)));
  });
  return wanting;
}

function isComment(key: string): boolean {
  return /^[@$_#]/.test(key);
}
