import { type DataObject, type EndpointConfig, isObject, type ServiceConfig } from '#contract';

type Components = Readonly<DataObject>;

/** Returns the settings under a namespace, as written; undefined without any. */
export function componentOf(components: Components, namespace: string): DataObject | undefined {
  if (!Object.hasOwn(components, namespace)) return undefined;
  const config = components[namespace];
  return isObject(config) ? config : {};
}

export function has(components: Components, namespace: string): boolean {
  return Object.hasOwn(components, namespace);
}

/** Authentication method of a client. */
export type Credential =
  | { readonly kind: 'bearer' }
  | { readonly kind: 'basic' }
  | { readonly kind: 'header' | 'query' | 'cookie'; readonly of: 'token' | 'key' | 'session'; readonly name: string };

/** Returns the credentials that an endpoint requires, all of them together. */
export function credentialsOf(
  { extra_config: own }: EndpointConfig,
  service: Pick<ServiceConfig, 'extra_config'>,
): readonly Credential[] {
  const around = service.extra_config;
  return [...tokenOf(own), ...sessionOf(own, around), ...keyOf(own, around), ...basicOf(own)];
}

function tokenOf(own: Components): Credential[] {
  const validator = tokenSettings(own);
  if (!validator) return [];
  const { cookie_key: cookie, auth_header_name: header } = validator;
  if (typeof cookie === 'string') return [{ kind: 'cookie', of: 'token', name: cookie }];
  if (typeof header === 'string' && header.toLowerCase() !== 'authorization') {
    return [{ kind: 'header', of: 'token', name: header }];
  }
  return [{ kind: 'bearer' }];
}

/** Returns the name of the session cookie. If a session has several cookies, it is the first one. */
function sessionOf(own: Components, around: Components): Credential[] {
  const login = componentOf(own, 'auth/oidc');
  if (!login) return [];
  const { session, providers } = componentOf(around, 'auth/oidc') ?? {};
  const { cookie_name: name = 'oidc' } = isObject(session) ? session : {};
  const first = Array.isArray(providers) && isObject(providers[0]) ? providers[0]['name'] : '';
  return [{ kind: 'cookie', of: 'session', name: `__Host-${name}.${login['provider'] ?? first}.0` }];
}

/** Settings of the component that checks tokens; undefined without any. */
function tokenSettings(own: Components): DataObject | undefined {
  return componentOf(own, 'auth/validator') ?? componentOf(own, 'auth/introspection');
}

function keyOf(own: Components, around: Components): Credential[] {
  const settings = componentOf(own, 'auth/api-keys');
  if (!settings) return [];
  const { strategy, identifier } = { ...componentOf(around, 'auth/api-keys'), ...settings };
  const kind = strategy === 'query_string' ? 'query' : 'header';
  const usual = kind === 'query' ? 'key' : 'Authorization';
  return [{ kind, of: 'key', name: typeof identifier === 'string' && identifier !== '' ? identifier : usual }];
}

function basicOf(own: Components): Credential[] {
  return has(own, 'auth/basic') ? [{ kind: 'basic' }] : [];
}

/** Describes the required claims of a token, in sentences. */
export function demandsOf({ extra_config: own }: EndpointConfig): string[] {
  const { roles, scopes, scopes_matcher: matcher } = tokenSettings(own) ?? componentOf(own, 'auth/oidc') ?? {};
  return [
    ...(isList(roles) ? [`Requires one of the roles ${roles.join(', ')}.`] : []),
    ...(isList(scopes) ? [`Requires ${matcher === 'all' ? 'all' : 'one'} of the scopes ${scopes.join(', ')}.`] : []),
  ];
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** Returns the statuses with which components of an endpoint may respond instead of its backends. */
export function refusalsOf({ extra_config: own }: EndpointConfig): readonly number[] {
  const statuses = new Set<number>();
  for (const [namespace, answered] of Object.entries(refusing)) {
    if (has(own, namespace)) for (const status of answered) statuses.add(status);
  }
  return [...statuses].sort((a, b) => a - b);
}

const refusing: { readonly [namespace: string]: readonly number[] } = {
  'auth/external': [401, 403, 503],
  'auth/http-signatures': [401],
  'auth/introspection': [401, 403, 503],
  'auth/oidc': [401, 403, 503],
  'auth/validator': [401, 403],
  'auth/api-keys': [401, 403],
  'auth/basic': [401],
  'security/policies': [403],
  'security/bot-detector': [403],
  'validation/json-schema': [400],
  'qos/ratelimit/router': [429],
  'qos/ratelimit/router/redis': [429],
  'qos/ratelimit/tiered': [429],
  'governance/quota': [429],
};
