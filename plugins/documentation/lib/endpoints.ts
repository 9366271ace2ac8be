import type { EndpointConfig } from '#contract';

/** A segment of a path that may hold variables, and where each stands. */
const VARIABLE = /\{([^{}]*)\}/g;

/** True for what the gateway answers by itself, and for the catch-all, which has no path. */
export function isInternal({ endpoint }: EndpointConfig): boolean {
  return endpoint.startsWith('/__');
}

/** The methods that an endpoint for every method is described with. */
const DESCRIBED_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * The endpoints with their positions. In place of one for every method come several, each for a usual method without an
 * endpoint of its own on the same path.
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

/** Names of the variables of a path, in order. */
export function variablesOf(path: string): string[] {
  return [...path.matchAll(VARIABLE)].map(([, name]) => name!);
}

/** The path with each variable written by a function. */
export function withVariables(path: string, write: (name: string) => string): string {
  return path.replace(VARIABLE, (_, name: string) => write(name));
}

/** The path in whose place `/*` at the end is a variable named `wildcard`. */
export function plainPath({ endpoint }: EndpointConfig): string {
  return endpoint.replace(/\/\*$/, '/{wildcard}');
}

export function isWildcard({ endpoint }: EndpointConfig): boolean {
  return endpoint.endsWith('/*');
}

/** Names that a list lets through one by one. */
export function namesIn(list: readonly string[]): string[] {
  return list.filter((name) => name !== '*' && name !== '');
}

/** True for methods whose requests usually have a body. */
export function takesBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
