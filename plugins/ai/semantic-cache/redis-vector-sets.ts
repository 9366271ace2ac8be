import type { Call, Clock } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript } from '../../clients/redis/script.ts';

/** Maximum number of vectors of a variant; beyond it, those that expire first are dropped. */
export const MAX_VECTORS = 20_000;

/**
 * Number of nearest vectors that a search returns. Several are needed because the responses of the nearest ones may
 * have expired.
 */
const NEAREST = 3;

/** Exploration factor of a search: larger values miss fewer near vectors, and take longer. */
const EXPLORED = 200;

/** Time after which a server without vector sets is tried again, in milliseconds, because it may have been upgraded. */
const RETRY_MS = 60_000;

/** Returns 0 in place of the error of a server that has no vector sets, or whose user has no permission for them. */
const orUnsupported = `
local function isUnsupported(reply)
  if type(reply) ~= 'table' or not reply.err then return false end
  local reason = string.lower(reply.err)
  return string.find(reason, 'unknown %a+ command') ~= nil or string.find(reason, "can't run this command") ~= nil
end
`;

const search = defineScript(`${orUnsupported}
local near = redis.pcall('VSIM', KEYS[1], 'FP32', ARGV[1], 'WITHSCORES', 'COUNT', ARGV[2], 'EF', ARGV[3])
if isUnsupported(near) then return 0 end
return near or {}
`);

const keep = defineScript(`${orUnsupported}
local added = redis.pcall('VADD', KEYS[1], 'FP32', ARGV[2], ARGV[1], 'NOQUANT')
if isUnsupported(added) then return 0 end
if type(added) == 'table' and added.err then return added end
local ttl = tonumber(ARGV[4])
redis.call('SET', KEYS[3], ARGV[3], 'PX', ttl)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], now + ttl, ARGV[1])
local dropped = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)
local surplus = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[5])
if #dropped == 0 and surplus > 0 then dropped = redis.call('ZRANGE', KEYS[2], 0, surplus - 1) end
for _, text in ipairs(dropped) do
  redis.call('VREM', KEYS[1], text)
  redis.call('ZREM', KEYS[2], text)
end
for at = 1, 2 do
  if redis.call('PTTL', KEYS[at]) < ttl then redis.call('PEXPIRE', KEYS[at], ttl) end
end
return 1
`);

/** An entry to store in a vector set, with the lifetime of its response. */
export interface Kept {
  readonly text: string;
  readonly vector: string;
  readonly response: string;
  readonly ttlMs: number;
}

/** Vectors of variants that the server compares. Both functions return null if it has no vector sets (before Redis 8). */
export interface VectorSets {
  /** Texts within the distance, nearest first. @param key of the variant. */
  near(key: string, vector: string, distance: number, call: Call): Promise<readonly string[] | null>;
  keep(key: string, kept: Kept, call: Call): Promise<true | null>;
}

/** Each variant has a vector set of its own, so a search cannot reach vectors of other variants. */
export function vectorSets(connection: RedisConnection, clock: Clock): VectorSets {
  let retryAt = Number.NEGATIVE_INFINITY;
  const supported = async <T>(run: () => Promise<T>): Promise<T | null> => {
    if (clock.now() < retryAt) return null;
    const reply = await run();
    if (reply !== 0) return reply;
    retryAt = clock.now() + RETRY_MS;
    return null;
  };
  return {
    async near(key, vector, distance, call) {
      const args = [Buffer.from(vector, 'base64'), String(NEAREST), String(EXPLORED)];
      const reply = await supported(() => connection.run(search, [`${key}:vectors`], args, call));
      return reply === null ? null : textsWithin(reply, distance);
    },
    async keep(key, { text, vector, response, ttlMs }, call) {
      const keys = [`${key}:vectors`, `${key}:expiries`, `${key}:${text}`];
      const args = [text, Buffer.from(vector, 'base64'), response, String(ttlMs), String(MAX_VECTORS)];
      return (await supported(() => connection.run(keep, keys, args, call))) === null ? null : true;
    },
  };
}

/** @param reply elements and their scores, from 1 for the same direction to 0 for the opposite one. */
function textsWithin(reply: unknown, distance: number): string[] {
  const fields = Array.isArray(reply) ? reply.map(String) : [];
  const texts: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    // The tolerance compensates for rounding, so that equal vectors have distance 0.
    if (2 * (1 - Number(fields[at + 1])) <= distance + 1e-6) texts.push(fields[at]!);
  }
  return texts;
}
