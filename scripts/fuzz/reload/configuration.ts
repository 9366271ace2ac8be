import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Content of a configuration in addition to its common endpoints. */
export const kinds = ['plain', 'limited', 'cached', 'plugged', 'secured', 'refused', 'malformed'] as const;
export type Kind = (typeof kinds)[number];

/** Number of requests that `/counted` allows in each run, regardless of reloads. */
export const ALLOWED = 3;

/** The real function is copied, because the one of `node:fs` may be failing. */
const write = writeFileSync;

export interface Written {
  /** Data that `/who` responds with. */
  readonly mark: string;
  readonly kind: Kind;
  readonly port: number;
  /** Address of the backend. */
  readonly host: string;
  /** Directory of plugins and certificates. */
  readonly folder: string;
}

/** The text of a configuration. All endpoints except `/who` are the same in each. */
export function written({ mark, kind, port, host, folder }: Written): string {
  if (kind === 'malformed') return '{"version": 3,';
  const marked = { proxy: { static: { strategy: 'always', data: { mark } } } };
  const own = {
    limited: { 'qos/ratelimit/router': { max_rate: 1e6 } },
    plugged: { 'plugin/middleware': { name: ['team'] } },
    refused: { 'modifier/jmespath': { expr: '[' } },
  }[kind as string];
  const cache = { extra_config: { 'qos/http-cache': {} } };
  const counted = { 'qos/ratelimit/router': { max_rate: ALLOWED, capacity: ALLOWED, every: '24h' } };
  const [public_key, private_key] = [join(folder, 'gateway.pem'), join(folder, 'gateway.key')];
  return JSON.stringify({
    version: 3,
    port,
    listen_ip: '127.0.0.1',
    timeout: '120s',
    host: [host],
    ...(kind === 'plugged' && { plugin: { folder } }),
    ...(kind === 'secured' && { tls: { keys: [{ public_key, private_key }] } }),
    endpoints: [
      {
        endpoint: '/who',
        extra_config: { ...marked, ...own },
        backend: [{ url_pattern: '/', ...(kind === 'cached' && cache) }],
      },
      { endpoint: '/held', backend: [{ url_pattern: '/held' }] },
      { endpoint: '/stream', output_encoding: 'sse', backend: [{ url_pattern: '/stream', encoding: 'sse' }] },
      { endpoint: '/counted', extra_config: counted, backend: [{ url_pattern: '/' }] },
      { endpoint: '/kept', backend: [{ url_pattern: '/kept', ...cache }] },
    ],
  });
}

/** Writes the plugin of `plugged` configurations, or an invalid file. */
export function writePlugin(folder: string, isGood: boolean): void {
  const good = `export const plugin = { name: 'team', apiVersion: 1, middleware: () => (ctx, request, next) => next(request) };`;
  write(join(folder, 'team.js'), isGood ? `${good}\n` : 'export const plugin = {\n');
}
