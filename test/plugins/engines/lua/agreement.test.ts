import { deepEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { INSTALLATION_MS, isInstalled } from '../../../support/debian.ts';
import { run } from './fixture.ts';

/** Scripts that print. Both interpreters must print the same; integers stay below those that Lua shortens. */
const scripts: Readonly<Record<string, string>> = {
  'numbers as texts': 'print(0.1 + 0.2, 1/3, 100/3, 1e100, 2^-1074, -1.5, 123456.789, 1e-5, 0.0001, 3.0, -0.1, 1e15/7)',
  'whole numbers as texts': "print(7, 1e3, 2^31, 2^32 + 1, 99999999999999, -5, 10 .. '', 2^40 .. '|')",
  infinities: 'print(1/0, -1/0, 1/0 == math.huge, 0/0 ~= 0/0)',
  arithmetic: 'print(7 % 3, -7 % 3, 7 % -3, 5.5 % 2, 2 ^ 10, 7 / 2, -2 ^ 2, 1e15 % 7, 50000 * 50000)',
  comparisons: "print(1 < 2, 'a' < 'b', 'Z' < 'a', 'a' == 'a', 1 == '1', 2^31 > 2^31 - 1, not nil)",
  'texts as numbers': "print('10' + 5, '0x10' + 0, ' 7 ' * 2, '1e2' / 1, 10 .. 20, -'3')",
  tonumber:
    "print(tonumber('12'), tonumber(' 1.5 '), tonumber('x'), tonumber('ff', 16), tonumber('777', 8), tonumber('zz', 36), tonumber(''), tonumber('1e1'), tonumber('0xFFFFFFFFF'), tonumber('10', 2), tonumber('1 2'))",
  tostring: "print(tostring(nil), tostring(true), tostring(12), tostring('x'), tostring(1.25))",
  lengths: "print(#'', #'abc', #{1, 2, 3}, #('x'):rep(70000) * 70000)",
  loops: "local s = '' for i = 10, 1, -3 do s = s .. i .. ',' end for i = 1, 2, 0.25 do s = s .. i .. ';' end print(s)",
  closures:
    'local function counter() local n = 0 return function() n = n + 1 return n end end local c = counter() c() print(c(), c())',
  varargs: "local function f(...) local a, b = ... return select('#', ...), b, select(-1, ...) end print(f(1, nil, 3))",
  unpack: 'print(unpack({1, 2, 3}, 2), unpack({1, 2, 3}, 2, 3))',
  metatables:
    "local t = setmetatable({}, {__index = function(_, k) return k .. '!' end, __call = function(_, a) return a * 2 end, __add = function() return 'sum' end, __tostring = function() return 'T' end, __concat = function() return 'joined' end}) print(t.x, t(4), t + 1, tostring(t), t .. 'a', rawget(t, 'x'))",
  inheritance:
    'local A = {} A.__index = A function A.new(n) return setmetatable({n = n}, A) end function A:get() return self.n end local B = setmetatable({}, {__index = A}) B.__index = B print(setmetatable({n = 5}, B):get(), A.new(6):get())',
  'comparison by metatables':
    'local m = {__lt = function(a, b) return a.v < b.v end, __eq = function(a, b) return a.v == b.v end} local a, b = setmetatable({v = 1}, m), setmetatable({v = 2}, m) print(a < b, b < a, a == b, a ~= b)',
  errors:
    "print(pcall(error, 'x'), pcall(error, {1}) == false, select(2, pcall(error, 'm', 0)), pcall(function() return 1, 2 end))",
  'errors with a handler': "print(xpcall(function() error('x', 0) end, function(m) return m .. '!' end))",
  coroutines:
    'local c = coroutine.create(function(a) local b = coroutine.yield(a + 1) return b * 2 end) print(coroutine.resume(c, 1)) print(coroutine.resume(c, 10)) print(coroutine.resume(c)) print(coroutine.status(c))',
  generators: 'local g = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) print(g(), g(), g())',
  'table.insert and remove':
    "local t = {1, 2, 3} table.insert(t, 4) table.insert(t, 1, 0) print(table.concat(t, ',')) print(table.remove(t), table.remove(t, 1), #t)",
  'table.concat':
    "print(table.concat({1, 2.5, 'c'}, '-'), table.concat({}, 'x'), table.concat({'a', 'b', 'c'}, ',', 2, 3), table.concat({1/3, 1e20}, ' '))",
  'table.sort':
    "local t = {5, 2, 8, 1} table.sort(t) print(table.concat(t, ',')) table.sort(t, function(a, b) return a > b end) print(table.concat(t, ','))",
  'table.maxn and getn': 'print(table.maxn({1, 2, [10.5] = 3}), table.maxn({}), table.getn({1, 2}))',
  'pairs of a list':
    "local s = '' for k, v in pairs({'a', 'b', 'c'}) do s = s .. k .. v end for i, v in ipairs({'x', nil, 'z'}) do s = s .. i .. v end print(s)",
  'pairs of a list beside other keys':
    "local s = '' local t = {1, x = 9, 2, 3} t[4] = 4 t[6] = 6 t[5] = 5 for k, v in pairs(t) do if k ~= 'x' then s = s .. v end end t[2] = nil t[3] = nil for k in pairs(t) do t[k] = nil end print(s, next(t), next({1, a = 2}))",
  'keys that are numbers':
    'local t = {} t[1.0] = "a" t[2^31] = "b" t[-1] = "c" print(t[1], t[2147483648], t[-1], next({[100000] = 1}) * 100000)',
  'string.sub':
    "print(('hello'):sub(2), ('hello'):sub(-3), ('hello'):sub(2, -2), ('hello'):sub(10), ('hello'):sub(0), ('hello'):sub(1.7, 3.2), ('hello'):sub(-100, 2))",
  'string.byte and char':
    "print(('abc'):byte(), ('abc'):byte(2, 3), ('abc'):byte(10), string.char(72, 105), ('\\200'):byte())",
  'string functions':
    "print(('aB'):upper(), ('aB'):lower(), ('abc'):reverse(), ('ab'):rep(3), ('ab'):rep(0), ('ab'):rep(-1), ('ab'):rep(1.5), ('x'):len())",
  'string.find':
    "print(('hello world'):find('o w'), ('hello'):find('l+'), ('hello'):find('xyz'), ('a.b'):find('.', 2, true), ('hello'):find('', 3), ('hello'):find('', 10), ('abc'):find('b', -1))",
  'string.match':
    "print(('key = value'):match('^(%w+)%s*=%s*(%w+)$'), ('2024-01-02'):match('(%d+)-(%d+)-(%d+)'), ('[[x]]'):match('%[%[(.-)%]%]'), ('abc'):match('()c()'), ('  x '):match('^%s*(.-)%s*$'))",
  'string.gmatch':
    "local s = '' for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do s = s .. k .. v end for w in string.gfind('one two', '%a+') do s = s .. w end print(s)",
  'string.gsub':
    "print(('hello'):gsub('l', 'L'), ('hello'):gsub('', '-'), ('abc'):gsub('%w', '%0%0', 2), ('$name'):gsub('%$(%w+)', {name = 'x'}), ('abc'):gsub('b', function() return false end), ('a b'):gsub('(%w) (%w)', '%2 %1'))",
  'classes of patterns':
    "print(('a1 _\\t!'):gsub('%a', 'A'), ('a1 _!'):gsub('%p', 'P'), ('a\\0b'):gsub('%z', 'Z'), ('aB'):gsub('%l', 'l'), ('aB'):gsub('%u', 'u'), ('0x1F'):match('%x+', 3), ('a-b'):gsub('[a-]', '.'), ('a]b'):gsub('[]]', '.'), ('abc'):gsub('[^b]', '.'))",
  'balances and frontiers':
    "print(('f(a(b)c)d'):match('%b()'), ('THE (quick) fox'):gsub('%f[%a]%a+', 'w'), ('aa bb'):match('(%w)%1'))",
  'mistakes in patterns':
    "print(pcall(string.match, 'a', '[a') == false, pcall(string.match, 'a', '(a') == false, pcall(string.gsub, 'a', '%', '') == false)",
  'string.format of whole numbers':
    "print(('%d|%5d|%-5d|%05d|%+d|% d|%.3d|%i'):format(42, 42, 42, -42, 42, 42, 7, 3.9), ('%d'):format(3e9), ('%d'):format('10'), ('[%.0d]'):format(0))",
  'string.format of other bases':
    "print(('%x|%X|%#x|%o|%#o|%u|%08x|%x'):format(255, 255, 255, 8, 8, 42, 48879, -1), ('%c%c'):format(72, 105))",
  'string.format of fractions':
    "print(('%f|%.2f|%8.3f|%-8.1f|%+.1f|%08.2f|%.0f|%.0f|%.0f|%.3f'):format(1.5, 2.345, 3.14159, 2.25, 1, -3.5, 0.5, 1.5, 2.5, 1e20))",
  'string.format with exponents': "print(('%e|%.2E|%.0e|%10.3e|%e|%e'):format(12345.678, 0.00012, 5, 1.5, 0, 1e-300))",
  'string.format, the shorter of both':
    "print(('%g|%g|%g|%g|%.3g|%G|%#g|%.14g|%.17g|%g'):format(100000, 1e6, 0.0001, 0.00001, 1234.5, 1e-10, 1.5, 0.1, 0.1, 1000005))",
  'string.format of what is no number': "print(('%f|%5.1f|%g|%d'):format(1/0, -1/0, 1/0, 0))",
  'string.format of texts':
    "print(('%s|%10s|%-10s|%.2s|%5.1s|%%|%s'):format('a', 'right', 'left', 'cut', 'xyz', 12.5), ('%q'):format('a \"b\"\\n\\0\\\\'))",
  'mistakes in formats':
    "print(pcall(string.format, '%y', 1) == false, pcall(string.format, '%d', 'x') == false, pcall(string.format, '%d') == false, pcall(string.format, '%100d', 1) == false)",
  rounding:
    'print(math.floor(3.7), math.floor(-3.2), math.ceil(3.2), math.ceil(-3.7), math.floor(2^31 + 0.5), math.fmod(-7, 3), math.mod(7, 3), math.modf(3.7), math.modf(-3.7))',
  'functions of numbers':
    'print(math.abs(-5), math.max(1, 7, 3), math.min(4, 2), math.sqrt(16), math.pow(2, 0.5), math.exp(1), math.log(10), math.log10(1000), math.pi)',
  'functions of angles':
    'print(math.sin(1), math.cos(1), math.tan(1), math.asin(1), math.acos(0), math.atan(1), math.atan2(-1, -1), math.deg(math.pi), math.rad(180), math.sinh(1), math.cosh(1), math.tanh(1))',
  'powers of two':
    'print(math.frexp(10), math.frexp(-0.1), math.frexp(0), math.ldexp(0.5, 4), math.ldexp(1, -1074), math.ldexp(1, 1023.9))',
  times:
    "print(os.date('!%Y-%m-%d %H:%M:%S', 86400), os.date('!%a %A %b %B %c %d %I %j %m %M %p %S %U %w %W %x %X %y %Y %%', 1234567890), os.date('!%U %W %j %I %p', 946684800), os.date('!*t', 0).year, os.difftime(10, 4), os.time({year = 2040, month = 1, day = 2, hour = 12}) - os.time({year = 2040, month = 1, day = 1, hour = 12}))",
  loadstring:
    "print(loadstring('return 1 + 1')(), loadstring('x y') == nil, type(loadstring('return ...')), loadstring('return ...')(7))",
  types:
    "print(type(nil), type(1), type('x'), type({}), type(print), type(coroutine.create(function() end)), type(1) == type(1.5))",
  'random numbers':
    'local r = math.random(1, 6) print(r >= 1 and r <= 6, math.random() < 1, math.random(1), pcall(math.random, 0) == false)',
};

describe('the Lua engine compared with Lua 5.1 (apt-get install lua5.1)', () => {
  let printed: readonly string[] = [];

  before(function () {
    this.timeout(INSTALLATION_MS);
    if (!isInstalled('lua5.1')) this.skip();
    const mark = '=== next ===';
    const input = Object.values(scripts).map((script) => `(function() ${script} end)()`);
    const { stdout } = spawnSync('lua5.1', ['-'], { input: input.join(`;print("${mark}");`), encoding: 'utf8' });
    printed = stdout.split(`${mark}\n`);
  });

  for (const [at, [what, script]] of Object.entries(scripts).entries()) {
    it(`prints the same output: ${what}`, async () => {
      const { printed: ours, failure } = await run(script);
      deepEqual([`${ours.join('\n')}\n`, failure], [printed[at], undefined]);
    });
  }
});
