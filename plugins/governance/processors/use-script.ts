import { defineScript } from '../../clients/redis/script.ts';

/**
 * Counts a use in all windows of a caller, or in none. All keys are in one hash slot.
 *
 * Arguments: `take`, `look` or `add`; the amount, which can be negative for `add`; and for each key its limit and time to live in milliseconds,
 * regardless of the server's clock. Returns 1 when the use is allowed, else 0, followed by the usage of each key.
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
if allowed == 1 and more ~= 0 then
  for i, key in ipairs(KEYS) do
    used[i] = redis.call('INCRBYFLOAT', key, ARGV[2])
    redis.call('PEXPIRE', key, ARGV[2 * i + 2])
  end
end
return {allowed, unpack(used)}
`);
