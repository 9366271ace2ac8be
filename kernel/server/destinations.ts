import type { OwnRoute, RouterOptions, ServiceConfig } from '#contract';
import type { Compiled } from '../pipeline/compile.ts';
import { OwnRoutes } from './own-routes.ts';
import type { Outcome, Router } from './router.ts';

/** What a request comes to. */
export type Destination =
  | Outcome
  | { readonly kind: 'own'; readonly route: OwnRoute }
  /** `auto_options`: the methods of a declared path. */
  | { readonly kind: 'options'; readonly allow: readonly string[] };

/** Decides by method and path what answers: a path of the gateway's own, a declared endpoint, or neither. */
export class Destinations {
  readonly #router: Router;
  readonly #own: OwnRoutes;
  readonly #options: RouterOptions;

  constructor(router: Router, own: OwnRoutes, options: RouterOptions) {
    this.#router = router;
    this.#own = own;
    this.#options = options;
  }

  find(method: string, path: string): Destination {
    const own = this.#own.find(method, path);
    if (own) return { kind: 'own', route: own };
    const outcome = this.#router.find(method, path);
    if (outcome.kind === 'route') return outcome;
    if (this.#options.auto_options && method === 'OPTIONS') {
      const allow = this.#router.methodsOf(path);
      if (allow.length > 0) return { kind: 'options', allow };
    }
    return outcome.kind === 'none' ? (this.#own.near(path) ?? outcome) : outcome;
  }
}

/** The destinations of a compiled configuration. */
export function destinationsOf({ router: options }: ServiceConfig, { own }: Compiled, router: Router): Destinations {
  const routes = own.map(({ route }) => route);
  return new Destinations(router, new OwnRoutes(routes, options), options);
}
