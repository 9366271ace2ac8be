import { ANY } from '../../contract/internal.ts';
import type { Route } from '../../pipeline/compile/route.ts';

/** Router key for all methods that no endpoint declares. The router accepts only known HTTP method names as keys. */
export const OTHER_METHODS = 'SOURCE';

/**
 * Expands endpoints with the method ANY: each is registered under every method that some endpoint declares, except
 * those with an endpoint of the same path, and under `OTHER_METHODS` for the rest.
 */
export class AnyMethod {
  /** Methods with their own key in the router. */
  readonly named: ReadonlySet<string>;
  readonly #owned: ReadonlySet<string>;

  private constructor(routes: readonly Route[]) {
    const own = routes.filter(({ endpoint }) => endpoint.method !== ANY);
    this.named = new Set(own.map(({ endpoint }) => endpoint.method));
    this.#owned = new Set(own.map(({ endpoint }) => keyOf(endpoint.method, endpoint.endpoint)));
  }

  /** @returns null when no route has the method ANY. */
  static of(routes: readonly Route[]): AnyMethod | null {
    return routes.some(({ endpoint }) => endpoint.method === ANY) ? new AnyMethod(routes) : null;
  }

  /** Router keys under which an endpoint is registered. */
  keysOf(method: string, path: string): string[] {
    if (method !== ANY) return [method];
    return [...[...this.named].filter((each) => !this.#owned.has(keyOf(each, path))), OTHER_METHODS];
  }
}

/** Key of a method and path. Paths that differ only in variable names have the same key. */
function keyOf(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`;
}
