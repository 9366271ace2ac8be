import type { ClientRequest, Infer, Schema, Site, Wrap } from '#contract';

export const schema = {
  type: 'object',
  description: 'Settings of `url-rewrite`, which rewrites request paths before they are matched to endpoints.',
  properties: {
    literal: {
      type: 'object',
      values: { type: 'string' },
      description: 'Mapping of complete request paths to replacement paths.',
      examples: [{ '/hi': '/hello' }],
    },
    regexp: {
      type: 'array',
      items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string' } },
      description:
        'Pairs of a regular expression (RE2) and its replacement in the path, where `$1` inserts a group. The first match applies.',
      examples: [[['^/u-([a-z]+)$', '/users/$1']]],
    },
  },
} as const satisfies Schema;

export type UrlRewriteConfig = Infer<typeof schema>;

/**
 * Compiles the rewriting of paths before routing. The access log shows the original path.
 * @param pointer to its settings.
 * @throws ConfigError URL_REWRITE_EMPTY, URL_REWRITE_PATH, PATTERN_INVALID.
 */
export function rewriting(site: Site<unknown>, config: UrlRewriteConfig, pointer: string): Wrap<ClientRequest> {
  const { literal, regexp } = config;
  if (!literal && !regexp) {
    throw site.fault('URL_REWRITE_EMPTY', pointer, 'no rewrites are configured', {
      hint: 'add "literal" or "regexp"',
    });
  }
  const requirePath = (text: string, at: string) => {
    if (text.startsWith('/')) return;
    throw site.fault('URL_REWRITE_PATH', pointer + at, `"${text}" does not start with "/"`, { hint: `"/${text}"` });
  };
  const paths = new Map(Object.entries(literal ?? {}));
  for (const [from, to] of paths) {
    const at = `/literal/${from.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    requirePath(from, at);
    requirePath(to, at);
  }
  const rules = (regexp ?? []).map(([source, replacement], index) => {
    const pattern = site.pattern(source!, `${pointer}/regexp/${index}/0`);
    requirePath(replacement!, `/regexp/${index}/1`);
    return { pattern, replace: pattern.replacer(replacement!) };
  });
  const rewritten = (path: string): string | undefined => {
    if (suspicious.test(path)) return undefined;
    const whole = paths.get(path);
    if (whole !== undefined) return whole;
    return rules.find(({ pattern }) => pattern.test(path))?.replace(path);
  };
  const log = site.log.at('[PLUGIN: url-rewrite]');
  return (next) => (request, call) => {
    const path = rewritten(decoded(request.path));
    if (path === undefined) return next(request, call);
    log.debug(() => `${request.path} is rewritten to ${path}`);
    return next(request.with({ path: encoded(path) }), call);
  };
}

/** Paths that the gateway rejects or redirects are passed through unchanged, never rewritten. */
const suspicious = /(?:^|\/)\.{1,2}(?:\/|$)|[\0\\]/;

/** Paths are decoded for routing. A path with an invalid encoding stays unchanged and matches no endpoint. */
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function encoded(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}
