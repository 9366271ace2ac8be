import createFindMyWay, { type HTTPMethod, type Instance } from 'find-my-way';
import { paramKey, type ServiceConfig } from '#contract';
import { OTHER_METHODS } from './any-method.ts';
import { CaseInsensitivePaths } from './case-insensitive-paths.ts';
import { triePath } from './trie-path.ts';

/** How one route's variables are read from what the tree found. */
export interface Entry {
  /** Position of the route among those of the configuration. */
  readonly at: number;
  /** As the tree has it. */
  readonly path: string;
  /** Name in the tree and key in `Params`; null when they are the same. */
  readonly names: readonly (readonly [string, string])[] | null;
  /** Segments before the wildcard; -1 for none. */
  readonly wildcardAt: number;
}

/** Paths that mean to the tree what they are. */
const FIXED = /^[\w./~-]+$/;

/** One for all routes: each keeps its own. */
const noOptions = {};

function ignored(): void {}

/** Where the routes of a configuration are found, by their positions: filled before it is published, never changed after. */
export class RouteTree {
  readonly exact: Instance<never>;
  /** Paths without variables: they come before all others, and need no tree. By method. */
  readonly fixed = new Map<string, Map<string, number>>();
  /** For redirects to the declared spelling; null when those are off. */
  readonly spelling: CaseInsensitivePaths | null;
  /** The methods that endpoints name; null where none has the method ANY. */
  readonly named: ReadonlySet<string> | null;
  /** The methods of 405 responses. */
  readonly methods = new Set<string>();
  catchAll = -1;

  constructor(config: ServiceConfig, named: RouteTree['named']) {
    this.named = named;
    // The only expressions are those of `triePath`, whose time grows with the segment: there is nothing to look for in them.
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
