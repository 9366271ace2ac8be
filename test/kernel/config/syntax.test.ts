import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type PositionedError, parseDocument, UnreadableError } from '../../../kernel/config/index.ts';

function failures(text: string, file: string): readonly PositionedError[] {
  try {
    parseDocument(text, file);
  } catch (error) {
    ok(error instanceof UnreadableError);
    return error.errors as readonly PositionedError[];
  }
  throw new Error('was accepted');
}

/** `line:column-line:column reason`, one for each. */
function reported(text: string, file: string): string[] {
  return failures(text, file).map(({ position: p, reason }) =>
    p ? `${p.line}:${p.column}-${p.endLine}:${p.endColumn} ${reason}` : reason,
  );
}

describe('a syntax error of JSON', () => {
  const single: readonly (readonly [text: string, expected: string])[] = [
    ['{\n  "a": 1\n  "b": 2\n}', '3:3-3:6 a comma is missing before this key'],
    ['{"a": [1 2]}', '1:10-1:11 a comma is missing before this value'],
    ['{\n  "a": 1,\n}', '2:9-2:10 trailing comma'],
    ['{"a": [1, ]}', '1:9-1:10 trailing comma'],
    ['{,"a": 1}', '1:2-1:3 a comma before the first key'],
    ['{"a": 1,,"b": 1}', '1:9-1:10 a second comma'],
    ['{"a" 1}', '1:6-1:7 a colon is missing after this key'],
    ['{"a": }', '1:7-1:8 a value is missing here'],
    ['{"a":\n}', '1:6-1:6 a value is missing here'],
    ['{: 1}', '1:2-1:3 a key is missing here'],
    ['{a: {"b": 1}, "c": 2}', '1:2-1:3 keys must be in double quotes'],
    ["{'a': 1}", '1:2-1:5 keys must be in double quotes'],
    ['{"a": \'b c\'}', '1:7-1:12 strings must be in double quotes'],
    ['{"a": “b”}', '1:7-1:10 typographic quotes are not valid JSON'],
    ['{"a": http://h/x, "b": 1}', '1:7-1:17 not valid JSON'],
    ['{"a": True}', '1:7-1:11 not valid JSON'],
    ['{"a": 01}', '1:7-1:9 a number must not begin with zeros'],
    ['{"a": .5}', '1:7-1:9 a number must begin with a digit'],
    ['{"a": 1.}', '1:7-1:9 digits are missing after the dot'],
    ['{"a": 1 "x"}', '1:9-1:12 expected a comma or the end of the object after the value'],
    ['{"a": ["b": 1]}', '1:11-1:12 a list contains values, not keys'],
    ['{"a": "b\n}', '1:7-1:9 this string has no closing quote'],
    ['{"a": "b\\\\c\\q"}', "1:12-1:14 '\\q' is not a valid escape in JSON"],
    ['{"a": "b\\u12"}', '1:9-1:13 four hexadecimal digits are missing after \\u'],
    ['{"a": "b\tc"}', '1:9-1:10 strings cannot contain control characters'],
    ['{"a": 1 /* b }', '1:9-1:11 this comment is never closed'],
    ['{"a": 1}}', "1:9-1:10 this '}' closes nothing"],
    ['{"a": 1}\n{"b": 2}', '2:1-2:2 text after the end of the document'],
    ['{"a": 1]', "1:8-1:9 ']' cannot close an object"],
    ['{"a": {"b": 1', '1:14-1:14 the object that began at line 1 is not closed'],
    ['{\n "a": [\n  1\n}', '4:1-4:2 the list that began at line 2 is not closed'],
    [' \n ', '1:1-1:1 the file is empty'],
    ['{\n "a": ["b"\n "c": 1\n}', '2:11-2:11 the list that began at line 2 is not closed'],
    ['{\n "a": ["b",\n "c": 1\n}', '2:11-2:11 the list that began at line 2 is not closed'],
    ['{"a": ["b", "c": 1}', '1:11-1:11 the list that began at line 1 is not closed'],
    ['{"a": [{"b": [1, 2, "c": 3}, {"d": 4}]}', '1:19-1:19 the list that began at line 1 is not closed'],
    ['{\n "a": [\n  "b": 1,\n  "c": 2\n ]\n}', '3:6-3:7 a list contains values, not keys'],
    ['{\n "a": "b", "c"],\n "d": 1\n}', '2:7-2:10 the opening bracket of this list is missing'],
    ['{\n "a": "b"],\n "d": 1\n}', '2:7-2:10 the opening bracket of this list is missing'],
    ['{\n "a":\n  {},\n  {}\n ],\n "d": 1\n}', '2:6-2:6 the opening bracket of this list is missing'],
    ['{\n "a":\n  {}\n ],\n "d": 1\n}', '2:6-2:6 the opening bracket of this list is missing'],
    ['{"a": {{ .Env.A }}, "b": 1}', '1:7-1:19 templates are not rendered'],
    ['{\n {{ template "x" . }}\n "b": 1\n}', '2:2-2:22 templates are not rendered'],
    ['{{ $x := 1 }}\n{"b": 1}', '1:1-1:14 templates are not rendered'],
    ['{"a": [{{ range .x }}1{{ end }}, 2]}', '1:8-1:22 templates are not rendered'],
  ];
  for (const [text, expected] of single) {
    it(`is reported once, in plain words: ${JSON.stringify(text)}`, () =>
      deepEqual(reported(text, 'g.json'), [expected]));
  }

  it('is reported with an unambiguous correction', () => {
    const hints = ['{a: 1}', '{"a": True}', '{"a": 1,}', '{"a": "\\q"}', '{"a": "\t"}'].map(
      (text) => failures(text, 'g.json')[0]!.hint,
    );
    deepEqual(hints, ['"a"', 'true', 'remove the comma', '\\\\q', '\\t']);
  });
  it('is reported without the value, which may be a secret', () => {
    const [error] = failures('{"password": hunter2}', 'g.json');
    ok(!`${error!.message}${error!.hint}`.includes('hunter2'));
  });
  it('does not hide other errors', () => {
    const text = '{\n "a": 1\n "b": tru,\n "c": [1, 2\n "d": 3,\n}';
    deepEqual(
      failures(text, 'g.json').map(({ position }) => position?.line),
      [3, 4, 5],
    );
  });
  it('in an opening bracket is reported at the end of the list', () => {
    const [error] = failures('{\n "a":\n  {},\n  {}\n ],\n "d": 1\n}', 'g.json');
    deepEqual(
      error!.places.map(({ message, position: { line, column } }) => [message, line, column]),
      [['the list ends here', 5, 2]],
    );
  });
  it('is reported once if it hides the following comma', () =>
    equal(reported('{\n "a": "x,\n "b": 1\n}', 'g.json').length, 1));
  it('is reported once per line', () => equal(reported('{ a: b c: d, e: f }', 'g.json').length, 1));
  it('is reported at most 20 times', () => {
    const text = `{\n${Array.from({ length: 30 }, (_, index) => `"k${index}": 1`).join('\n')}\n}`;
    equal(failures(text, 'g.json').length, 20);
  });
  it('is reported with the start of the unclosed object', () => {
    const [error] = failures('{\n  "a": {\n    "b": [1, 2]\n', 'g.json');
    deepEqual(
      error!.places.map(({ message, position: { line, column } }) => [message, line, column]),
      [['the object begins here', 2, 8]],
    );
  });
  it('is reported at the object whose closing brace is indented too little', () => {
    const text = '{\n  "a": [\n    {\n      "b": {\n        "c": 1\n    },\n    { "d": 1 }\n  ]\n}';
    deepEqual(reported(text, 'g.json'), ['6:5-6:6 the object that began at line 4 is not closed']);
  });
  it('is located in time that grows with the text', function () {
    this.timeout(5000);
    const text = `{"a": [${'{"x": [1 2], "y" 1},'.repeat(50_000)}`;
    equal(failures(text, 'g.json').length, 1);
  });
});

describe('a syntax error of YAML', () => {
  const cases: readonly (readonly [text: string, expected: readonly string[]])[] = [
    ['a: [1\n', ['1:6-1:6 the list that began at line 1 is not closed']],
    ['x: 1\na: {b: 1\nc: 2', ['3:1-3:2 the object that began at line 2 is not closed']],
    ['a: "x\nb: 1\n', ['2:5-2:5 the string that began at line 1 is not closed']],
    ['a:\n\tb: 1', ['2:1-2:2 a tab cannot indent']],
    ['a: b: c', ['1:4-1:5 a second key cannot begin here']],
    ['a: 1\n---\nb: 2', ['2:1-2:4 a second document begins here']],
    [
      'a:\n  - b: 1\n   c: 2',
      ['3:1-3:4 this line is neither an item of the list above nor indented like the keys of its last item'],
    ],
    ['a:\n  b: 1\n c: 2', ['3:1-3:2 this key is not indented like those above it']],
    ['- - a\n - b', ['2:2-2:3 this item of a list is not indented like those above it']],
    ['a: 1\nb\nc: 2', ["2:1-2:2 this key has no ':'"]],
    ['a:1\nb: 2', ["1:1-1:4 a key must be followed by ':' on the same line"]],
    ['a: - b', ['1:4-1:5 a list cannot begin on the line of its key']],
    ['a: @x', ['1:4-1:5 a value cannot begin with this character']],
    ['a: "\\q"', ['1:5-1:6 not a valid escape in YAML']],
    ['a: "x" y', ['1:8-1:9 this does not belong to the value before it']],
    ['a: "x"#c', ["1:7-1:9 white space is missing before '#'"]],
    ['a: [1, 2]]', ['1:10-1:11 this bracket closes nothing']],
    ['a: [1,,2]', ['1:7-1:8 a value is missing before this comma']],
    ['a: |x\n  b', ["1:5-1:6 the text after '|' or '>' begins on the next line"]],
    ['a: [\nb: 1\n]', ['2:1-2:2 the list that began at line 1 is not closed']],
    ['a: {{ .Env.A }}', ['1:4-1:16 templates are not rendered']],
    ['{{ template "x" }}\na: 1', ['1:1-1:19 templates are not rendered']],
    ['a: .nan\nb: .inf', ['1:4-1:8 .nan is not a JSON number', '2:4-2:8 .inf is not a JSON number']],
    ['a: *x\nb: *y', ["1:4-1:6 alias '*x' does not exist", "2:4-2:6 alias '*y' does not exist"]],
  ];
  for (const [text, expected] of cases) {
    it(`is reported with its place: ${JSON.stringify(text)}`, () => deepEqual(reported(text, 'g.yaml'), expected));
  }
  it('does not hide other errors', () => {
    deepEqual(
      failures('a: @x\nb: 1\nc: `y`\nd: "\\q"', 'g.yaml').map(({ position }) => position?.line),
      [1, 3, 4],
    );
  });
  it('is reported with the start of the unclosed value', () => {
    const [error] = failures("x: 1\na: 'x\nb: 1\n", 'g.yaml');
    deepEqual(
      error!.places.map(({ position: { line, column } }) => [line, column]),
      [[2, 4]],
    );
  });
});

describe('a syntax error of TOML', () => {
  const cases: readonly (readonly [text: string, expected: string])[] = [
    ['a = 1\nb =\n', '2:4-2:4 a value is missing here'],
    ['a = tru', '1:5-1:8 not valid TOML'],
    ['a = "x\nb = 1', '1:7-1:7 this string has no closing quote'],
    ["a = '''\nx", '1:5-1:8 this string has no closing quote'],
    ['a = [1, 2\n', '1:10-1:10 a list or inline table is not closed'],
    ['a = [1 2]', '1:8-1:9 a comma or the closing bracket is missing here'],
    ['a = 1 b = 2', '1:7-1:8 only one key is allowed on a line'],
    ['a b = 2', '1:3-1:4 not allowed in a key'],
    ['a = "\\q"', '1:7-1:9 not a valid escape in TOML'],
    ['a = 3s', '1:5-1:7 durations must be in quotes'],
    ['a = [1, 500ms]', '1:9-1:14 durations must be in quotes'],
    ['a = 0755', '1:5-1:9 a number must not begin with zeros'],
    ['a = 5.', '1:5-1:7 digits are missing after the dot'],
    ['a = None', '1:5-1:9 TOML has no such value'],
    ['a: 1', "1:2-1:3 '=' is missing after this key"],
    ['[a\nb = 1', '1:3-1:3 this header is not closed'],
    ['[[a]\nb = 1', '1:5-1:5 this header is not closed'],
    ['a = 1\na.b = 2', '2:1-2:4 this name is already used for a value or a table'],
    ['a = {{ .Env.A }}', '1:5-1:17 templates are not rendered'],
    ['a = 1\nb = nan', '2:5-2:8 NaN is not a JSON number'],
  ];
  for (const [text, expected] of cases) {
    it(`is reported with its place: ${JSON.stringify(text)}`, () => deepEqual(reported(text, 'g.toml'), [expected]));
  }
  it('is reported with the quoted duration as its correction', () =>
    equal(failures('a = 3s', 'g.toml')[0]!.hint, '"3s"'));
  it('is reported for every number that JSON does not have', () =>
    equal(failures('a = nan\nb = [1, inf]\n', 'g.toml').length, 2));
});

describe('a configuration text that cannot be parsed', () => {
  const conflict = (one: string, other: string) => `<<<<<<< HEAD\n${one}\n=======\n${other}\n>>>>>>> main\n`;
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  for (const [file, text] of [
    ['g.json', `{\n${conflict('"a": 1', '"a": 2')}}`],
    ['g.yaml', `b: 1\n${conflict('a: 1', 'a: 2')}`],
    ['g.toml', `b = 1\n${conflict('a = 1', 'a = 2')}`],
  ] as const) {
    it(`because of merge conflict markers in ${file} is reported as such, once`, () => {
      deepEqual(reported(text, file), ['2:1-2:13 merge conflict marks']);
      deepEqual(
        failures(text, file)[0]!.places.map(({ position }) => position.line),
        [4, 6],
      );
    });
  }
  it('because of excessive nesting in YAML is reported with its place', () => {
    const text = Array.from({ length: 210 }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
    deepEqual(reported(`${text} 1`, 'g.yaml'), ['202:202-210:214 nested deeper than 200 levels']);
  });
  for (const [file, before, after] of [
    ['g.json', '{"a":', '}'],
    ['g.yaml', 'a: ', ''],
    ['g.toml', 'a = ', ''],
  ] as const) {
    for (const levels of [300, 20_000]) {
      it(`because of ${levels} levels of nesting in ${file} is reported at the first level too deep`, () => {
        const [error] = failures(`${before}${deep(levels)}${after}`, file);
        const braces = file === 'g.json' ? 1 : 0;
        deepEqual(
          [error!.reason, error!.position!.column],
          ['nested deeper than 200 levels', before.length + 202 - braces],
        );
      });
    }
  }
  it('is returned together with its errors', () => {
    try {
      parseDocument('{', 'g.json');
      throw new Error('was accepted');
    } catch (error) {
      equal((error as UnreadableError).text, '{');
    }
  });
  it('has file, line and column at the beginning of its message', () =>
    match(failures('{"a": 1,}', 'g.json')[0]!.message, /^g\.json:1:8: trailing comma/));
});
