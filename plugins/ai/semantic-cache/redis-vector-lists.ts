import type { Call, Site } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript } from '../../clients/redis/script.ts';
import type { Kept } from './redis-vector-sets.ts';
import { MAX_LISTED, VectorLists } from './vector-lists.ts';

/** Number of vectors that are read at once. */
const BATCH = 500;

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

/** Vectors that the gateway compares, for servers without vector sets. */
export interface RedisVectorLists {
  /** The text of the nearest vector within the distance, or none. @param key of the variant. */
  near(key: string, vector: string, distance: number, call: Call): Promise<readonly string[]>;
  keep(key: string, kept: Kept, call: Call): Promise<unknown>;
  /** Removes a vector whose response has expired. */
  drop(key: string, text: string): void;
}

/** Vectors in Redis streams, one for each variant. This process copies the vectors and compares them exactly. */
export function redisVectorLists(site: Site<unknown>, connection: RedisConnection): RedisVectorLists {
  const lists = site.keep(['vectors', connection.name], () => new VectorLists());
  const update = async (key: string, call: Call): Promise<void> => {
    for (let round = 0; round < MAX_LISTED / BATCH; round++) {
      const list = await connection.run(read, [key], [lists.last(key), String(BATCH)], call);
      const fields = Array.isArray(list) ? list.map(String) : [];
      for (let at = 0; at + 2 < fields.length; at += 3) lists.add(key, fields[at]!, fields[at + 1]!, fields[at + 2]!);
      if (fields.length < BATCH * 3) return;
    }
  };
  return {
    async near(key, vector, distance, call) {
      await update(key, call);
      const text = lists.nearest(key, vector, distance);
      return text === undefined ? [] : [text];
    },
    keep: (key, { text, vector, response, ttlMs }, call) =>
      connection.run(keep, [key, `${key}:${text}`], [text, vector, response, String(ttlMs), String(MAX_LISTED)], call),
    drop: (key, text) => lists.drop(key, text),
  };
}
