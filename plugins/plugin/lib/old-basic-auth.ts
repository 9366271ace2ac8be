import { type Conversion, type Data, type DataObject, isObject, joinPointer } from '#contract';
import { takeServer } from './named-server.ts';

const SERVER = 'plugin/http-server';
const BASIC = 'auth/basic';
const AT = joinPointer('', 'extra_config', SERVER, 'basic-auth');

/**
 * Converts KrakenD's `basic-auth` plugin to `auth/basic`: the users at the root, and the component at
 * every endpoint that it lists. Existing settings take precedence.
 * Codes: BASIC_FORM, BASIC_ENDPOINT; a warning CONFIG_OLD_PLUGIN.
 */
export function convertBasicAuth(document: DataObject, report: Conversion): void {
  const server = takeServer(document, 'basic-auth');
  if (!server) return;
  const { components, settings } = server;
  if (!isObject(settings)) {
    report.error(
      'BASIC_FORM',
      joinPointer('', 'extra_config', SERVER),
      '"basic-auth" needs "htpasswd_path" or "users"',
      {
        hint: '"basic-auth": {"htpasswd_path": "/etc/sluice/.htpasswd", "endpoints": ["*"]}',
      },
    );
    return;
  }
  const { endpoints, ...users } = settings;
  const present = components[BASIC];
  components[BASIC] = isObject(present) ? { ...users, ...present } : users;
  if (present === undefined) report.moved('/extra_config', BASIC, SERVER, 'basic-auth');
  protect(document['endpoints'], endpoints ?? ['*'], report);
  report.warn('CONFIG_OLD_PLUGIN', AT, `the plugin "basic-auth" is outdated: it was replaced by "${BASIC}"`, {
    hint: `add "${BASIC}": {} to each endpoint, and the users at the root`,
  });
}

/** @param named declared endpoint paths, or `*` for all endpoints. */
function protect(endpoints: Data | undefined, named: Data, report: Conversion): void {
  const declared = Array.isArray(endpoints) ? endpoints.filter(isObject) : [];
  if (!Array.isArray(named)) {
    report.error('BASIC_FORM', joinPointer(AT, 'endpoints'), '"endpoints" is a list of paths', { hint: '["*"]' });
    return;
  }
  const isAll = named.includes('*');
  for (const [index, path] of named.entries()) {
    if (path === '*' || declared.some(({ endpoint }) => endpoint === path)) continue;
    report.error(
      'BASIC_ENDPOINT',
      joinPointer(AT, 'endpoints', index),
      `endpoint ${JSON.stringify(path)} does not exist`,
    );
  }
  for (const endpoint of declared) {
    if (!isAll && !named.includes(endpoint['endpoint']!)) continue;
    const own = endpoint['extra_config'];
    if (own !== undefined && !isObject(own)) continue;
    endpoint['extra_config'] = { [BASIC]: {}, ...own };
  }
}
