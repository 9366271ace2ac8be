import { answering } from './answering.ts';
import type { Attached } from './scenario.ts';

/** URL of a server that accepts every request, like an authorization server that knows every token. */
const server = (folder: string) => answering(folder, `() => ({ active: true, sub: 'ada', scope: 'read write' })`);

const headers = Array.from({ length: 1000 }, (_, at) => ({ authorization: `Bearer of-the-benchmark-${at}` }));

/** Forward authorization in which the server decides on each request. */
export function forwardAuth(folder: string): Attached {
  return { endpoint: { 'auth/external': { url: server(folder), response_headers: ['X-User'] } }, headers };
}

/** Forward authorization with cached decisions. */
export function forwardAuthCached(folder: string): Attached {
  const cached = { cache_ttl: '1h', cache_headers: ['Authorization'], response_headers: ['X-User'] };
  return { endpoint: { 'auth/external': { url: server(folder), ...cached } }, headers };
}

/** Token introspection with cached responses. */
export function introspection(folder: string): Attached {
  const client = { client_id: 'bench', client_secret: 'bench' };
  return {
    endpoint: { 'auth/introspection': { introspection_url: server(folder), ...client, scopes: ['read'] } },
    headers,
  };
}

/** Token introspection in which the authorization server decides on each request. */
export function introspectionUncached(folder: string): Attached {
  const client = { client_id: 'bench', client_secret: 'bench', cache_ttl: '0s' };
  return { endpoint: { 'auth/introspection': { introspection_url: server(folder), ...client } }, headers };
}
