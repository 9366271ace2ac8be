import { type Call, definePort, findNear, type Port, type Site } from '#contract';
import type { Script } from './script.ts';

/** Where things are counted for all gateways together. */
export interface RedisConnection {
  /** As it is configured. */
  readonly name: string;
  /** Keys of one script may be of any slots: what is reached is one server, and no cluster. */
  readonly isOneServer: boolean;
  /**
   * Runs a script in one round trip; what is asked in one turn of the event loop is sent together. Waits for as long as
   * `command_timeout` says, and half of what the call has left at most. Where there is no connection, or the server does not
   * respond, it fails at once.
   * @param keys all of one slot, unless `isOneServer`.
   * @returns what the script does. @throws RedisTrouble; the script may have run nevertheless.
   */
  run(script: Script, keys: readonly string[], args: readonly string[], call: Call): Promise<unknown>;
}

/** The connections of a configuration, by name. */
export type RedisConnections = ReadonlyMap<string, RedisConnection>;

export const redisConnections: Port<RedisConnections> = definePort('redis connections');

/**
 * The connection of a name, for a plugin that names `redisConnections` in `takes`.
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
