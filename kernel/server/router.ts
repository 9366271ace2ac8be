import type { HTTPMethod } from 'find-my-way';
import type { Params, ServiceConfig } from '#contract';
import { encodePathSegment, scheduler } from '../contract/internal.ts';
import type { Route } from '../pipeline/route.ts';
import { AnyMethod, OTHER_METHODS } from './any-method.ts';
import { type Entry, RouteTree } from './route-tree.ts';
import { cleanPath } from './target.ts';
import { moreFixedFirst } from './trie-path.ts';

/** What a request's method and path lead to. */
export type Outcome =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Params }
  | { readonly kind: 'redirect'; readonly path: string; readonly slashOnly: boolean }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'none' };

const none: Outcome = Object.freeze({ kind: 'none' });
const invalidPath: Outcome = Object.freeze({ kind: 'refused', text: 'error: invalid path' });

/**
 * Finds the endpoint of a request in a radix tree: the same cost with ten endpoints as with ten thousand. A router belongs
 * to one configuration; its tree may be that of several, which have the same routes at the same places.
 */
export class Router {
  readonly #config: ServiceConfig;
  readonly #options: ServiceConfig['router'];
  readonly #routes: readonly Route[];
  readonly #prefix: string;
  /** Null before anything is asked for, where that may never be. */
  #tree: RouteTree | null = null;
  #exact!: RouteTree['exact'];
  #fixed!: RouteTree['fixed'];
  #spelling!: RouteTree['spelling'];
  /** The methods that endpoints name; null where none has the method ANY. */
  #named: RouteTree['named'] = null;
  #catchAll: Route | null = null;

  private constructor(config: ServiceConfig, routes: readonly Route[], prefix: string) {
    this.#config = config;
    this.#options = config.router;
    this.#routes = routes;
    this.#prefix = prefix;
  }

  /** As `build`, for a process that may never be asked: the tree is made when something is. */
  static later(config: ServiceConfig, routes: readonly Route[], prefix = ''): Router {
    return new Router(config, routes, prefix);
  }

  /**
   * @param prefix begins the paths of all routes, and is none of what clients ask for.
   * @param before of the configuration before, with the same prefix: its tree is taken where it leads to the same routes.
   */
  static async build(
    config: ServiceConfig,
    routes: readonly Route[],
    prefix = '',
    before: Router | null = null,
  ): Promise<Router> {
    const router = new Router(config, routes, prefix);
    const known = before === null ? null : before.#treeFor(config, routes);
    if (known) router.#use(known);
    else for (const _ of router.#grow()) if (scheduler.due) await scheduler.yield();
    return router;
  }

  /** Makes the tree, one route after another. */
  *#grow(): Generator<undefined, void, undefined> {
    const routes = this.#routes;
    const any = AnyMethod.of(routes);
    const tree = new RouteTree(this.#config, any?.named ?? null);
    const positions = [...routes.keys()];
    const pathOf = (at: number): string => routes[at]!.endpoint.endpoint;
    if (this.#config.disable_rest) positions.sort((one, other) => moreFixedFirst(pathOf(one), pathOf(other)));
    for (const at of positions) {
      const { method } = routes[at]!.endpoint;
      const path = pathOf(at).slice(this.#prefix.length) || '/';
      if (any === null) tree.add(at, method, path);
      else for (const key of any.keysOf(method, pathOf(at))) tree.add(at, key, path);
      yield;
    }
    this.#use(tree);
  }

  #use(tree: RouteTree): void {
    this.#tree = tree;
    this.#exact = tree.exact;
    this.#fixed = tree.fixed;
    this.#spelling = tree.spelling;
    this.#named = tree.named;
    this.#catchAll = this.#routes[tree.catchAll] ?? null;
  }

  #grown(): RouteTree {
    for (const _ of this.#grow());
    return this.#tree!;
  }

  /** The tree, where it leads to these routes as well; else null. */
  #treeFor(config: ServiceConfig, routes: readonly Route[]): RouteTree | null {
    const own = this.#routes;
    if (this.#config.router !== config.router || this.#config.disable_rest !== config.disable_rest) return null;
    const isSame = (route: Route, at: number): boolean => {
      if (own[at] === route) return true;
      const { endpoint } = route;
      const known = own[at]!.endpoint;
      return known === endpoint || (known.endpoint === endpoint.endpoint && known.method === endpoint.method);
    };
    return own.length === routes.length && routes.every(isSame) ? this.#tree : null;
  }

  /**
   * @param path as on the wire. It is decoded once; an encoded slash separates like a plain one.
   */
  find(asked: string, path: string): Outcome {
    if (this.#tree === null) this.#grown();
    const method = this.#named === null || this.#named.has(asked) ? asked : OTHER_METHODS;
    const hasEscapes = path.includes('%');
    let plain = path;
    if (hasEscapes) {
      const decoded = decodePath(path);
      if (decoded === null) return { kind: 'refused', text: `error: invalid URL escape "${badEscape(path)}"` };
      if (decoded.includes('\0')) return invalidPath;
      plain = decoded;
    }
    const cleaned = this.#options.remove_extra_slash ? cleanPath(plain) : plain;
    return cleaned === plain
      ? this.#findClean(method, path, plain, hasEscapes)
      : this.#findClean(method, cleanPath(path, true), cleaned, hasEscapes);
  }

  #findClean(method: string, path: string, plain: string, hasEscapes: boolean): Outcome {
    const at = this.#fixed.get(method)?.get(plain);
    if (at !== undefined) return { kind: 'route', route: this.#routes[at]!, params: {} };
    const match = this.#lookUp(method, plain);
    if (match) {
      const entry = match.store as Entry;
      const params = match.params as Params;
      if (!hasEscapes && entry.names === null && entry.wildcardAt < 0)
        return { kind: 'route', route: this.#routes[entry.at]!, params };
      const outcome = this.#accept(entry, params, path, plain, hasEscapes);
      if (outcome.kind !== 'none') return outcome;
    }
    return this.#catchAll ? this.#catch(this.#catchAll, path, plain, hasEscapes) : this.#miss(method, plain);
  }

  /** A path of which no wildcard would take the rest is not for this one either. */
  #catch(route: Route, path: string, plain: string, hasEscapes: boolean): Outcome {
    if (checkWildcard(path, plain)) return invalidPath;
    const params: Params = { Wildcard: path.slice(1) };
    const text = hasEscapes && !this.#options.disable_path_decoding && encodedTwice(params, plain);
    return text ? { kind: 'refused', text } : { kind: 'route', route, params };
  }

  #lookUp(method: string, plain: string) {
    // The tree decodes once more and stops at `?` and `#`: give it a text in which those stand for themselves.
    const safe = /[%?#]/.test(plain) ? plain.replace(/[%?#]/g, encodeURIComponent) : plain;
    return this.#exact.find(method as HTTPMethod, safe);
  }

  #accept(entry: Entry, match: Params, path: string, plain: string, hasEscapes: boolean): Outcome {
    const params: Params = {};
    if (entry.names === null) Object.assign(params, match);
    else for (const [name, key] of entry.names) setParam(params, key, match[name]!);
    delete params['*'];
    if (entry.wildcardAt >= 0) {
      const refused = checkWildcard(path, plain);
      if (refused) return refused;
      params.Wildcard = rawRemainder(path, entry.wildcardAt);
    }
    if (hasEscapes && !this.#options.disable_path_decoding) {
      const text = encodedTwice(params, match['*']);
      if (text) return { kind: 'refused', text };
    }
    return { kind: 'route', route: this.#routes[entry.at]!, params };
  }

  #miss(method: string, plain: string): Outcome {
    const redirect = this.#redirect(method, plain);
    if (redirect) return redirect;
    const allow = this.#methodsAt(plain);
    if (allow.length > 0 && !this.#options.disable_handle_method_not_allowed) return { kind: 'method', allow };
    return none;
  }

  /** Every method declared for exactly this path, sorted. @param path as on the wire. */
  methodsOf(path: string): string[] {
    const plain = decodePath(path);
    if (plain === null) return [];
    return this.#methodsAt(this.#options.remove_extra_slash ? cleanPath(plain) : plain);
  }

  #methodsAt(plain: string): string[] {
    return [...(this.#tree ?? this.#grown()).methods].filter((method) => this.#matches(method, plain)).sort();
  }

  #redirect(method: string, plain: string): Outcome | null {
    const mendsSlash = !this.#options.disable_redirect_trailing_slash;
    const other = withOtherSlash(plain);
    if (mendsSlash && this.#matches(method, other)) {
      return { kind: 'redirect', path: encodePath(other), slashOnly: true };
    }
    if (!this.#spelling) return null;
    const cleaned = cleanPath(plain);
    for (const other of mendsSlash ? [cleaned, withOtherSlash(cleaned)] : [cleaned]) {
      const path = this.#spelling.find(method, other);
      if (path !== undefined && path !== plain) return { kind: 'redirect', path: encodePath(path), slashOnly: false };
    }
    return null;
  }

  #matches(method: string, plain: string): boolean {
    if (this.#fixed.get(method)?.has(plain)) return true;
    const match = this.#lookUp(method, plain);
    return match !== null && ((match.store as Entry).wildcardAt < 0 || checkWildcard(plain, plain) === null);
  }
}

/** A path with a final slash where it had none, and without where it had one. */
function withOtherSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
}

/** A variable may have any name, that of an object's prototype too. */
function setParam(params: Params, key: string, value: string): void {
  if (key === '__proto__') Object.defineProperty(params, key, { value, enumerable: true });
  else params[key] = value;
}

/** A wildcard never matches a path that names another one: empty and dot segments, backslashes. */
function checkWildcard(path: string, plain: string): Outcome | null {
  if (plain.includes('\\')) return invalidPath;
  if (!/\/[/;]|\/\.{1,2}(?:[/;]|$)/.test(plain)) return null;
  return /\/\.{1,2}(?:[/;]|$)/.test(plain) && /%2e|%2f/i.test(path) ? invalidPath : none;
}

/** What stands behind the wildcard's prefix, as the client encoded it. */
function rawRemainder(path: string, segments: number): string {
  const separator = /\/|%2f/gi;
  for (let count = 0; count <= segments; count++) separator.exec(path);
  return path.slice(separator.lastIndex);
}

/** A value that still holds escapes, or what would end the path, could name another resource. */
function encodedTwice(params: Params, remainder: string | undefined): string | undefined {
  for (const key in params) {
    // A variable may be called so, too.
    const value = (key === 'Wildcard' ? remainder : undefined) ?? params[key]!;
    try {
      if (decodeURIComponent(value) !== value || /[?#]/.test(value)) return 'error: encoded url params';
    } catch {
      return `error: invalid URL escape "${/%.{0,2}/.exec(value)![0]}"`;
    }
  }
  return undefined;
}

/** Null for what is no percent-encoded text. */
function decodePath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

function badEscape(path: string): string {
  return /%(?![0-9a-f]{2}).{0,2}/i.exec(path)?.[0] ?? path;
}

function encodePath(plain: string): string {
  return plain.split('/').map(encodePathSegment).join('/');
}
