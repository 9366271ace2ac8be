import type { EndpointConfig } from '#contract';

/** Matches the variables in a path segment. */
const VARIABLE = /\{([^{}]*)\}/g;

/** Returns whether an endpoint is served by the gateway itself, or is the catch-all, which has no path. */
export function isInternal({ endpoint }: EndpointConfig): boolean {
  return endpoint.startsWith('/__');
}

/** Methods that describe an endpoint that serves all methods. */
const DESCRIBED_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Returns the endpoints with their positions. An endpoint that serves all methods is replaced by several, one for each
 * common method that has no endpoint of its own on the same path.
 */
export function describedEndpoints(endpoints: readonly EndpointConfig[]): [index: number, endpoint: EndpointConfig][] {
  const keyOf = (method: string, path: string) => `${method} ${withVariables(path, () => '{}')}`;
  const own = new Set(endpoints.map(({ method, endpoint }) => keyOf(method, endpoint)));
  return endpoints.flatMap((endpoint, index): [number, EndpointConfig][] =>
    endpoint.method === 'ANY'
      ? DESCRIBED_METHODS.filter((method) => !own.has(keyOf(method, endpoint.endpoint))).map((method) => [
          index,
          { ...endpoint, method } as EndpointConfig,
        ])
      : [[index, endpoint]],
  );
}

/** Returns the names of the variables of a path, in order. */
export function variablesOf(path: string): string[] {
  return [...path.matchAll(VARIABLE)].map(([, name]) => name!);
}

/** Returns the path with each variable formatted by a function. */
export function withVariables(path: string, write: (name: string) => string): string {
  return path.replace(VARIABLE, (_, name: string) => write(name));
}

/** Returns the path with a trailing `/*` replaced by a variable named `wildcard`. */
export function plainPath({ endpoint }: EndpointConfig): string {
  return endpoint.replace(/\/\*$/, '/{wildcard}');
}

export function isWildcard({ endpoint }: EndpointConfig): boolean {
  return endpoint.endsWith('/*');
}

/** Returns the names that a forwarding list contains individually. */
export function namesIn(list: readonly string[]): string[] {
  return list.filter((name) => name !== '*' && name !== '');
}

/** Returns whether requests with the method usually have a body. */
export function takesBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH' || method === 'QUERY';
}
