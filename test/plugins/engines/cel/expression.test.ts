import { deepEqual, equal, match } from 'node:assert/strict';
import { compile, refusal, verdict } from './fixture.ts';

/** Expressions that are true, by the feature they show. */
const holding: Readonly<Record<string, readonly string[]>> = {
  'arithmetic of integers and decimals': [
    '7 / 2 == 3 && 7 % 2 == 1 && -7 / 2 == -3',
    '7.0 / 2.0 == 3.5 && 1.5 + 1.5 == 3.0 && 2 * 3 - 1 == 5',
    '1u + 2u == 3u && -number == -1',
  ],
  'comparisons, also of numbers of different types': [
    '1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2',
    'number == 1.0 && 1u == number && number < 1.5 && 1.0 >= 1u',
    "'a' < 'b' && b'a' < b'b' && false < true",
  ],
  'conditions and choices': ['!false && (true || false)', "(number == 1 ? 'one' : 'other') == 'one'"],
  'list and object literals': [
    "[1, 2][1] == 2 && {'a': 1}.a == 1 && {'a': 1}['a'] == 1 && [1] + [2] == [1, 2]",
    "2 in [1, 2] && 'a' in {'a': 1} && !('b' in {'a': 1})",
    '[1, [2]] == [1, [2]] && {"a": [1]} == {"a": [1.0]}',
  ],
  'macros over lists and objects': [
    'has(data.list) && !has(data.none) && has(data.nothing)',
    'data.list.all(x, x > 0) && data.list.exists(x, x == 2) && data.list.exists_one(x, x == 2)',
    '!data.list.exists_one(x, x > 1) && !data.list.all(x, x > 1)',
    'data.list.map(x, x * 2) == [2, 4, 6] && data.list.map(x, x > 1, x * 2) == [4, 6]',
    'data.list.filter(x, x > 1) == [2, 3] && [[1], [2]].map(x, x.map(y, y + 1)) == [[2], [3]]',
    'data.object.all(key, data.object[key] > 0) && [].all(x, x)',
  ],
  'names of fields in backquotes': [
    'data.`a-b`.`c.d/e f` == 1 && has(data.`a-b`) && !has(data.`a-c`) && has(data.`a-b`.`in`)',
    "'.`a-b`' == r'.`a-b`' && data.`a-b` . `in` == '`'",
  ],
  'types of protocol buffers': [
    "type(timestamp(0)) == google.protobuf.Timestamp && type(duration('1s')) == google.protobuf.Duration",
    'google.protobuf.Timestamp != google.protobuf.Duration && type(google.protobuf.Duration) == type',
  ],
  'times from the year 1 to the year 9999': [
    "timestamp(253402300799) == timestamp('9999-12-31T23:59:59Z')",
    "timestamp(-62135596800) == timestamp('0001-01-01T00:00:00Z')",
  ],
  'string functions': [
    "size(text) == 4 && text.size() == 4 && size('aé😀') == 3 && size(b'abc') == 3",
    "text.contains('ex') && text.startsWith('te') && text.endsWith('xt') && 'a' + 'b' == 'ab'",
    "text.matches('e.t') && !text.matches('^x') && text.matches(r'^\\w+$')",
    "['^a', '^t'].exists(pattern, text.matches(pattern)) && text.matches('^te' + 'xt')",
  ],
  'sizes of lists and objects': ['size(data.list) == 3 && data.object.size() == 2 && size([]) == 0'],
  conversions: [
    "int('12') == 12 && int('-3') == -3 && int(2.9) == 2 && int(3u) == 3 && int('+4') == 4 && int('007') == 7",
    "uint('3') == 3u && double('1e3') == 1000.0 && double('.5') == 0.5 && double('inf') > 1.0 && string(12) == '12'",
    "bool('true') && string(true) == 'true' && bytes('a') == b'a' && string(b'a') == 'a'",
    "type(1) == int && type('a') == string && type(null) == null_type && type(dyn(1.5)) == double",
    "duration('90m') == duration('1h30m') && duration('1m') < duration('1h') && duration('90s').getMinutes() == 1",
    "timestamp(60) == timestamp('1970-01-01T00:01:00Z') && int(timestamp('1970-01-01T00:01:00Z')) == 60",
  ],
  'exact numbers in data': [
    'data.whole == 5 && type(data.whole) == int && type(data.decimal) == double && data.decimal > 1',
    'data.huge == 9007199254740993 && data.huge != 9007199254740992 && type(data.huge) == int',
    'type(data.beyond) == double && data.beyond > 1e20',
  ],
  'null members and members such as __proto__': [
    "'nothing' in data && data.nothing == null",
    "!has(data.constructor) && !('__proto__' in data) && !has(data.object.toString)",
  ],
};

describe('a CEL expression', () => {
  const data = {
    'a-b': { 'c.d/e f': 1, in: '`' },
    list: [1, 2, 3],
    object: { a: 1, b: 2 },
    nothing: null,
    whole: 5,
    decimal: 1.5,
    huge: JSON.rawJSON('9007199254740993'),
    beyond: JSON.rawJSON('123456789012345678901'),
  };
  for (const [what, sources] of Object.entries(holding)) {
    it(`supports ${what}`, () => {
      for (const source of sources) equal(verdict(source, data), true, source);
    });
  }

  it('reads parts of a timestamp in UTC and in time zones, regardless of the system time zone', () => {
    const zone = process.env.TZ;
    try {
      process.env.TZ = 'Europe/Berlin';
      const inUtc = ['FullYear() == 2024', 'Month() == 2', 'Date() == 31', 'DayOfMonth() == 30', 'DayOfWeek() == 0'];
      const segments = [...inUtc, 'DayOfYear() == 90', 'Hours() == 2', 'Minutes() == 30', 'Seconds() == 0'];
      const zones = ["Hours('+01:00') == 3", "Hours('-03:30') == 23", "Hours('Europe/Berlin') == 4"];
      for (const segment of [...segments, 'Milliseconds() == 250', ...zones, "DayOfWeek('America/New_York') == 6"]) {
        equal(verdict(`timestamp(now).get${segment}`), true, segment);
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it('adds and subtracts timestamps and durations', () => {
    equal(verdict("timestamp(now) - timestamp('2024-03-30T02:30:00.250Z') == duration('24h')"), true);
    equal(verdict("timestamp(now) + duration('1s') > timestamp(now)"), true);
  });

  it('returns the result of && and || if one side decides it, even if the other side fails', () => {
    for (const source of ['false && 1 / 0 > 0', '1 / 0 > 0 && false']) equal(verdict(source), false, source);
    for (const source of ['true || 1 / 0 > 0', '1 / 0 > 0 || true']) equal(verdict(source), true, source);
    match(String(verdict('1 / 0 > 0 || false')), /divide by zero/);
  });

  it('fails instead of guessing if a value has the wrong type', () => {
    for (const source of [
      ...[
        "int('') == 0",
        "int(' 1') == 1",
        "int('0x10') == 16",
        "int('1e3') == 1000",
        "int('9223372036854775808') > 0",
      ],
      ...[
        "double('') == 0.0",
        "double('0x1') == 1.0",
        "uint('-1') == 1u",
        "bool('yes')",
        "timestamp('now') == timestamp(0)",
      ],
      ...[
        'data.none == 1',
        "params['None'] == ''",
        'data.list[7] == 1',
        'data.whole',
        'data.text + 1 == 2',
        'data.whole.a == 1',
      ],
      ...['9223372036854775807 + 1 > 0', "timestamp(now).getHours('Nowhere/City') == 1"],
      ...['timestamp(253402300800) == timestamp(0)', 'timestamp(-62135596801) == timestamp(0)'],
    ]) {
      equal(typeof verdict(source, { list: [1], whole: 5, text: 'a' }), 'string', source);
    }
  });

  it('rejects integers beyond 64 bits, regardless of the number of digits', () => {
    match(String(verdict(`int(data.text) > 0`, { text: '9'.repeat(1_000_000) })), /is not an integer/);
  });

  it('lists the variables that it reads', () => {
    deepEqual([...compile("text == 'a' || params.all(text2, text2 == now)").reads], ['text', 'params', 'now']);
  });

  it('lists the constant keys that it reads', () => {
    deepEqual(compile("lists['a-b'][0] == params.Id && data.a.b == 1").keys, [
      { variable: 'lists', key: 'a-b' },
      { variable: 'params', key: 'Id' },
      { variable: 'data', key: 'a' },
    ]);
  });
});

/** Rejected expressions with their error messages. */
const refused: readonly (readonly [source: string, ...said: (string | undefined)[]])[] = [
  ['text ==', 'CEL_SYNTAX'],
  ["text == 'a' &&& true", 'CEL_SYNTAX'],
  ['', 'CEL_SYNTAX'],
  ['nubmer == 1', 'CEL_NAME', "unknown variable 'nubmer'", 'did you mean "number"?', 'n'],
  ['[1].all(x, y > 0)', 'CEL_NAME', "unknown variable 'y'"],
  ['params.Id == 3', 'CEL_NEVER', 'string == int is never true', 'int(text) converts a string to a number', '='],
  ['params.Id != 3', 'CEL_NEVER', 'string != int is always true'],
  ["lists.A == 'a'", 'CEL_NEVER', 'list(string) == string is never true', 'value in list, or list[0]'],
  ['1 in lists.A', 'CEL_NEVER', 'list(string) never contains int'],
  ['1 in params', 'CEL_NEVER', 'map(string, string) never contains int'],
  ['text == null', 'CEL_NEVER'],
  ["lists.A.map(x, x + 'a') == [1]", 'CEL_NEVER', 'list(string) == list(int) is never true'],
  [
    "now > timestamp('2024-01-01T00:00:00Z')",
    'CEL_TYPE',
    '> cannot be applied to (string, timestamp)',
    'timestamp(text) converts a string to a time',
  ],
  ["1 + 'a' == 2", 'CEL_TYPE', '+ cannot be applied to (int, string)'],
  ['text.field == 1', 'CEL_TYPE', "string has no field 'field'"],
  ['text.all(x, true)', 'CEL_TYPE', 'string has no members to iterate over'],
  ['"a" in text', 'CEL_TYPE', 'in cannot be applied to (string, string)'],
  ['number && true', 'CEL_TYPE', '&& cannot be applied to (int, bool)'],
  ['number ? true : false', 'CEL_TYPE', '?: cannot be applied to (int)'],
  ['lists[1] == []', 'CEL_TYPE', '[] cannot be applied to (map(string, list(string)), int)'],
  ['size(1) == 1', 'CEL_TYPE', 'size() cannot be applied to (int)'],
  ['google.protobuf.Duration{seconds: 1} == 1', 'CEL_TYPE'],
  ['lenght(text) == 1', 'CEL_FUNCTION', "unknown function 'lenght'"],
  ["text.startswith('a')", 'CEL_FUNCTION', "unknown function 'startswith'", 'did you mean "startsWith"?'],
  ["contains(text, 'a')", 'CEL_FUNCTION', "'contains' does not accept these arguments", 'value.contains(…)'],
  ['has(text)', 'CEL_FUNCTION', "'has' has the wrong arguments"],
  ["text.matches('(')", 'CEL_PATTERN', "the pattern '(' the '(' is never closed"],
  ["text.matches('(?=a)')", 'CEL_PATTERN'],
  ['text.matches(now)', 'CEL_PATTERN', 'the pattern of matches() must be a literal'],
  ["lists.A.exists(pattern, text.matches('^' + pattern))", 'CEL_PATTERN'],
  ['text', 'CEL_NO_CONDITION', 'is a string: a condition must be true or false'],
  ['[true]', 'CEL_NO_CONDITION', 'is a list(bool): a condition must be true or false'],
  [`${'['.repeat(200)}${']'.repeat(200)} == []`, 'CEL_SIZE'],
  [`${'('.repeat(2000)}true${')'.repeat(2000)}`, 'CEL_SIZE'],
  [`text == '${'a'.repeat(5000)}'`, 'CEL_SIZE'],
];

describe('a CEL expression that can never succeed', () => {
  for (const [source, ...said] of refused) {
    it(`is rejected: ${source.length > 60 ? `${source.slice(0, 20)}… of ${source.length} characters` : source}`, () => {
      deepEqual(refusal(source).slice(0, said.length), said);
    });
  }
});
