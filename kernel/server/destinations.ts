import type { OwnRoute, RouterOptions, ServiceConfig } from '#contract';
import type { Compiled } from '../pipeline/compile.ts';
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

/** The paths that plugins answer themselves. They stand before declared endpoints. */
export class OwnRoutes {
  readonly #exact = new Map<string, OwnRoute[]>();
  readonly #below: { readonly prefix: string; readonly route: OwnRoute }[] = [];
  readonly #options: RouterOptions;

  constructor(routes: readonly OwnRoute[], options: RouterOptions) {
    this.#options = options;
    for (const route of routes) {
      if (route.path.endsWith('/*')) this.#below.push({ prefix: route.path.slice(0, -1), route });
      else this.#exact.set(route.path, [...(this.#exact.get(route.path) ?? []), route]);
    }
  }

  find(method: string, path: string): OwnRoute | undefined {
    const exact = this.#exact.get(path);
    if (exact) return exact.find((route) => takes(route, method));
    return this.#below.find(({ prefix, route }) => path.startsWith(prefix) && takes(route, method))?.route;
  }

  /** For a path that no endpoint takes: what is off by a slash or has another method; undefined for neither. */
  near(path: string): Exclude<Outcome, { kind: 'route' }> | undefined {
    const allow = this.#methodsOf(path);
    if (allow.length > 0) {
      return this.#options.disable_handle_method_not_allowed ? undefined : { kind: 'method', allow };
    }
    const { disable_redirect_trailing_slash: noSlash, disable_redirect_fixed_path: noFix } = this.#options;
    if (noSlash && noFix) return undefined;
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    return this.#has(other) ? { kind: 'redirect', path: other, slashOnly: true } : undefined;
  }

  #methodsOf(path: string): string[] {
    const here = [
      ...(this.#exact.get(path) ?? []),
      ...this.#below.filter(({ prefix }) => path.startsWith(prefix)).map(({ route }) => route),
    ];
    return [...new Set(here.flatMap(({ method }) => method ?? []))];
  }

  #has(path: string): boolean {
    return this.#exact.has(path) || this.#below.some(({ prefix }) => path.startsWith(prefix));
  }
}

function takes({ method }: OwnRoute, asked: string): boolean {
  return method === undefined || method === asked;
}
