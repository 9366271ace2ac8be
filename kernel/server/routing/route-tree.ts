import createFindMyWay, { type HTTPMethod, type Instance } from 'find-my-way';
import { paramKey, type ServiceConfig } from '#contract';
import { OTHER_METHODS } from './any-method.ts';
import { CaseInsensitivePaths } from './case-insensitive-paths.ts';
import { triePath } from './trie-path.ts';

/** Data of one route in the tree, to read its variables from a match. */
export interface Entry {
  /** Index of the route in the configuration. */
  readonly at: number;
  /** Path in the syntax of the routing tree. */
  readonly path: string;
  /** Variable names in the tree and keys in `Params`; null when they are the same. */
  readonly names: readonly (readonly [string, string])[] | null;
  /** Number of segments before the wildcard; -1 for no wildcard. */
  readonly wildcardAt: number;
}

/** Pattern of paths that the tree would match literally, so that they do not need it. */
const FIXED = /^[\w./~-]+$/;

/** Empty options, shared by all routes. */
const noOptions = {};

function ignored(): void {}

/**
 * Routing tree of a configuration, which maps requests to route indexes. Filled before it is published, never changed
 * afterward.
 */
export class RouteTree {
  readonly exact: Instance<never>;
  /** Paths without variables, by method. They take precedence over all others and are found without the tree. */
  readonly fixed = new Map<string, Map<string, number>>();
  /** Lookup for redirects to the declared spelling; null when these redirects are off. */
  readonly spelling: CaseInsensitivePaths | null;
  /** The methods that endpoints declare; null when no endpoint has the method ANY. */
  readonly named: ReadonlySet<string> | null;
  /** Methods considered for 405 responses. */
  readonly methods = new Set<string>();
  catchAll = -1;

  constructor(config: ServiceConfig, named: RouteTree['named']) {
    this.named = named;
    // The tree's safety check of regular expressions is disabled: all expressions come from `triePath`, and run in
    // linear time.
    const tree = { maxParamLength: 1_000_000, querystringParser: ignored, allowUnsafeRegex: true };
    this.exact = createFindMyWay(tree) as unknown as Instance<never>;
    this.spelling = config.router.disable_redirect_fixed_path ? null : new CaseInsensitivePaths();
  }

  add(at: number, method: string, pattern: string): void {
    if (pattern === '/__catchall') {
      this.catchAll = at;
      return;
    }
    if (method !== OTHER_METHODS) this.methods.add(method);
    this.spelling?.add(method, pattern);
    if (FIXED.test(pattern)) {
      const paths = this.fixed.get(method) ?? new Map<string, number>();
      this.fixed.set(method, paths.set(pattern, at));
      return;
    }
    const names: [string, string][] = [];
    const path = triePath(pattern, (name) => {
      const plain = /^[a-z]\w*$/i.test(name) ? paramKey(name) : `p${names.length}`;
      names.push([plain, paramKey(name)]);
      return plain;
    });
    const entry: Entry = {
      at,
      path,
      names: names.every(([plain, key]) => plain === key) ? null : names,
      wildcardAt: pattern.endsWith('/*') ? pattern.split('/').length - 2 : -1,
    };
    this.exact.on(method as HTTPMethod, path, noOptions, ignored, entry);
  }
}
