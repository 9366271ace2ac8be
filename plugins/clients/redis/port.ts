import { type Call, definePort, findNear, type Port, type Site } from '#contract';
import type { Script } from './script.ts';

/** A connection to a Redis server whose data all gateways share. */
export interface RedisConnection {
  /** Configured name. */
  readonly name: string;
  /** Whether the keys of one script may belong to different hash slots: true for a single server, false for a cluster. */
  readonly isOneServer: boolean;
  /**
   * Runs a script in one round trip; commands from the same turn of the event loop are pipelined. Waits up to
   * `command_timeout`, but at most half of the call's remaining time. Fails immediately without a connection, or if the
   * server does not respond.
   * @param keys all of one hash slot, unless `isOneServer`.
   * @returns the result of the script. @throws RedisError; the script may have run nevertheless.
   */
  run(script: Script, keys: readonly string[], args: readonly (string | Buffer)[], call: Call): Promise<unknown>;
}

/** The connections of a configuration, by name. */
export type RedisConnections = ReadonlyMap<string, RedisConnection>;

export const redisConnections: Port<RedisConnections> = definePort('redis connections');

/**
 * Looks up a connection by name, for a plugin that lists `redisConnections` in `takes`.
 * @param pointer of the name below the site's configuration.
 * @throws ConfigError REDIS_CONNECTION.
 */
export function connectionNamed(site: Site<unknown>, name: string, pointer: string): RedisConnection {
  const connections = site.take(redisConnections);
  const connection = connections?.get(name);
  if (connection) return connection;
  const near = findNear(name, [...(connections?.keys() ?? [])]);
  throw site.fault('REDIS_CONNECTION', pointer, `no connection of "redis" at the root is named "${name}"`, {
    hint: near
      ? `did you mean "${near.name}"?`
      : `"redis": {"connection_pools": [{"name": ${JSON.stringify(name)}, "address": "localhost:6379"}]} at the root`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}
