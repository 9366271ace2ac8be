/**
 * Functions in Lua for the content of a key and its version: a hash of the content, or an empty text without the key. They
 * throw an error for other types of keys, and for content that is too large.
 */
const functions = `
local key, most = KEYS[1], tonumber(ARGV[1])
local function demand(bytes, fields)
  if fields > 1000 then error({err = 'ERR the key has more than 1000 fields'}) end
  if bytes > most then error({err = 'ERR the configuration is larger than ' .. most .. ' bytes'}) end
end
local function fields()
  local names, bytes = redis.call('HKEYS', key), 0
  demand(0, #names)
  for _, name in ipairs(names) do
    bytes = bytes + redis.call('HSTRLEN', key, name)
    demand(bytes, 0)
  end
  table.sort(names)
  return names
end
local function content()
  local kind = redis.call('TYPE', key)['ok']
  if kind == 'none' then return '', {} end
  if kind == 'string' then
    demand(redis.call('STRLEN', key), 0)
    return kind, {'', redis.call('GET', key)}
  end
  if kind ~= 'hash' then error({err = 'ERR the key is a ' .. kind .. ', not a string or a hash'}) end
  local result = {}
  for _, name in ipairs(fields()) do
    result[#result + 1] = name
    result[#result + 1] = redis.call('HGET', key, name)
  end
  return kind, result
end
local function version(kind, parts)
  if kind == '' then return '' end
  local texts = {kind}
  for _, part in ipairs(parts) do
    texts[#texts + 1] = #part
    texts[#texts + 1] = part
  end
  return redis.sha1hex(table.concat(texts, ':'))
end
`;

/** The script as a function body. Errors are returned as such by all versions of the server. */
function script(body: string): string {
  return `${functions}
local isDone, result = pcall(function()
${body}
end)
if isDone or type(result) == 'table' then return result end
return redis.error_reply(tostring(result))`;
}

/** Reads the version, the type, and names and values. @param ARGV the maximum size, in bytes. */
export const READ = script(`
local kind, parts = content()
return {version(kind, parts), kind, parts}`);

/** Reads the version. @param ARGV the maximum size, in bytes. */
export const VERSION = script('return version(content())');

/**
 * Replaces the content if the key has the expected version.
 * @param ARGV the maximum size, the expected version, `string` or `hash`, then names and values. @returns 1 and the new
 * version, or 0 and the present one.
 */
export const WRITE = script(`
local present = version(content())
if present ~= ARGV[2] then return {0, present} end
redis.call('DEL', key)
for at = 4, #ARGV, 2 do
  if ARGV[3] == 'string' then redis.call('SET', key, ARGV[at + 1])
  else redis.call('HSET', key, ARGV[at], ARGV[at + 1]) end
end
return {1, version(content())}`);
