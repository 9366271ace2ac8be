import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { run, value } from './fixture.ts';

/** Scripts that never end or exhaust resources. */
const exploding: Readonly<Record<string, string>> = {
  'an endless loop': 'while true do end',
  'an endless loop that catches its cancellation': 'while true do pcall(function() while true do end end) end',
  'an endless loop after a caught error': "pcall(error, 'x') while true do end",
  'an endless loop after an error in a coroutine':
    "coroutine.wrap(function() pcall(error, 'x') while true do end end)()",
  'an endless error handler': 'xpcall(function() while true do end end, function() while true do end end)',
  'endless recursion': 'local function f() f() end f()',
  'nested protected calls': 'local function f() pcall(f) pcall(f) end f()',
  'coroutines that never end': 'while true do coroutine.wrap(function() while true do end end)() end',
  'coroutines in protected calls':
    'while true do pcall(coroutine.wrap(function() pcall(function() while true do end end) end)) end',
  'coroutines that create coroutines': 'local function f() return coroutine.wrap(f)() end while true do pcall(f) end',
  'a string that doubles repeatedly': "local s = 'x' while true do s = s .. s end",
  'a string repeated many times': "string.rep('x', 1e9)",
  'endless strings': "local t = {} local s = ('x'):rep(1e6) while true do t[#t + 1] = s .. #t end",
  'long strings as keys': "local s = ('x'):rep(8e6) local t = {} while true do t[s .. #t] = 1 end",
  'a format of long strings':
    "local t = {} for i = 1, 200 do t[i] = ('x'):rep(100000) end string.format(('%s'):rep(200), unpack(t))",
  'a table of long strings joined':
    "local t = {} local s = ('x'):rep(1e6) for i = 1, 1e4 do t[i] = s end table.concat(t)",
  'endless tables': 'local t = {} while true do t[#t + 1] = {} end',
  'endlessly nested tables': 'local t = {} while true do t = {t} end',
  'a pattern with catastrophic backtracking': "string.find(('a'):rep(30), ('a?'):rep(30) .. ('a'):rep(30))",
  'a pattern of many repetitions': "('x'):rep(2000):find(('.-'):rep(12) .. 'b')",
  'a replacement that grows exponentially': "string.gsub(('a'):rep(1000000), '.', '%0%0%0%0%0%0%0%0%0%0')",
  'a replacement by an endless function': "('aa'):gsub('.', function() while true do end end)",
  'an endless metamethod': 'local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x',
  'an endless comparison':
    'local t = {} for i = 1, 2e4 do t[i] = i end table.sort(t, function() while true do end end)',
  'a long table that is shifted': 'local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 0) end',
  'endless arguments': 'while true do unpack({}, 1, 19000) end',
  'deeply nested source text': "local s = ('('):rep(1e5) while true do load(s) end",
  'endless loading of code': 'load(function() while true do end end)',
  'deeply nested data': 'local t = {} t[1] = t json.marshal(t)',
  'endless parsing of documents': "local s = 'a: [' .. ('[],'):rep(20000) .. ']' while true do yaml.unmarshal(s) end",
  'endless serialization of documents':
    "local l = luaList.new() for i = 0, 9999 do l:set(i, 'x') end while true do yaml.marshal(l) end",
  'a document that is never complete': "while true do pcall(csv.unmarshal, 'a\\n\"' .. ('x\"\"'):rep(100000)) end",
  'endless sorting of a table': 'local t = {} for i = 1, 49999 do t[i] = -i end while true do table.sort(t) end',
  'endless sorting of long strings':
    "local t = {} for i = 1, 20000 do t[i] = ('x'):rep(300) .. i end while true do table.sort(t) end",
  'arithmetic on a long text': "local s = ('1'):rep(1e6) while true do pcall(function() return s + 1 end) end",
  'a long string that is not a number': "local s = ('9'):rep(1e6) while true do tonumber(s) end",
  'a long string that is not a number in another base': "local s = ('z'):rep(8e6) while true do tonumber(s, 36) end",
  'long source text': "local s = ('a=1 '):rep(1e6) while true do load(s) end",
  'source text that causes backtracking in the compiler':
    "local s = 'return ' .. ('a or '):rep(50000) .. 'a' while true do load(s) end",
  'long texts that are hashed': "local s = ('x'):rep(8e6) while true do hash.fnv32(s) end",
  'long texts that are quoted': "local s = ('\"'):rep(4e6) while true do string.format('%q', s) end",
  'long texts that are compared': "local a, b = ('a'):rep(4e6), ('a'):rep(4e6) while true do local x = a == b end",
  'a list of a billion': 'luaList.new():set(1e9, 1)',
};

/** Maximum CPU time of a script on a busy machine, in milliseconds. */
const HELD_MS = 450;

describe('a hostile Lua script', () => {
  for (const [what, code] of Object.entries(exploding)) {
    it(`is stopped: ${what}`, async () => {
      const before = process.threadCpuUsage();
      const { failure } = await run(code);
      const { user } = process.threadCpuUsage(before);
      ok(failure !== undefined, 'it came to its end');
      ok(user / 1000 < HELD_MS, `${user / 1000} ms`);
    });
  }

  it('cannot access the process, the file system or the network', async () => {
    const names =
      'io require package dofile loadfile debug.getinfo debug.sethook os.execute os.getenv os.exit os.remove';
    for (const name of names.split(' ')) equal(await value(`type(${name})`), 'nil', name);
    equal(await value('string.dump == nil, js == nil, fengari == nil'), 'true\ttrue\ttrue');
  });

  it('cannot load bytecode', async () => {
    match(await value("load('\\27LuaS')"), /nil.*binary|nil/s);
    match(await value("select(2, load('\\27LuaS'))"), /attempt to load a binary chunk/);
  });

  it('cannot modify libraries that all scripts share', async () => {
    for (const code of [
      'string.upper = 1',
      "rawset(string, 'upper', 1)",
      "table.insert(table, 'x')",
      'setmetatable(string, {})',
      "getmetatable('').__index = nil",
      'setmetatable(_G, {})',
      'getmetatable(luaTable.new()).__index = nil',
    ]) {
      const { failure } = await run(code);
      ok(failure !== undefined, code);
    }
    equal(await value("('a'):upper(), type(string.upper)"), 'A\tfunction');
  });

  it('leaves no globals behind for the next script', async () => {
    await run("leak = 1; _G.more = 2; print = nil; rawset(_G, 'raw', 3)");
    equal(await value('leak, more, raw, type(print)'), 'nil\tnil\tnil\tfunction');
    await run("load('loaded = 1')()");
    equal(await value('loaded'), 'nil');
  });

  it('sees its own globals in code that it loads', async () => {
    deepEqual((await run("x = 'mine'; load('print(x); y = 1')(); print(y)")).printed, ['mine', '1']);
  });

  it('cannot predict the random numbers of another script', async () => {
    const seeded = 'math.randomseed(1); print(math.random(1e9))';
    const numbers = [await run(seeded), await run(seeded)].map(({ printed }) => printed[0]);
    equal(new Set(numbers).size, 2);
  });

  it('cannot wait outside a call, and receives an error if it tries', async () => {
    const url = "'http://127.0.0.1:9'";
    match(
      (await run(`coroutine.wrap(function() http_response.new(${url}) end)()`)).failure!,
      /asynchronous functions cannot be called/,
    );
    match((await run('coroutine.yield()')).failure!, /yield from outside a coroutine/);
  });
});
