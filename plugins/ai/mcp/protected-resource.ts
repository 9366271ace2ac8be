import { type AtService, type Head, HeaderBag, type OwnRoute, Reply, type Site } from '#contract';
import type { McpConfig } from './schema.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Routes of the metadata documents, and the hook that refers clients to them. */
type Guidance = Pick<AtService, 'routes' | 'head'>;

interface Described {
  readonly url: string;
  readonly route: OwnRoute;
}

/**
 * Publishes where clients can get tokens for servers that require them (RFC 9728): a metadata document for each server,
 * and its URL in the `WWW-Authenticate` header of 401 responses.
 * @throws ConfigError MCP_RESOURCE.
 */
export function guideClients(site: Site<McpConfig>): Guidance {
  const described = new Map<string, Described>();
  const paths = new Set<string>();
  for (const [index, { name, protected_resource: resource }] of site.config.servers.entries()) {
    if (!resource) continue;
    const pointer = `/servers/${index}/protected_resource`;
    const { origin, pathname } = addressOf(site, resource.resource, `${pointer}/resource`);
    for (const [at, issuer] of resource.authorization_servers.entries()) {
      addressOf(site, issuer, `${pointer}/authorization_servers/${at}`);
    }
    const path = `${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
    if (paths.has(path)) {
      throw site.fault(
        'MCP_RESOURCE',
        `${pointer}/resource`,
        'duplicate path: another server has the same resource path',
      );
    }
    paths.add(path);
    const { scopes_supported: scopes, ...fields } = resource;
    const document = { ...fields, ...(scopes.length > 0 && { scopes_supported: scopes }) };
    described.set(name, {
      url: `${origin}${path}`,
      route: documentRoute(path, `Authorization servers of the MCP server ${name}.`, JSON.stringify(document)),
    });
  }
  if (described.size === 0) return {};
  return {
    routes: Array.from(described.values(), ({ route }) => route),
    head(head, request) {
      if (head.status !== 401) return;
      const config = request.match()?.extra_config['ai/mcp'] as { readonly server_name: string } | undefined;
      const url = config && described.get(config.server_name)?.url;
      if (url) challenge(head, url);
    },
  };
}

function challenge({ headers }: Head, url: string): void {
  // A challenge that consists only of `Bearer` is removed, because the added challenge has the same scheme.
  if (headers.get('www-authenticate') === 'Bearer') headers.delete('www-authenticate');
  headers.append('WWW-Authenticate', `Bearer resource_metadata="${url}"`);
}

function addressOf(site: Site<McpConfig>, text: string, pointer: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && !/["\\]/.test(text)) return url;
  throw site.fault('MCP_RESOURCE', pointer, `"${text}" is not an http:// or https:// URL without a query`);
}

function documentRoute(path: string, description: string, text: string): OwnRoute {
  return {
    method: 'GET',
    path,
    description,
    handle() {
      const reply = Reply.raw(200, new HeaderBag(['Content-Type', 'application/json']), Buffer.from(text));
      reply.headers.append('Access-Control-Allow-Origin', '*');
      reply.complete = null;
      return reply;
    },
  };
}
