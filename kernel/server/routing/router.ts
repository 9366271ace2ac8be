import type { HTTPMethod } from 'find-my-way';
import type { Params, ServiceConfig } from '#contract';
import { encodePathSegment, scheduler } from '../../contract/internal.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import { AnyMethod, OTHER_METHODS } from './any-method.ts';
import { type Entry, RouteTree } from './route-tree.ts';
import { cleanPath } from './target.ts';
import { moreFixedFirst } from './trie-path.ts';

/** Result of looking up a request's method and path. */
export type Outcome =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Params }
  | { readonly kind: 'redirect'; readonly path: string; readonly slashOnly: boolean }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'none' };

const none: Outcome = Object.freeze({ kind: 'none' });
const invalidPath: Outcome = Object.freeze({ kind: 'refused', text: 'error: invalid path' });

/**
 * Finds the endpoint of a request in a radix tree, at the same cost with ten endpoints or ten thousand. A router
 * belongs to one configuration; its tree may be shared by several that have the same routes in the same order.
 */
export class Router {
  readonly #config: ServiceConfig;
  readonly #options: ServiceConfig['router'];
  readonly #routes: readonly Route[];
  readonly #prefix: string;
  /** Null until the first lookup, if the router is built on demand. */
  #tree: RouteTree | null = null;
  #exact!: RouteTree['exact'];
  #fixed!: RouteTree['fixed'];
  #spelling!: RouteTree['spelling'];
  /** The methods that endpoints declare; null when no endpoint has the method ANY. */
  #named: RouteTree['named'] = null;
  #catchAll: Route | null = null;

  private constructor(config: ServiceConfig, routes: readonly Route[], prefix: string) {
    this.#config = config;
    this.#options = config.router;
    this.#routes = routes;
    this.#prefix = prefix;
  }

  /** Like `build`, for a process that may never route a request: the tree is built on the first lookup. */
  static later(config: ServiceConfig, routes: readonly Route[], prefix = ''): Router {
    return new Router(config, routes, prefix);
  }

  /**
   * @param prefix start of the paths of all routes; not part of the paths that clients request.
   * @param before router of the previous configuration with the same prefix: its tree is reused if it has the same
   * routes.
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

  /** Builds the tree, one route per step. */
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

  /** Returns the tree if it is valid for these routes too; otherwise null. */
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

  /** @param path as sent. It is decoded once; an encoded slash is a separator like a plain one. */
  find(requestMethod: string, path: string): Outcome {
    if (this.#tree === null) this.#grown();
    const method = this.#named === null || this.#named.has(requestMethod) ? requestMethod : OTHER_METHODS;
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

  /** Applies the catch-all endpoint, which rejects the same paths as a wildcard. */
  #catch(route: Route, path: string, plain: string, hasEscapes: boolean): Outcome {
    if (checkWildcard(path, plain)) return invalidPath;
    const params: Params = { Wildcard: path.slice(1) };
    const text = hasEscapes && !this.#options.disable_path_decoding && encodedTwice(params, plain);
    return text ? { kind: 'refused', text } : { kind: 'route', route, params };
  }

  #lookUp(method: string, plain: string) {
    // The tree decodes the path once more and stops at `?` and `#`, so these characters are encoded to be matched
    // literally.
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

  /** Returns every method declared for exactly this path, sorted. @param path as sent. */
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

/** Adds a trailing slash to a path without one, or removes it. */
function withOtherSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
}

/** A variable may have any name, including that of a property of an object's prototype. */
function setParam(params: Params, key: string, value: string): void {
  if (key === '__proto__') Object.defineProperty(params, key, { value, enumerable: true });
  else params[key] = value;
}

/** Rejects wildcard matches for ambiguous paths: with empty segments, dot segments or backslashes. */
function checkWildcard(path: string, plain: string): Outcome | null {
  if (plain.includes('\\')) return invalidPath;
  if (!/\/[/;]|\/\.{1,2}(?:[/;]|$)/.test(plain)) return null;
  return /\/\.{1,2}(?:[/;]|$)/.test(plain) && /%2e|%2f/i.test(path) ? invalidPath : none;
}

/** Returns the part of the path matched by the wildcard, as encoded by the client. */
function rawRemainder(path: string, segments: number): string {
  const separator = /\/|%2f/gi;
  for (let count = 0; count <= segments; count++) separator.exec(path);
  return path.slice(separator.lastIndex);
}

/** Returns an error for a value that still contains escapes, `?` or `#`, as it could name another resource. */
function encodedTwice(params: Params, remainder: string | undefined): string | undefined {
  for (const key in params) {
    // A declared variable may also have the name of the wildcard parameter.
    const value = (key === 'Wildcard' ? remainder : undefined) ?? params[key]!;
    try {
      if (decodeURIComponent(value) !== value || /[?#]/.test(value)) return 'error: encoded url params';
    } catch {
      return `error: invalid URL escape "${/%.{0,2}/.exec(value)![0]}"`;
    }
  }
  return undefined;
}

/** Decodes a path; null when its percent-encoding is invalid. */
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
