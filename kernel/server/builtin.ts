import { type ClientRequest, canonicalHeaderName, type Log, Query } from '#contract';
import type { Answer, Rendering } from '../pipeline/render.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Outcome } from './router.ts';

/** An endpoint of the gateway's own. */
export type BuiltIn = (request: ClientRequest) => Answer | Promise<Answer>;

/** The gateway's own endpoints. */
export interface BuiltIns {
  /** The one for a path; undefined when there is none. */
  find(method: string, path: string): BuiltIn | undefined;
  /** For a path no declared endpoint takes: what is off by a slash or has another method; undefined for neither. */
  near(path: string): Exclude<Outcome, { kind: 'route' }> | undefined;
}

/** Compiles which of health, debug and echo are served (routing rule 12). They stand before declared endpoints. */
export function createBuiltIns(
  { config, health: told }: Pick<Runtime, 'config' | 'health'>,
  rendering: Rendering,
  log: Log,
): BuiltIns {
  const json = (body: unknown): Answer => ({
    status: 200,
    headers: ['Content-Type', 'application/json; charset=utf-8', 'X-Gateway', rendering.version],
    body: JSON.stringify(body),
  });
  const health: BuiltIn = () => {
    const agents = Object.fromEntries([...told].map(([name, check]) => [name, check()]));
    return json({ agents, now: new Date().toISOString(), status: 'ok' });
  };
  const debugLog = log.at('[ENDPOINT: /__debug/*]');
  const debug: BuiltIn = async (request) => {
    await logRequest(request, debugLog);
    return json({ message: 'pong' });
  };
  const echo: BuiltIn = async (request) => json(await describe(request));
  const { health_path: healthPath, disable_health: noHealth, ...options } = config.router;
  const redirects = !options.disable_redirect_trailing_slash || !options.disable_redirect_fixed_path;
  const find = (method: string, path: string): BuiltIn | undefined => {
    if (path === healthPath) return !noHealth && method === 'GET' ? health : undefined;
    if (path.charCodeAt(1) !== 95) return undefined;
    if (config.debug_endpoint && path.startsWith('/__debug/')) return debug;
    if (config.echo_endpoint && path.startsWith('/__echo/')) return echo;
    return undefined;
  };
  return {
    find,
    near(path) {
      if (find('GET', path)) {
        return options.disable_handle_method_not_allowed ? undefined : { kind: 'method', allow: ['GET'] };
      }
      if (!redirects) return undefined;
      const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
      return find('GET', other) && { kind: 'redirect', path: other, slashOnly: true };
    },
  };
}

async function logRequest(request: ClientRequest, log: Log): Promise<void> {
  const body = request.body ? Buffer.from(await request.body.bytes()).toString() : '';
  log.debug(`Method: ${request.method}`);
  log.debug(`URL: ${target(request)}`);
  log.debug(() => `Query: ${JSON.stringify(Object.fromEntries(request.query))}`);
  log.debug(() => `Params: ${JSON.stringify({ param: request.path.slice('/__debug'.length) })}`);
  log.debug(() => `Headers: ${JSON.stringify(headerLists(request, true))}`);
  log.debug(`Body: ${body}`);
}

async function describe(request: ClientRequest): Promise<object> {
  return {
    req_uri: target(request),
    req_uri_details: { user: '', host: request.host, path: request.path, query: request.search, fragment: '' },
    req_method: request.method,
    req_querystring: Object.fromEntries(Query.parse(request.search)),
    req_body: request.body ? Buffer.from(await request.body.bytes()).toString() : '',
    req_headers: headerLists(request, false),
  };
}

function target(request: ClientRequest): string {
  return request.search === '' ? request.path : `${request.path}?${request.search}`;
}

const credentials = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key']);

function headerLists(request: ClientRequest, masked: boolean): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [name, value] of request.headers) {
    const shown = masked && credentials.has(name.toLowerCase()) ? '***' : value;
    const canonical = canonicalHeaderName(name);
    const list = lists.get(canonical);
    if (list) list.push(shown);
    else lists.set(canonical, [shown]);
  }
  return Object.fromEntries(lists);
}
