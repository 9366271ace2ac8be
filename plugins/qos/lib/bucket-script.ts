import { defineScript } from '../../clients/redis/script.ts';
import type { Limit } from '../../shared/buckets/token-bucket.ts';

/**
 * Takes a token from each of several buckets in turn, until one is empty. A bucket is stored as `tokens time`, by the
 * server's clock, in milliseconds: as in memory, one token is added per interval, fractions are kept, and a full bucket
 * keeps none. If the clock goes back, as after a switch to another server, the bucket continues from the new time.
 *
 * Arguments, for each bucket: capacity, interval, and time to live, in milliseconds. Returns the number of the empty
 * bucket, 0 for none, and the milliseconds until it has a token.
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

/** Maximum time to live of a bucket, in milliseconds: about 3,000 years. */
const LONGEST_MS = 1e14;

/** Script arguments for a bucket. @param everyMs period of its rate, by which its time to live exceeds the time to fill it. */
export function bucketArguments({ capacity, refillMs }: Limit, everyMs: number): string[] {
  const lifeMs = Math.min(Math.ceil(capacity * refillMs + everyMs), LONGEST_MS);
  return [String(capacity), String(refillMs), String(lifeMs)];
}
