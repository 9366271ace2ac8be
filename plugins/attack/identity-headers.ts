import type { AttackedEndpoint, AuditedComponent, ServiceConfig } from '#contract';

/** A header by which the gateway passes an identity to backends, and the component that sets it. */
export interface IdentityHeader {
  readonly name: string;
  readonly component: string;
}

type HeadersOf = (component: AuditedComponent, endpoint: AttackedEndpoint) => readonly string[];

const claims: HeadersOf = ({ settings: { propagate_claims: pairs } }) =>
  Array.isArray(pairs) ? pairs.map((pair) => String((pair as readonly unknown[])[1])) : [];

const setters: Readonly<Record<string, HeadersOf>> = {
  'auth/validator': claims,
  'auth/introspection': claims,
  'auth/oidc': claims,
  'auth/external': ({ settings: { response_headers: names } }) => (Array.isArray(names) ? names.map(String) : []),
  'auth/api-keys': (_component, { components }) =>
    components
      .filter(({ namespace }) => namespace === 'auth/api-keys')
      .map(({ settings }) => settings['propagate_role'])
      .filter((name) => typeof name === 'string' && name !== '') as string[],
};

/** Headers that components of an endpoint set in requests to its backends. */
export function identityHeaders(endpoint: AttackedEndpoint): IdentityHeader[] {
  const headers = endpoint.components
    .filter(({ level, namespace }) => level === 'endpoint' && Object.hasOwn(setters, namespace))
    .flatMap((component) =>
      setters[component.namespace]!(component, endpoint).map((name) => ({ name, component: component.namespace })),
    );
  return [...new Map(headers.map((header) => [header.name.toLowerCase(), header])).values()];
}

/** Headers that the gateway itself sets in every request to a backend. */
export function ownHeaders({ router }: ServiceConfig): IdentityHeader[] {
  const names = ['X-Forwarded-For', 'X-Forwarded-Host', ...(router.request_id === '' ? [] : [router.request_id])];
  return names.map((name) => ({ name, component: 'the gateway' }));
}
