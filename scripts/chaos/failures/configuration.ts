import type { World } from './world.ts';

/** Paths whose endpoints must answer 200 whenever nothing fails. */
export const paths = ['/plain', '/named', '/cached', '/limited', '/tokens', '/files/a.txt', '/merged'] as const;

/** Environment of the gateway under test: its port, the Redis address, and a directory with `a.txt`. */
export interface Surroundings {
  readonly world: World;
  readonly port: number;
  readonly redis: string;
  readonly directory: string;
}

/** A configuration of everything that communicates with other systems: backends, Redis, a token server, files, logs and metrics. */
export function configuration(revision: number, { world, port, redis, directory }: Surroundings): object {
  const { backend, collector, influx } = world;
  const named = backend.replace('127.0.0.1', 'localhost');
  const at = (url_pattern: string, extra_config: object = {}, more: object = {}) => ({
    ...{ host: [backend], url_pattern, extra_config },
    ...more,
  });
  const credentials = { client_id: 'gate', client_secret: 'secret', token_url: `${backend}/token` };
  return {
    version: 3,
    name: `revision ${revision}`,
    port,
    listen_ip: '127.0.0.1',
    timeout: '2s',
    extra_config: {
      redis: { connection_pools: [{ name: 'shared', address: redis, ...redisTimes }] },
      'telemetry/logging': { level: 'WARNING', stdout: true },
      'telemetry/gelf': { address: `127.0.0.1:${collector}`, enable_tcp: true },
      'telemetry/influx': { address: influx, ttl: '1s', buffer_size: 10 },
      'telemetry/metrics': { collection_time: '1s', listen_address: '127.0.0.1:0' },
    },
    endpoints: [
      { endpoint: '/plain', backend: [at('/')] },
      { endpoint: '/named', backend: [at('/', {}, { host: [named] })] },
      { endpoint: '/cached', backend: [at('/cached', { 'qos/http-cache': {} })] },
      {
        endpoint: '/limited',
        backend: [at('/')],
        extra_config: { 'qos/ratelimit/router/redis': { max_rate: 100_000, connection_name: 'shared' } },
      },
      { endpoint: '/tokens', backend: [at('/', { 'auth/client-credentials': credentials })] },
      {
        endpoint: '/files/{name}',
        output_encoding: 'no-op',
        backend: [at('/{name}', { 'backend/static-filesystem': { path: directory } }, { encoding: 'no-op' })],
      },
      { endpoint: '/merged', backend: [at('/', {}, { group: 'a' }), at('/', {}, { group: 'b' })] },
    ],
  };
}

const redisTimes = { dial_timeout: '1s', max_retry_backoff: '100ms' };
