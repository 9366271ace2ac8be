import {
  type AttackedEndpoint,
  type AttackRequest,
  type AuditedComponent,
  copyData,
  type DataObject,
  isObject,
} from '#contract';
import { eachComponent } from '../each-component.ts';
import { withHeader, withQuery } from '../requests.ts';
import { tokenOf } from './tokens.ts';

/** Bcrypt hash of the password of the sandbox's users, with the lowest cost. */
const PASSWORD_HASH = '$2b$04$NMbWpkdGoqpFdoy2CJsOouTvKeo/I7ikS0YhLYRiLA88bBlgJ2UEW';
const PASSWORD = 'attack-password';

/** Names of the two callers, who have equal rights. */
const callers = ['attack-alice', 'attack-bob'] as const;

export type Caller = 0 | 1;

/** Adds a credential to a request, as one component expects it. */
type Identify = (
  component: AuditedComponent,
  endpoint: AttackedEndpoint,
  request: AttackRequest,
  caller: Caller,
) => AttackRequest;

const identifiers: Readonly<Record<string, Identify>> = {
  'auth/validator': ({ settings }, _endpoint, request, caller) =>
    withHeader(request, headerOf(settings), `Bearer ${tokenOf(settings, callers[caller])}`),
  'auth/introspection': ({ settings }, _endpoint, request, caller) =>
    withHeader(request, headerOf(settings), `Bearer ${opaqueToken(callers[caller])}`),
  'auth/external': (_component, _endpoint, request, caller) =>
    withHeader(request, 'Authorization', `Bearer ${opaqueToken(callers[caller])}`),
  'auth/api-keys': ({ settings }, { components }, request, caller) => {
    const service = components.find(({ namespace, level }) => namespace === 'auth/api-keys' && level === 'service');
    const { strategy, identifier } = { ...service?.settings, ...settings };
    if (strategy === 'query_string') return withQuery(request, String(identifier ?? 'key'), keyOf(caller));
    return withHeader(request, String(identifier ?? 'Authorization'), keyOf(caller));
  },
  'auth/basic': (_component, _endpoint, request, caller) => {
    const pair = Buffer.from(`${callers[caller]}:${PASSWORD}`).toString('base64');
    return withHeader(request, 'Authorization', `Basic ${pair}`);
  },
};

/** Adds the credentials of a caller that the components of an endpoint require. */
export function identify(endpoint: AttackedEndpoint, request: AttackRequest, caller: Caller): AttackRequest {
  return endpoint.components
    .filter(({ level, namespace }) => level === 'endpoint' && Object.hasOwn(identifiers, namespace))
    .reduce((made, component) => identifiers[component.namespace]!(component, endpoint, made, caller), request);
}

function headerOf(settings: Readonly<DataObject>): string {
  return String(settings['auth_header_name'] ?? 'Authorization');
}

function opaqueToken(caller: string): string {
  return `opaque-token-of-${caller}`;
}

/** Name of the caller that an opaque token belongs to; undefined for any other text. */
export function callerOf(token: string): string | undefined {
  return callers.find((caller) => opaqueToken(caller) === token);
}

function keyOf(caller: Caller): string {
  return `api-key-of-${callers[caller]}`;
}

/** Changes to settings of components, so that the credentials of the sandbox are valid. */
const admissions: Readonly<Record<string, (settings: DataObject, roles: readonly string[]) => void>> = {
  'auth/validator': (settings) => {
    for (const field of ['jwk_local_path', 'secret_url', 'cypher_key', 'jwk_fingerprints', 'jwk_local_ca']) {
      delete settings[field];
    }
    if (settings['alg'] !== undefined) settings['jwk_url'] = keyAddress(String(settings['alg']));
  },
  'auth/api-keys': (settings, roles) => {
    if (!Array.isArray(settings['keys'])) return;
    const isPlain = settings['hash'] === undefined || settings['hash'] === 'plain';
    const known = isPlain ? settings['keys'] : [];
    settings['hash'] = 'plain';
    settings['keys'] = [...known, ...([0, 1] as const).map((caller) => ({ key: keyOf(caller), roles: [...roles] }))];
  },
  'auth/basic': (settings) => {
    const users = Object.fromEntries(callers.map((name) => [name, PASSWORD_HASH]));
    settings['users'] = { ...(isObject(settings['users']) ? settings['users'] : {}), ...users };
  },
};

/** Address of the sandbox's key set for an algorithm. */
function keyAddress(alg: string): string {
  return `https://keys.attack.invalid/${alg}`;
}

/** Copies a configuration, with the credentials of the sandbox. */
export function admit(document: DataObject, endpoints: readonly AttackedEndpoint[]): DataObject {
  const copy = copyData(document);
  const roles = new Set<string>();
  for (const { components } of endpoints) {
    for (const { namespace, settings } of components) {
      if (namespace === 'auth/api-keys') for (const role of [settings['roles'] ?? []].flat()) roles.add(String(role));
    }
  }
  eachComponent(copy, new Set(Object.keys(admissions)), (settings, namespace) => {
    admissions[namespace]!(settings, [...roles]);
  });
  return copy;
}

/** Placeholders of the credentials in printed requests. */
export function shownCredentials(endpoints: readonly AttackedEndpoint[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const [at, suffix] of [
    [0, ''],
    [1, '_OF_ANOTHER'],
  ] as const) {
    shown.set(keyOf(at), `$API_KEY${suffix}`);
    shown.set(opaqueToken(callers[at]), `$TOKEN${suffix}`);
    shown.set(Buffer.from(`${callers[at]}:${PASSWORD}`).toString('base64'), `$PASSWORD${suffix}`);
    for (const { components } of endpoints) {
      for (const { namespace, settings } of components) {
        if (namespace === 'auth/validator' && settings['alg'] !== undefined) {
          shown.set(tokenOf(settings, callers[at]), `$TOKEN${suffix}`);
        }
      }
    }
  }
  return shown;
}
