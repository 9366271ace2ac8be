import { ANY } from '../contract/internal.ts';
import type { Route } from '../pipeline/route.ts';

/** Key of the tree for every method that no endpoint names. The tree accepts only names of HTTP methods. */
export const OTHER_METHODS = 'SOURCE';

/**
 * Expands endpoints with the method ANY: each is found under every method that some endpoint names, except those with an
 * endpoint of the same path, and under `OTHER_METHODS` for the rest.
 */
export class AnyMethod {
  /** Methods with a key of their own in the tree. */
  readonly named: ReadonlySet<string>;
  readonly #owned: ReadonlySet<string>;

  private constructor(routes: readonly Route[]) {
    const own = routes.filter(({ endpoint }) => endpoint.method !== ANY);
    this.named = new Set(own.map(({ endpoint }) => endpoint.method));
    this.#owned = new Set(own.map(({ endpoint }) => keyOf(endpoint.method, endpoint.endpoint)));
  }

  /** @returns null where no route has the method ANY. */
  static of(routes: readonly Route[]): AnyMethod | null {
    return routes.some(({ endpoint }) => endpoint.method === ANY) ? new AnyMethod(routes) : null;
  }

  /** The keys under which an endpoint is found. */
  keysOf(method: string, path: string): string[] {
    if (method !== ANY) return [method];
    return [...[...this.named].filter((each) => !this.#owned.has(keyOf(each, path))), OTHER_METHODS];
  }
}

/** Paths that differ only in the names of their variables are the same. */
function keyOf(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`;
}
