import { deepEqual, equal, match } from 'node:assert/strict';
import { run, value } from './fixture.ts';

/** Expressions and their output, as in Lua 5.1. */
const expressions: readonly (readonly [what: string, expression: string, printed: string])[] = [
  ['integers and floats as one type', '7 / 2, 3, 6 / 2, 2 ^ 53, 1e15', '3.5\t3\t3\t9007199254740992\t1000000000000000'],
  [
    'products beyond 32 bits',
    "50000 * 50000, tonumber('50000') * tonumber('50000'), 2147483647 + 1",
    '2500000000\t2500000000\t2147483648',
  ],
  [
    'integers with all digits and fractions with 14',
    "9007199254740991 .. '', -2 ^ 62, 2 ^ 63, 0.1 + 0.2, 1 / 3",
    '9007199254740991\t-4611686018427387904\t9.2233720368548e+18\t0.3\t0.33333333333333',
  ],
  ['hexadecimal numbers beyond 31 bits', "0xFFFFFFFF, tonumber('0xFFFFFFFF'), 0x10", '4294967295\t4294967295\t16'],
  ['conversion of strings to numbers and back', "'10' + 5, 10 .. 20, #'abc'", '15\t1020\t3'],
  ['unpack and select', "unpack({1, 2, 3}), select('#', 1, 2)", '1\t2'],
  ['table functions', "table.concat({1, 2, 'c'}, ','), table.getn({1, 2})", '1,2,c\t2'],
  [
    'string functions',
    "('x'):upper(), ('abc'):sub(2), ('ab'):rep(2), ('abc'):reverse(), ('%d-%s'):format(3, 'a')",
    'X\tbc\tabab\tcba\t3-a',
  ],
  ['math functions', 'math.floor(3.7), math.ceil(3.2), math.max(1, 5), math.pow(2, 3), math.abs(-1)', '3\t4\t5\t8\t1'],
  ['the time', "os.time() > 1e9, type(os.clock()), os.date('%Y', 86400)", 'true\tnumber\t1970'],
  ['loadstring', "loadstring('return 1 + 1')(), (load(function() return nil end))()", '2'],
  ['caught errors', "pcall(error, 'x'), select(2, pcall(error, 'x'))", 'false\tx'],
  [
    'coroutines',
    'coroutine.wrap(function() coroutine.yield(1) end)(), coroutine.status(coroutine.create(print))',
    '1\tsuspended',
  ],
];

/** Pattern matches and their output. */
const patterns: readonly (readonly [expression: string, printed: string])[] = [
  ["('hello world'):find('o w')", '5\t7'],
  ["('hello'):find('l')", '3\t3'],
  ["('hello'):find('xyz')", 'nil'],
  ["('a.b'):find('.', 1, true)", '2\t2'],
  ["('hello'):find('l', -2)", '4\t4'],
  ["('key=val'):match('(%w+)=(%w+)')", 'key\tval'],
  ["('  trim  '):match('^%s*(.-)%s*$')", 'trim'],
  ["('abc'):match('()b()')", '2\t3'],
  ["('f(a(b)c)d'):match('%b()')", '(a(b)c)'],
  ["('THE (quick) fox'):find('%((%a+)%)')", '5\t11\tquick'],
  ["('x=1 y'):match('%f[%w]%w+')", 'x'],
  ["('aa bb'):match('(%w)%1')", 'a'],
  ["('a-b_c'):gsub('[-_]', '.')", 'a.b.c\t2'],
  ["('abc'):gsub('%w', '%0%0')", 'aabbcc\t3'],
  ["('abc'):gsub('', '-')", '-a-b-c-\t4'],
  ["('hello world'):gsub('o', '0', 1)", 'hell0 world\t1'],
  ["('$x $y'):gsub('%$(%w+)', {x = '1'})", '1 $y\t2'],
  ["('abc'):gsub('%w', function(c) if c == 'b' then return 'B' end end)", 'aBc\t3'],
  ["('abc'):gsub('^a', 'x')", 'xbc\t1'],
  ["('[x]'):match('[]]')", ']'],
  ["('0x1F'):match('^0x(%x+)$')", '1F'],
  ["('a1'):match('[^%d]')", 'a'],
  ["('x'):rep(0) == '' and ('ab'):match('a-b')", 'ab'],
];

describe('the Lua engine', () => {
  for (const [what, expression, printed] of expressions) {
    it(`supports ${what}`, async () => equal(await value(expression), printed));
  }

  for (const [expression, printed] of patterns) {
    it(`matches patterns as Lua does: ${expression}`, async () => equal(await value(expression), printed));
  }

  it('iterates over the matches of a pattern', async () => {
    const { printed } = await run("for k, v in ('a=1,b=2'):gmatch('(%w+)=(%w+)') do print(k, v) end");
    deepEqual(printed, ['a\t1', 'b\t2']);
  });

  it('sorts numbers, strings and all ordered values stably', async () => {
    const sorted = async (list: string, order = '') =>
      (await value(`(function() local t = ${list} table.sort(t${order}) return table.concat(t, ' ') end)()`)).split(
        ' ',
      );
    deepEqual(await sorted('{3, -1, 2.5, 1e300, 0, 3}'), ['-1', '0', '2.5', '3', '3', '1e+300']);
    deepEqual(await sorted("{'b', 'B', '', 'ab', 'é', 'a'}"), ['', 'B', 'a', 'ab', 'b', 'é']);
    deepEqual(await sorted("{'b1', 'a1', 'b2', 'a2'}", ', function(a, b) return a:byte() < b:byte() end'), [
      'a1',
      'a2',
      'b1',
      'b2',
    ]);
    equal(
      await value(`(function()
        local order = {__lt = function(a, b) return a.n > b.n end}
        local t = {}
        for i = 1, 9 do t[i] = setmetatable({n = i}, order) end
        table.sort(t)
        return t[1].n .. t[5].n .. t[9].n
      end)()`),
      '951',
    );
    match(await value("table.sort({1, 'a'})"), /attempt to compare (?:string with number|number with string)/);
    match(await value("table.sort({2, 1}, 'x')"), /function expected/);
    equal(await value('(function() local t = {} table.sort(t) return #t end)()'), '0');
  });

  it('does not convert strings longer than a kilobyte to numbers', async () => {
    equal(await value("tonumber(('0'):rep(1023) .. '7'), tonumber(('0'):rep(1024) .. '7')"), '7\tnil');
    match(await value("(('0'):rep(1024) .. '7') + 1"), /attempt to perform arithmetic on a string value/);
  });

  it('does not load source text larger than 256 KiB at run time', async () => {
    match(await value("loadstring(('a=1 '):rep(65537))"), /source text of more than 262144 bytes is not loaded/);
  });

  it('describes errors in patterns', async () => {
    for (const pattern of ['[a', '(a', 'a)', '%', '%1', '%f', '%b']) {
      match(await value(`('a'):match('${pattern}')`), /pattern|capture|missing/, pattern);
    }
  });

  it('provides only the base and table libraries unless others are enabled', async () => {
    equal(
      await value('type(string), type(math), type(os), type(coroutine), type(table), type(pairs)', {}),
      'nil\tnil\tnil\tnil\ttable\tfunction',
    );
    match(
      await value("string.upper('a')", {}),
      /global 'string'.*set "allow_open_libs": true to load the string library \(pre-script:L1\)/,
    );
    match(await value("('a'):upper()", {}), /"allow_open_libs": true/);
  });

  it('preserves bytes in strings', async () => {
    equal(await value("#'é', ('\\255\\0a'):byte(1, -1)"), '2\t255\t0\t97');
  });

  it('provides functions for JSON, base64, hashes and times', async () => {
    equal(await value(`json.marshal(json.unmarshal('{"a":[1,2.5,{"b":null}]}'))`, {}), '{"a":[1,2.5,{"b":null}]}');
    equal(await value("base64.encode('hi'), base64.decode('aGk=')", {}), 'aGk=\thi');
    equal(await value("hash.md5('a'), hash.sha256('a'):sub(1, 8)"), '0cc175b9c0f1b6a831c399e269772661\tca978112');
    equal(await value("hash.fnv32('foobar'), hash.fnv32('')", {}), 'bf9cf968\t811c9dc5');
    equal(await value('time.now() > 1e9, time.rfc3339(0)', {}), 'true\t1970-01-01T00:00:00.000Z');
    equal(
      await value(
        "time.parse('1970-01-01T01:00:10+01:00'), time.parse('1970-01-01T00:00:00.5Z'), time.parse('1970-01-01')",
      ),
      '10\t0.5\tnil',
    );
    match(await value("json.unmarshal('{')", {}), /not valid JSON/);
  });

  it('provides functions for YAML', async () => {
    equal(
      await value("json.marshal(yaml.unmarshal('a: [1, 2.5]\\nb: {c: null}'))", {}),
      '{"a":[1,2.5],"b":{"c":null}}',
    );
    equal(await value("yaml.unmarshal('- x\\n- y'):len(), yaml.unmarshal('just text')", {}), '2\tjust text');
    equal(await value("yaml.marshal({a = {1, 'no'}, b = true})", {}), 'a:\n  - 1\n  - "no"\nb: true');
    equal(await value("yaml.marshal(json.unmarshal('[]')), yaml.marshal(3), yaml.marshal(nil)", {}), '[]\n\t3\n\tnull');
    match(await value("yaml.unmarshal('a: [')", {}), /not valid YAML: 1:\d+/);
  });

  it('provides functions for XML', async () => {
    const document = '<user id="7"><tag>a</tag><tag>b</tag></user>';
    equal(await value(`json.marshal(xml.unmarshal('${document}'))`, {}), '{"user":{"-id":"7","tag":["a","b"]}}');
    equal(await value(`xml.marshal(xml.unmarshal('${document}'))`, {}), document);
    equal(await value("xml.marshal({user = {name = 'A & B'}})", {}), '<user><name>A &amp; B</name></user>');
    match(await value("xml.unmarshal('<a>')", {}), /not valid XML/);
    match(await value('xml.marshal({1, 2})', {}), /cannot be written as XML: a document must be a table/);
  });

  it('provides functions for CSV', async () => {
    const text = 'id,name\\n1,"Ada, ""A"""\\n2,';
    equal(
      await value(`json.marshal(csv.unmarshal('${text}'))`, {}),
      '[{"id":"1","name":"Ada, \\"A\\""},{"id":"2","name":""}]',
    );
    equal(await value(`csv.marshal(csv.unmarshal('${text}'))`, {}), 'id,name\n1,"Ada, ""A"""\n2,');
    equal(await value("csv.marshal(json.unmarshal('[[1,null],[true,2.5]]'))"), '1,\ntrue,2.5');
    match(await value("csv.unmarshal('a,b\\n1')", {}), /not valid CSV: line 2: 1 fields, but the first line has 2/);
  });

  it('parses documents no longer than its time limit allows', async () => {
    match(await value("yaml.unmarshal(('x'):rep(70000))"), /YAML must not have more than 65536 bytes/);
    match(await value("xml.unmarshal(('x'):rep(600000))"), /XML must not have more than 524288 bytes/);
  });

  it('converts tables to data: outer tables to objects, inner ones with integer keys to lists', async () => {
    const stored = async (lua: string) =>
      value(`(function() local t = luaTable.new(); t:set('v', ${lua}); return json.marshal(t) end)()`, {});
    equal(await stored("{'a', 'b'}"), '{"v":{"1":"a","2":"b"}}');
    equal(await stored('{x = {1, 2, {3}}}'), '{"v":{"x":[1,2,[3]]}}');
    equal(await stored('3.0'), '{"v":3}');
    equal(await stored('luaNil.new()'), '{"v":null}');
    equal(await stored('nil'), '{}');
    equal(await stored("{['__proto__'] = 1}"), '{"v":{"__proto__":1}}');
    match(await stored('print'), /a function cannot be converted to data/);
    match(await stored('0 / 0'), /not finite/);
  });

  it('provides lists that start at 0 and grow with nulls', async () => {
    const code = `local l = luaList.new(); l:set(2, 'c'); l:set(0, 'a'); l:del(1)
      local t = luaTable.new(); t:set('l', l); t:set('b', 1); t:del('b')
      print(json.marshal(t), l:len(), t:len(), t:keyExists('l'), t:keyExists('b'), t:keys():get(0), l:get(9), t:get('no') == nil)
      print(type(json.unmarshal('{"n":null}'):get('n')))`;
    deepEqual((await run(code, {})).printed, ['{"l":["a","c"]}\t2\t1\ttrue\tfalse\tl\tnil\ttrue', 'userdata']);
  });

  it('ignores reads and writes beyond the ends of a list, except set, which extends the list', async () => {
    const code = `local l = luaList.new(); l:set(0, 'a'); l:set(-1, 'x'); l:del(-1); l:del(1); l:del(9)
      print(json.marshal(l), l:get(-1), l:get(1), l:get(0 / 0), l:get(0.5), select('#', l:get(5)))
      l:set(2, 'c') print(json.marshal(l))`;
    deepEqual((await run(code, {})).printed, ['["a"]\tnil\tnil\tnil\ta\t0', '["a",null,"c"]']);
  });

  it('rejects cyclic data', async () => {
    const inner = 'local t, l = luaTable.new(), luaList.new(); l:set(0, t)';
    match((await run('local t = luaTable.new(); t:set("self", t)', {})).failure!, /data cannot contain itself/);
    match((await run(`${inner}; t:set('l', l)`, {})).failure!, /data cannot contain itself/);
    equal((await run(`${inner}; l:set(1, t); print(json.marshal(l))`, {})).printed[0], '[{},{}]');
  });

  it('explains the syntax of method calls', async () => {
    match(await value('luaTable.new().len()', {}), /luaTable expected: call it with a colon, as in value:len\(\)/);
  });
});
