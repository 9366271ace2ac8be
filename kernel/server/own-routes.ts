import type { OwnRoute, RouterOptions } from '#contract';
import type { Outcome } from './router.ts';

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
