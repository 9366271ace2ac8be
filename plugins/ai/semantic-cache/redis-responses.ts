import type { Call, Site } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript } from '../../clients/redis/script.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import type { Asked, Responses } from './responses.ts';
import { MAX_LISTED, VectorLists } from './vector-lists.ts';

/** Number of vectors that are read at once. */
const BATCH = 500;

/** Maximum time for storing a response, in milliseconds. */
const KEEP_MS = 2000;

const get = defineScript(`return redis.call('GET', KEYS[1])`);

/** Script that reads the entries of a stream after an ID, as a flat list of ID, hash and vector. */
const read = defineScript(`
local list = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])) do
  list[#list + 1] = entry[1]
  list[#list + 1] = entry[2][2]
  list[#list + 1] = entry[2][4]
end
return list
`);

const keep = defineScript(`
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[5], '*', 't', ARGV[1], 'v', ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return 1
`);

/**
 * Responses in Redis, for several gateways together. Each variant is a stream of vectors, which this process copies and
 * compares exactly, because plain Redis cannot compare vectors; a response is read when its vector is near enough.
 */
export function inRedis(site: Site<unknown>, connection: RedisConnection): Responses {
  const lists = site.keep(['vectors', connection.name], () => new VectorLists());
  const closing = new AbortController();
  site.defer(() => closing.abort());
  const listKey = (variant: string) => `sluice:semantic:{${variant}}`;
  const responseOf = async ({ variant, text }: Asked, call: Call): Promise<string | null> => {
    const response = await connection.run(get, [`${listKey(variant)}:${text}`], [], call);
    return typeof response === 'string' ? response : null;
  };
  const update = async (variant: string, call: Call): Promise<void> => {
    for (let round = 0; round < MAX_LISTED / BATCH; round++) {
      const list = await connection.run(read, [listKey(variant)], [lists.last(variant), String(BATCH)], call);
      const fields = Array.isArray(list) ? list.map(String) : [];
      for (let at = 0; at + 2 < fields.length; at += 3) {
        lists.add(variant, fields[at]!, fields[at + 1]!, fields[at + 2]!);
      }
      if (fields.length < BATCH * 3) return;
    }
  };
  return {
    same: responseOf,
    async near({ variant }, vector, distance, call) {
      await update(variant, call);
      const text = lists.nearest(variant, vector, distance);
      if (text === undefined) return null;
      const response = await responseOf({ variant, text }, call);
      if (response === null) lists.drop(variant, text);
      return response;
    },
    keep: ({ variant, text }, vector, response, ttlMs) =>
      underOwnCall(site.log, KEEP_MS, closing.signal, (call) => {
        const key = listKey(variant);
        const args = [text, vector, response, String(Math.max(1, Math.round(ttlMs))), String(MAX_LISTED)];
        return connection.run(keep, [key, `${key}:${text}`], args, call);
      }),
  };
}
