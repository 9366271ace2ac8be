import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Call, type Log, type RedisClient, type RedisValue } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript, type Script } from '../../clients/redis/script.ts';

/** Limits for the keys and arguments of one call: length in characters, and number. */
const LONGEST = 1024 * 1024;
const MOST = 1000;
const LONGEST_SCRIPT = 64 * 1024;

const runCommand = defineScript('return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))');
const count = defineScript(`
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
if ARGV[2] ~= '' and redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return value`);

/** Scripts of modules, by digest, so that each is named and kept once. */
const scripts = new LRUCache<string, Script>({ max: 100 });

export function redisClient(connection: RedisConnection, log: Log): RedisClient {
  const run = async (script: Script, keys: readonly unknown[], args: readonly unknown[]): Promise<RedisValue> => {
    const [names, values] = [keys.map(textOf), args.map(textOf)];
    if (names.length + values.length > MOST) throw new RangeError(`a call can have at most ${MOST} keys and arguments`);
    if ([...names, ...values].reduce((sum, text) => sum + text.length, 0) > LONGEST) {
      throw new RangeError(`a call can have at most ${LONGEST} characters`);
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
    throw new RangeError(`a script must be a string of at most ${LONGEST_SCRIPT} characters`);
  }
  const digest = hash('sha256', source);
  const known = scripts.get(digest) ?? defineScript(source);
  scripts.set(digest, known);
  return known;
}

/** @throws TypeError for a value that is neither a text nor a number. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new TypeError(`arguments must be strings or numbers, not ${value === null ? 'null' : typeof value}`);
}

function wholeMs(ms: number): number {
  if (!(ms > 0)) throw new RangeError('ttlMs must be greater than 0');
  return Math.ceil(ms);
}
