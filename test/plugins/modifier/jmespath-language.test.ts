import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { mock } from 'node:test';
import { search } from '@jmespath-community/jmespath';
import { CallError, type Data, parseExact, printJson } from '#contract';
import { compileExpression } from '../../../plugins/modifier/lib/jmespath/expression.ts';
import { JmespathError } from '../../../plugins/modifier/lib/jmespath/jmespath-error.ts';

/** Result of an expression for a JSON text, as JSON. */
const resultOf = (expression: string, json: string) =>
  printJson(compileExpression(expression).search(parseExact(json)));

/** Message and position of an error in an expression. */
function issueOf(expression: string): readonly [message: string, start: number | undefined, hint?: string] {
  try {
    compileExpression(expression);
  } catch (error) {
    if (!(error instanceof JmespathError)) throw error;
    const { message, within, hint } = error;
    return hint === undefined ? [message, within?.start] : [message, within?.start, hint];
  }
  throw new Error(`${expression} is taken`);
}

/** Error code of an evaluation. */
function failureOf(expression: string, data: Data): string {
  try {
    compileExpression(expression).search(data);
  } catch (error) {
    if (error instanceof CallError) return error.code;
    throw error;
  }
  throw new Error(`${expression} has a result`);
}

const document = {
  people: [
    { n: 'Al', a: 20, tags: ['x', 'y'], on: true },
    { n: 'Bo', a: 15, tags: [], on: false },
    { n: 'Cy', a: 40, tags: ['z'], on: null },
  ],
  deep: { list: [[1, 2], [3, [4]], 5], map: { a: { v: 1 }, b: { v: 2 }, c: 3 } },
  text: 'héllo',
  numbers: [3, -1.5, 2],
  empty: { list: [], map: {}, text: '' },
  nothing: null,
  'odd key': 1,
};

/** Expressions of every kind, whose results are compared with the library's. */
const expressions = [
  ...['people', 'people[0]', 'people[-1].n', 'people[9]', 'people[0].n.x', '"odd key"', 'deep.map.a.v', '@', 'nothing'],
  ...[
    'people[*].n',
    'people[].tags',
    'people[].tags[]',
    'people[*].tags[0]',
    'deep.list[]',
    'deep.list[][]',
    'deep.map.*.v',
  ],
  ...[
    '*.list',
    'deep.*',
    'people[1:]',
    'people[:-1].n',
    'people[::-1].n',
    'people[::2].n',
    'people[-9:9:1].n',
    'numbers[2:0:-1]',
  ],
  ...[
    'people[?a > `18`].n',
    'people[?a >= `20` && on].n',
    "people[?n == 'Bo' || a == `40`].n",
    'people[?!on].n',
    'people[?tags].n',
  ],
  ...[
    'people[?a < `20`]',
    'people[?a <= `20`].a',
    'people[?n != `"Al"`].n',
    'people[?on == `null`].n',
    "people[?n > 'A'].n",
  ],
  ...[
    '[people[0].n, text]',
    '{n: people[0].n, "t": text}',
    'people[*].{name: n, tag: tags[0]}',
    'people[].[n, a]',
    'people | [0]',
  ],
  ...[
    'people[*].tags | [0]',
    'nothing || text',
    'text && numbers',
    '!nothing',
    '!empty.list',
    'empty.map || text',
    '`[1, {"a": 2}]`',
  ],
  ...[
    "'raw'",
    '`"json"`',
    '(people[0] || text).n',
    'abs(numbers[1])',
    'avg(numbers)',
    'avg(empty.list)',
    'ceil(numbers[1])',
  ],
  ...["contains(text, 'll')", 'contains(numbers, `2`)', "ends_with(text, 'lo')", 'floor(numbers[1])'],
  ...[
    "join('-', people[*].n)",
    'keys(deep.map)',
    'length(text)',
    'length(people)',
    'length(deep.map)',
    'map(&a, people)',
    'map(&x, people)',
  ],
  ...[
    'max(numbers)',
    'max(people[*].n)',
    'max(empty.list)',
    'max_by(people, &a).n',
    'merge(deep.map, `{"c": 4}`, empty.map)',
    'min(numbers)',
  ],
  ...['min_by(empty.list, &n)', 'not_null(nothing, text)', 'not_null(nothing)', 'reverse(numbers)', 'reverse(text)'],
  ...[
    'sort(numbers)',
    'sort(people[*].n)',
    'sort_by(people, &a)[*].n',
    'sort_by(people, &n)[-1].a',
    "starts_with(text, 'h')",
    'sum(numbers)',
  ],
  ...[
    'sum(empty.list)',
    'to_array(text)',
    'to_array(numbers)',
    "to_number('1.5')",
    "to_number('x')",
    'to_number(nothing)',
    'to_string(deep.map)',
  ],
  ...[
    'to_string(text)',
    'type(numbers)',
    'type(nothing)',
    'type(deep)',
    'type(text)',
    'type(`1`)',
    'type(`true`)',
    'values(deep.map)',
  ],
];

describe('the JMESPath engine', () => {
  for (const expression of expressions) {
    it(`returns the same result as the jmespath library for ${expression}`, () => {
      deepEqual(compileExpression(expression).search(document), search(document, expression));
    });
  }

  it('compares lists item by item, and strings in min_by', () => {
    deepEqual(compileExpression('contains(people[*].tags, `["z"]`)').search(document), true);
    deepEqual(compileExpression('min_by(people, &n).n').search(document), 'Al');
  });

  it('preserves the digits of numbers in arithmetic', () => {
    const big = '{"a":9007199254740993,"b":[9007199254740993,1,-2],"c":1.10000000000000000001,"d":"9007199254740993"}';
    const results = [
      ['a', '9007199254740993'],
      ['sum(b)', '9007199254740992'],
      ['max(b)', '9007199254740993'],
      ['sort(b)', '[-2,1,9007199254740993]'],
      ['b[?@ > `9007199254740992`]', '[9007199254740993]'],
      ['a == b[0]', 'true'],
      ['abs(a)', '9007199254740993'],
      ['ceil(a)', '9007199254740993'],
      ['ceil(c)', '2'],
      ['to_number(d)', '9007199254740993'],
      ['to_string(a)', '"9007199254740993"'],
      ['type(a)', '"number"'],
      ['a.rawJSON', 'null'],
      ['c && `1`', '1'],
    ] as const;
    deepEqual(
      results.map(([expression]) => [expression, resultOf(expression, big)]),
      results.map(([expression, result]) => [expression, result]),
    );
  });

  it('supports backslash escapes of the single quote and the backslash in raw strings only', () => {
    for (const [raw, text] of [
      ["'\\\\'", '\\'],
      ["'a\\\\'", 'a\\'],
      ["'it\\'s'", "it's"],
      ["'\\n'", '\\n'],
    ] as const) {
      equal(compileExpression(raw).search(null), text, raw);
    }
  });

  it('returns integers without a decimal point', () =>
    equal(resultOf('[sum(@), @[0], length(@)]', '[1,2,3]'), '[6,1,3]'));

  it('sorts strings by code point', () => equal(resultOf('sort(@)', '["😀","\uffee","a"]'), '["a","\uffee","😀"]'));

  it('sorts stably', () => {
    equal(resultOf('sort_by(@, &a)[*].b', '[{"a":1,"b":1},{"a":0,"b":2},{"a":1,"b":3}]'), '[2,1,3]');
  });

  it('reads only the members of data, never those that JavaScript objects inherit', () => {
    const names = [
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'length',
      'constructor.name',
      '"__proto__".polluted',
    ];
    deepEqual(
      names.map((name) => [name, resultOf(name, '{"a":[1]}'), resultOf(`a.${name}`, '{"a":[1]}')]),
      names.map((name) => [name, 'null', 'null']),
    );
    match(issueOf('constructor(@)')[0], /unknown function constructor\(\)/);
    match(issueOf('"__proto__"(@)')[0], /unexpected/);
  });

  it('treats __proto__ like any other key', () => {
    equal(resultOf('__proto__.a', '{"__proto__":{"a":1}}'), '1');
    equal(resultOf('{"__proto__": a}', '{"a":{"b":1}}'), '{"__proto__":{"b":1}}');
    equal(resultOf('merge(@, `{"a":1}`)', '{"__proto__":{"b":1}}'), '{"__proto__":{"b":1},"a":1}');
    equal(resultOf('[@]', '{"__proto__":{"b":1}}'), '[{"__proto__":{"b":1}}]');
    equal(({} as { b?: unknown }).b, undefined);
  });

  it('does not modify its input, and never returns the same object twice', () => {
    const data = Object.freeze({
      list: Object.freeze([3, 1, 2]) as unknown as Data[],
      o: Object.freeze({ a: 1 }) as never,
    });
    const [sorted, reversed, first, second] = compileExpression('[sort(list), reverse(list), o, o]').search(
      data,
    ) as Data[];
    deepEqual([sorted, reversed, first], [[1, 2, 3], [2, 1, 3], { a: 1 }]);
    equal(first === second, false);
  });

  it('creates a new literal for each evaluation', () => {
    const expression = compileExpression('`{"a": 1}`');
    (expression.search({}) as { a: Data }).a = 2;
    deepEqual(expression.search({}), { a: 1 });
  });

  for (const [expression, ...issue] of [
    ['a b', 'unexpected "b" at column 3', 2],
    ['people[?a >', 'the expression ends too early', 11],
    ['foo(', 'the expression ends too early', 4],
    ['', 'the expression ends too early', 0],
    ['a.#', 'unexpected "#" at column 3', 2],
    ['{a: b,}', 'unexpected "}" at column 7', 6],
    ['"a"(b)', 'unexpected "(" at column 4', 3],
    ["a == 'abc", "the literal that starts with ' at column 6 is not valid", 5],
    [
      'a == `{bad`',
      'the literal that starts with ` at column 6 is not valid',
      5,
      'backticks enclose JSON, as in `18` or `"text"`',
    ],
    ['lenght(a)', 'unknown function lenght()', 0, 'did you mean length()?'],
    ['a[?env(b)]', 'unknown function env()', 3],
    ['abs()', 'abs() requires 1 argument, not 0', 0],
    ['merge()', 'merge() requires 1 or more arguments, not 0', 0],
    ['max_by(people, a)', 'max_by() requires an expression, as in &name, as argument 2', 0],
    ['length(&a)', 'length() does not accept an expression as argument 1', 0],
    ['&a', 'an expression with & can only be an argument of a function', undefined],
    ['a[::0]', 'the step of a slice cannot be 0', undefined],
    ['a + b', 'calculations are not part of JMESPath', 2],
    ['a * b', 'calculations, variables and conditions are not part of JMESPath', undefined],
    ['$', 'references to the root ($) are not part of JMESPath', 0],
    ['a == `12345678901234567890`', 'a literal cannot contain a number of more than 15 digits', 5],
    ['x'.repeat(20_000), 'an expression can have at most 8192 characters', undefined],
    ['('.repeat(8000), 'the expression is nested too deeply', undefined],
    [`a${'.a'.repeat(600)}`, 'the expression is nested too deeply', undefined],
  ] as const) {
    const shown =
      expression.length > 40 ? `${expression.slice(0, 10)}… of ${expression.length} characters` : expression;
    it(`rejects ${JSON.stringify(shown)} with the position of the error`, () => {
      deepEqual(issueOf(expression), issue);
    });
  }

  it('accepts a long run of digits within a string', () => {
    equal(resultOf('a == `"12345678901234567890"`', '{"a":"12345678901234567890"}'), 'true');
  });

  it('fails if a function receives an argument of the wrong type', () => {
    const wrong = [
      'sum(people)',
      'length(nothing)',
      'abs(text)',
      "join(', ', numbers)",
      'keys(numbers)',
      'sort(people)',
    ];
    const keyed = [
      'max_by(people, &on)',
      'sort_by(people, &tags)',
      'map(&a, text)',
      'merge(deep.map, text)',
      'reverse(`1`)',
    ];
    deepEqual(
      [...wrong, ...keyed].map((expression) => failureOf(expression, document)),
      [...wrong, ...keyed].map(() => 'JMESPATH_TYPE'),
    );
    throws(() => compileExpression('sum(people)').search(document), {
      message: 'sum() requires an array of numbers, but got another array',
    });
  });

  it('stops an evaluation whose result grows without limit', () => {
    const doubling = Array.from({ length: 40 }, () => '[@, @][]').join(' | ');
    equal(failureOf(doubling, [1]), 'JMESPATH_LIMIT');
    const nesting = Array.from({ length: 40 }, () => '[@, @]').join(' | ');
    equal(failureOf(nesting, [1]), 'JMESPATH_LIMIT');
    const items = Array.from({ length: 20_000 }, () => 'x');
    equal(failureOf('join(glue, items)', { glue: 'g'.repeat(1000), items }), 'JMESPATH_LIMIT');
  });

  it('stops an evaluation that repeatedly visits the same data before it exhausts time or memory', () => {
    const doubled = `[@]${' | [@, @]'.repeat(30)}`;
    const array = Array.from({ length: 100_000 }, () => 0);
    const each = (call: string) => `[${`${call},`.repeat(200)} a]`;
    for (const [expression, value] of [
      [`${doubled} | to_string(@) | length(@)`, 1],
      [`[(${doubled}), (${doubled})] | @[0] == @[1]`, [1]],
      [`[(${doubled}), (${doubled})] | contains([@[0]], @[1])`, [1]],
      [`[${'a,'.repeat(300)} a][]`, { a: array }],
      [`${each('sum(a)')} | length(@)`, { a: array }],
      [`${each('reverse(a)')} | length(@)`, { a: 'x'.repeat(100_000) }],
      [`${each('a[::1]')} | length(@)`, { a: array }],
      ['sort(@) | length(@)', Array.from({ length: 1_500_000 }, (_, at) => -at)],
    ] as const) {
      equal(failureOf(expression, value as Data), 'JMESPATH_LIMIT', expression.slice(0, 40));
    }
  });

  it('stops an evaluation after a second', () => {
    const sums = '[sum(@), sum(@), sum(@), sum(@)]';
    const items = Array.from({ length: 60_000 }, () => 0);
    let now = 0;
    mock.method(performance, 'now', () => (now += 600));
    try {
      equal(failureOf(sums, items), 'JMESPATH_LIMIT');
    } finally {
      mock.reset();
    }
    equal(printJson(compileExpression(sums).search(items)), '[0,0,0,0]');
  });

  it('reports an error in a long expression immediately', () => {
    const long = `${'a.'.repeat(2000)}a a${'.a'.repeat(2000)}`;
    throws(() => compileExpression(long), { message: 'unexpected "a" at column 4003' });
  });

  it('stops an evaluation on data that is nested too deeply', () => {
    let deep: Data = [];
    for (let at = 0; at < 100_000; at++) deep = [deep];
    equal(failureOf('[@]', deep), 'JMESPATH_LIMIT');
  });
});
