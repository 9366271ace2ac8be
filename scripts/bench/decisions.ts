import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { start } from './children.ts';
import type { Attached } from './scenario.ts';

/** Source of a server that accepts every request, like an authorization server that knows every token. */
const program = `
require('node:http').createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json', 'X-User': 'ada' });
  response.end('{"active":true,"sub":"ada","scope":"read write"}');
}).listen(Number(process.argv[1]), '127.0.0.1');
`;

let port: number | undefined;

/** URL of the server, which is started on first use and ends with the benchmark. */
function server(folder: string): string {
  if (port === undefined) {
    // Unique, because concurrent processes have different numbers.
    port = 30_000 + (process.pid % 10_000);
    start([process.execPath, '-e', program, String(port)], join(folder, 'decisions.log'));
    waitFor(port);
  }
  return `http://127.0.0.1:${port}`;
}

/** Waits for the server, since a gateway whose first request finds none would reject the request. @throws Error after some seconds. */
function waitFor(at: number): void {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    if (spawnSync('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${at}`], { stdio: 'ignore' }).status === 0) return;
  }
  throw new Error(`the server of decisions does not respond on port ${at}`);
}

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
