import { defineScript } from '../../clients/redis/script.ts';

/**
 * Counts a use in all windows of a caller, or in none. All keys are in one hash slot.
 *
 * Arguments: `take`, `look`, `add` or `settle`; the amount; for each key its limit and time to live in milliseconds, regardless
 * of the server's clock; and for `settle` the reserved amount that is replaced. A counter with less than that has lost the
 * reservation, for example in a restart of the server, so nothing is taken back from it. Returns 1 when the use is allowed,
 * else 0, followed by the usage of each key.
 */
export const countUse = defineScript(`
local kind, more = ARGV[1], tonumber(ARGV[2])
local used = redis.call('MGET', unpack(KEYS))
local allowed = 1
for i = 1, #KEYS do
  local limit = tonumber(ARGV[2 * i + 1])
  local so_far = tonumber(used[i] or '0') or 0
  if (kind == 'take' and so_far + more > limit) or (kind == 'look' and so_far >= limit) then allowed = 0 end
  used[i] = string.format('%.17g', so_far)
end
local reserved = tonumber(ARGV[2 * #KEYS + 3] or '0')
for i, key in ipairs(KEYS) do
  local added = more
  if tonumber(used[i]) >= reserved * (1 - 1e-9) then added = more - reserved end
  if allowed == 1 and added ~= 0 then
    used[i] = redis.call('INCRBYFLOAT', key, string.format('%.17g', added))
    redis.call('PEXPIRE', key, ARGV[2 * i + 2])
  end
end
return {allowed, unpack(used)}
`);
