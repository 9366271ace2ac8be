import { isIPv6 } from 'node:net';
import { atService, definePlugin, offer, type Site } from '#contract';
import { Connection } from '../clients/redis/connection.ts';
import { type RedisConnection, redisConnections } from '../clients/redis/port.ts';
import type { RedisAddress, RedisSettings } from '../clients/redis/settings.ts';
import { prepareTls } from '../clients/tls/client-tls.ts';
import { type ClusterConfig, type PoolConfig, type RedisConfig, type SentinelConfig, schema } from './schema.ts';

/**
 * Declares Redis connections for components that share counters between gateways. Each process has one connection,
 * opened when the configuration serves, kept across reloads that do not change its settings, and reopened whenever it
 * is lost. Requests do not wait for it: without a connection, commands fail immediately.
 *
 * Configuration errors: `REDIS_NAME`, `REDIS_ADDRESS`, `REDIS_DURATION` and those of `client_tls`; a warning
 * `REDIS_UNUSED`. Error of a call: `REDIS_FAILED`.
 */
export const plugin = definePlugin({
  name: 'redis',
  description: 'Declares Redis connections for components that share counters between gateways.',
  leaves: ['requests', 'data'],
  offers: [redisConnections],
  independent: true,
  places: [
    atService(schema, (site) => {
      const { connection_pools: pools, clusters, sentinels } = site.config;
      const connections = new Map<string, RedisConnection>();
      const add = (settings: RedisSettings, pointer: string, fingerprint: string) => {
        if (connections.has(settings.name)) {
          throw site.fault('REDIS_NAME', `${pointer}/name`, `duplicate connection name "${settings.name}"`);
        }
        connections.set(settings.name, keepConnection(site, settings, pointer, fingerprint));
      };
      for (const [index, pool] of pools.entries()) {
        const at = `/connection_pools/${index}`;
        const tls = tlsOf(site, pool, at);
        const addresses = [addressOf(site, pool.address, `${at}/address`, 6379)];
        add({ ...common(site, pool, at), kind: 'server', addresses, database: pool.db, tls: tls.client }, at, tls.of);
      }
      for (const [index, cluster] of clusters.entries()) {
        const at = `/clusters/${index}`;
        const tls = tlsOf(site, cluster, at);
        const { max_redirects: maxRedirects } = cluster;
        const addresses = addressesOf(site, cluster.addresses, at, 6379);
        add({ ...common(site, cluster, at), kind: 'cluster', addresses, maxRedirects, tls: tls.client }, at, tls.of);
      }
      for (const [index, sentinel] of sentinels.entries()) {
        const at = `/sentinels/${index}`;
        const tls = tlsOf(site, sentinel, at);
        const { master_name: name, sentinel_user_name: username, sentinel_password: password, db } = sentinel;
        const master = { name, user: { username, password } };
        const addresses = addressesOf(site, sentinel.addresses, at, 26379);
        const settings = { ...common(site, sentinel, at), addresses, master, database: db, tls: tls.client };
        add({ ...settings, kind: 'sentinel' }, at, tls.of);
      }
      if (connections.size === 0) site.warn('REDIS_UNUSED', '', 'no connection is declared');
      return { offers: [offer(redisConnections, connections)] };
    }),
  ],
});

/** Connection for the settings at a pointer; opened in processes that serve requests, once this configuration serves. */
function keepConnection(site: Site<RedisConfig>, settings: RedisSettings, at: string, fingerprint: string): Connection {
  const { tls: _context, ...said } = settings;
  for (const [index, { host, port }] of settings.addresses.entries()) {
    const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
    const { tls, kind } = settings;
    site.connectsTo(
      { address, tls: tls && (() => tls) },
      kind === 'server' ? `${at}/address` : `${at}/addresses/${index}`,
    );
  }
  const sandbox = site.use('sandbox');
  const onMissing = () => sandbox?.refused(`redis connection of ${settings.name}`);
  const connection = site.keep(
    JSON.stringify([said, fingerprint]),
    () => new Connection(settings, site.log, onMissing),
    (kept) => kept.close(),
  );
  site.start(() => connection.open(site.log), { in: 'each' });
  return connection;
}

type AnyConfig = PoolConfig | ClusterConfig | SentinelConfig;

function common(
  site: Site<RedisConfig>,
  config: AnyConfig,
  pointer: string,
): Omit<RedisSettings, 'kind' | 'addresses' | 'tls'> {
  for (const field of ['dial_timeout', 'command_timeout'] as const) {
    if (config[field] <= 0) throw site.fault('REDIS_DURATION', `${pointer}/${field}`, `${field} must be above 0`);
  }
  return {
    name: config.name,
    username: config.user_name || undefined,
    password: config.password || undefined,
    clientName: config.client_name || undefined,
    database: 0,
    maxRedirects: 0,
    master: null,
    connectMs: config.dial_timeout,
    commandMs: config.command_timeout,
    backoffMs: { least: config.min_retry_backoff, most: config.max_retry_backoff },
  };
}

function tlsOf(site: Site<RedisConfig>, { tls }: AnyConfig, pointer: string) {
  if (!tls) return { client: null, of: '' };
  const { client, fingerprint } = prepareTls(site, tls, `${pointer}/tls`);
  return { client, of: fingerprint };
}

function addressesOf(site: Site<RedisConfig>, texts: readonly string[], pointer: string, port: number): RedisAddress[] {
  return texts.map((text, index) => addressOf(site, text, `${pointer}/addresses/${index}`, port));
}

/** @throws ConfigError REDIS_ADDRESS. */
function addressOf(site: Site<RedisConfig>, text: string, pointer: string, standard: number): RedisAddress {
  const [, bracketed, plain, port] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:/[\]@]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? standard : Number(port);
  if (host !== undefined && number > 0 && number < 65_536) return { host, port: number };
  const hint = /^rediss?:/.test(text)
    ? 'host and port only; user, password, database and TLS have their own fields'
    : 'for example "redis.internal:6379"';
  throw site.fault('REDIS_ADDRESS', pointer, `"${text}" is not a valid address`, { hint });
}
