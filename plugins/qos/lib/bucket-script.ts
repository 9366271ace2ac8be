import type { Limit } from '../../services/buckets/token-bucket.ts';
import { defineScript } from '../../services/redis/script.ts';

/**
 * Takes a token from each of some buckets in turn, until one has none. A bucket is the text `tokens time`, by the clock of the
 * server, in milliseconds: as in memory, a whole token comes with every interval, parts of one are kept, and a full bucket
 * keeps none. A clock that went back, as that of another server may, counts from then on.
 *
 * Arguments, for each bucket: capacity, interval, and how long it is kept, in milliseconds.
 * Returns the number of the bucket without a token, 0 for none, and the milliseconds until it has one.
 */
export const takeTokens = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
for i, key in ipairs(KEYS) do
  local capacity, interval = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
  local tokens, at = capacity, now
  local state = redis.call('GET', key)
  if state then
    local left, since = string.match(state, '^(%d+) (%S+)$')
    left, since = tonumber(left), tonumber(since)
    if left and since then
      at = math.min(since, now)
      local more = math.floor((now - at) / interval)
      tokens = left + more
      if tokens >= capacity then tokens, at = capacity, now else at = at + more * interval end
    end
  end
  if tokens < 1 then return {i, math.ceil(at + interval - now)} end
  redis.call('SET', key, string.format('%d %.3f', tokens - 1, at), 'PX', ARGV[3 * i])
end
return {0, 0}
`);

/** Longest time that a bucket is kept, in milliseconds: some 3,000 years. */
const LONGEST_MS = 1e14;

/** The arguments for a bucket. @param everyMs period of its rate, which it is kept longer than it takes to be full. */
export function bucketArguments({ capacity, refillMs }: Limit, everyMs: number): string[] {
  const lifeMs = Math.min(Math.ceil(capacity * refillMs + everyMs), LONGEST_MS);
  return [String(capacity), String(refillMs), String(lifeMs)];
}
