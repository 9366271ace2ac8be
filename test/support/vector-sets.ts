import type { RedisConnection } from '../../plugins/clients/redis/port.ts';
import type { TestRedis } from './redis.ts';

/**
 * The commands VADD, VSIM and VREM of Redis 8 with the options that are used, in the Lua of an earlier server: each set is a
 * hash of vectors. Replies have the form of RESP2.
 */
const prelude = `
local server = redis
local function numbersOf(blob)
  local numbers, square = {}, 0
  for at = 1, #blob, 4 do
    local number = struct.unpack('<f', blob, at)
    numbers[#numbers + 1] = number
    square = square + number * number
  end
  return numbers, math.sqrt(square)
end
local sets = {}
function sets.VADD(key, kind, blob, element, option)
  assert(kind == 'FP32' and option == 'NOQUANT')
  local _, other = unpack(server.call('HRANDFIELD', key, 1, 'WITHVALUES'))
  if other and #other ~= #blob then
    return server.error_reply('ERR Vector dimension mismatch - got ' .. #blob / 4 .. ' but set has ' .. #other / 4)
  end
  return server.call('HSET', key, element, blob)
end
function sets.VREM(key, element)
  return server.call('HDEL', key, element)
end
function sets.VSIM(key, kind, blob, scores, count, most, ef, explored)
  assert(kind == 'FP32' and scores == 'WITHSCORES' and count == 'COUNT' and ef == 'EF' and tonumber(explored))
  local wanted, length = numbersOf(blob)
  local found, reply = {}, {}
  local all = server.call('HGETALL', key)
  for at = 1, #all, 2 do
    local numbers, ownLength = numbersOf(all[at + 1])
    local product = 0
    for index, number in ipairs(wanted) do product = product + number * numbers[index] end
    found[#found + 1] = { all[at], (1 + product / length / ownLength) / 2 }
  end
  table.sort(found, function(a, b) return a[2] > b[2] end)
  for at = 1, math.min(#found, tonumber(most)) do
    reply[#reply + 1] = found[at][1]
    reply[#reply + 1] = string.format('%.17g', found[at][2])
  end
  return reply
end
local redis = setmetatable({
  call = function(name, ...)
    if not sets[name] then return server.call(name, ...) end
    local reply = sets[name](...)
    if type(reply) == 'table' and reply.err then error(reply.err) end
    return reply
  end,
  pcall = function(name, ...) return (sets[name] or function(...) return server.pcall(name, ...) end)(...) end,
}, { __index = server })
`;

/** Opens a connection that runs scripts, with the vector sets of the server or those of the tests. */
export function connectionTo(redis: TestRedis, sets: 'own' | 'of the tests'): RedisConnection {
  const before = sets === 'own' ? '' : prelude;
  return {
    name: 'shared',
    isOneServer: true,
    run: ({ source }, keys, args) => redis.command('EVAL', before + source, String(keys.length), ...keys, ...args),
  };
}
