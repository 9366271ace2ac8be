import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Call, type Log } from '#contract';
import type { RedisConnection } from '../../services/redis/port.ts';
import { defineScript, type Script } from '../../services/redis/script.ts';

/** What Redis says: whole numbers, texts, null for nothing, and lists of these. */
export type RedisValue = number | string | null | RedisValue[];

/**
 * A connection of `redis` at the root. Every call is one round trip, and takes no longer than the `command_timeout` of the
 * connection; where there is none, or the server does not respond, it fails at once with a REDIS_FAILED error. It is never sent
 * twice, and may have been carried out nevertheless.
 */
export interface RedisClient {
  /** As it is configured. */
  readonly name: string;
  get(key: string): Promise<string | null>;
  /** @param options.ttlMs how long it is kept, in milliseconds. Default: for ever. */
  set(key: string, value: string | number, options?: { readonly ttlMs?: number }): Promise<void>;
  /**
   * Adds to a counter, which begins at 0, and gives what it is then.
   * @param options.by default 1. @param options.ttlMs how long after its first use it is kept, in milliseconds. Default: for ever.
   */
  increment(key: string, options?: { readonly by?: number; readonly ttlMs?: number }): Promise<number>;
  /** @returns whether it was there. */
  delete(key: string): Promise<boolean>;
  /** Any other command that has one key, as in `command('HGETALL', 'users')`. One that waits, as BLPOP, is refused or does not wait. */
  command(name: string, key: string, ...args: readonly (string | number)[]): Promise<RedisValue>;
  /** Runs a script in the Lua of the server, of 64 KiB at most, in one piece. @param keys of one slot, where it is a cluster. */
  eval(source: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<RedisValue>;
}

/** Keys and arguments of one call: longest in characters, and how many. */
const LONGEST = 1024 * 1024;
const MOST = 1000;
const LONGEST_SCRIPT = 64 * 1024;

const runCommand = defineScript('return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))');
const count = defineScript(`
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
if ARGV[2] ~= '' and redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return value`);

/** Scripts of modules, by their digest: each is named and kept once. */
const scripts = new LRUCache<string, Script>({ max: 100 });

export function redisClient(connection: RedisConnection, log: Log): RedisClient {
  const run = async (script: Script, keys: readonly unknown[], args: readonly unknown[]): Promise<RedisValue> => {
    const [names, values] = [keys.map(textOf), args.map(textOf)];
    if (names.length + values.length > MOST) throw new RangeError(`a call has at most ${MOST} keys and arguments`);
    if ([...names, ...values].reduce((sum, text) => sum + text.length, 0) > LONGEST) {
      throw new RangeError(`a call has at most ${LONGEST} characters`);
    }
    return (await connection.run(script, names, values, new Call(log))) as RedisValue;
  };
  const command: RedisClient['command'] = (name, key, ...args) => run(runCommand, [key], [name, ...args]);
  return Object.freeze<RedisClient>({
    name: connection.name,
    get: async (key) => (await command('GET', key)) as string | null,
    async set(key, value, { ttlMs } = {}) {
      await command('SET', key, value, ...(ttlMs === undefined ? [] : ['PX', wholeMs(ttlMs)]));
    },
    async increment(key, { by = 1, ttlMs } = {}) {
      return (await run(count, [key], [by, ttlMs === undefined ? '' : wholeMs(ttlMs)])) as number;
    },
    delete: async (key) => (await command('DEL', key)) === 1,
    command,
    async eval(source, keys, args = []) {
      return run(scriptOf(source), keys, args);
    },
  });
}

function scriptOf(source: string): Script {
  if (typeof source !== 'string' || source.length > LONGEST_SCRIPT) {
    throw new RangeError(`a script is a text of at most ${LONGEST_SCRIPT} characters`);
  }
  const digest = hash('sha256', source);
  const known = scripts.get(digest) ?? defineScript(source);
  scripts.set(digest, known);
  return known;
}

/** @throws TypeError for what is neither a text nor a number. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new TypeError(`Redis takes texts and numbers, no ${value === null ? 'null' : typeof value}`);
}

function wholeMs(ms: number): number {
  if (!(ms > 0)) throw new RangeError('ttlMs is above 0');
  return Math.ceil(ms);
}
