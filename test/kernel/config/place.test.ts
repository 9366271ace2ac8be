import { deepEqual, equal } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { type PositionedError, parseDocument } from '../../../kernel/config/index.ts';
import { duplicateKeys } from '../../../kernel/config/syntax/json/duplicate-keys.ts';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';

const place = (text: string, file: string, pointer: string, segment: 'key' | 'value') =>
  Object.values(parseDocument(text, file).locate(pointer, segment) ?? {});

describe('the position of a value in TOML', () => {
  const lists = `a = [ # first
  { "b c" = [1, 'x'], d.e = """
q""" },
]`;
  const tables = `[[x]]
n = 1
[[x.y]]
[[x.y]]
"z w" = 1979-05-27 07:32:00 # a date
`;

  it('is known inside multi-line inline tables and lists', () => {
    deepEqual(place(lists, 'g.toml', '/a/0/b c/1', 'value'), [2, 17, 2, 20]);
    deepEqual(place(lists, 'g.toml', '/a/0/d/e', 'key'), [2, 25, 2, 26]);
    deepEqual(place(lists, 'g.toml', '/a/0/d/e', 'value'), [2, 29, 3, 5]);
  });
  it('is the header for a table, and the first header for a list of tables', () => {
    deepEqual(place(tables, 'g.toml', '/x/0/y', 'value'), [3, 1, 3, 8]);
    deepEqual(place(tables, 'g.toml', '/x/0/y/1', 'value'), [4, 1, 4, 8]);
  });
  it('covers a date with its time', () => deepEqual(place(tables, 'g.toml', '/x/0/y/1/z w', 'value'), [5, 9, 5, 28]));
});

describe('the position of a value in YAML', () => {
  const text = 'base: &b { a: 1, c: 2 }\nx: { <<: *b, a: 3 }\ny: *b';

  it('that is an alias is the position of its definition', () =>
    deepEqual(place(text, 'g.yaml', '/y/a', 'key'), [1, 12, 1, 13]));
  it('that << merges in is the position of its definition', () =>
    deepEqual(place(text, 'g.yaml', '/x/c', 'value'), [1, 21, 1, 22]));
  it('that overrides a merged value is the position of the overriding value', () =>
    deepEqual(place(text, 'g.yaml', '/x/a', 'value'), [2, 17, 2, 18]));
});

describe('the position of a range inside a string', () => {
  /** The text from the first to the last `X` of the value. */
  const written = (text: string, file: string): string => {
    const document = parseDocument(text, file);
    const value = (document.data as DataObject)['a'] as string;
    const range = { start: value.indexOf('X'), end: value.lastIndexOf('X') + 1 };
    const match = document.locate('/a', 'value', range)!;
    equal(match.line, match.endLine);
    return text.split('\n')[match.line - 1]!.slice(match.column - 1, match.endColumn - 1);
  };

  const texts: readonly (readonly [text: string, file: string, expected: string])[] = [
    ['{"a": "1X_X2"}', 'g.json', 'X_X'],
    [String.raw`{"a": "\n\u00e9\"\ud83d\ude00X\tX\\"}`, 'g.json', String.raw`X\tX`],
    [String.raw`{"a": "1\u0058.X"}`, 'g.json', String.raw`\u0058.X`],
    ['a: 1X_X2', 'g.yaml', 'X_X'],
    ['a: one\n  two  \n\n  XX three', 'g.yaml', 'XX'],
    ["a: 'it''s ''X'''", 'g.yaml', 'X'],
    ["a: 'one\n\n\n  X'", 'g.yaml', 'X'],
    ['a: "\\x41\\u00e9\\U0001F600\\\n   X\\tX"', 'g.yaml', 'X\\tX'],
    ['b: &b "1X"\na: !!str "\\"X_X"', 'g.yaml', 'X_X'],
    ['a: |\n  one\n\n    two\n  1XX\n', 'g.yaml', 'XX'],
    ['a: >-\n  one\n  two\n\n  1 XX\nb: 1', 'g.yaml', 'XX'],
    [String.raw`a = "1\u00e9\U0001F600\"X\tX"`, 'g.toml', String.raw`X\tX`],
    [String.raw`a = '\n X_X'`, 'g.toml', 'X_X'],
    ['a = """\none\\\n   two X\\nX"""', 'g.toml', 'X\\nX'],
    ["a = '''\none\n X'''", 'g.toml', 'X'],
  ];
  for (const [text, file, expected] of texts) {
    it(`accounts for escapes and folded lines: ${JSON.stringify(text)}`, () => equal(written(text, file), expected));
  }
  it('is empty if something is missing at that place', () => {
    const document = parseDocument(String.raw`{"a": "\n12"}`, 'g.json');
    const at = (start: number) => Object.values(document.locate('/a', 'value', { start, end: start })!);
    deepEqual(
      [at(1), at(3)],
      [
        [1, 10, 1, 10],
        [1, 12, 1, 12],
      ],
    );
  });
  for (const [text, file, columns] of [
    ['{"x": {"a\\u0041(": {}}}', 'g.json', [16, 17]],
    ['x: {"a\\u0041(": true}', 'g.yaml', [13, 14]],
    ['[x]\n"aA(" = {}', 'g.toml', [4, 5]],
  ] as const) {
    it(`is at the key if the value is not a string: ${text}`, () => {
      const { column, endColumn } = parseDocument(text, file).locate('/x/aA(', 'value', { start: 2, end: 3 })!;
      deepEqual([column, endColumn], columns);
    });
  }
});

describe('a duplicate key in a configuration file', () => {
  const pointersIn = (text: string) => duplicateKeys(text).map(({ pointer }) => pointer);

  it('is detected at every level, in every notation', () => {
    deepEqual(pointersIn('{"a":{"b":1,"c":{"b":2}},"b":[{"a":1},{"a":2,"a":3}],"c":":"}'), ['/b/1/a']);
    deepEqual(pointersIn('{"a":{"x":1},"x":{"a":{}},"a" : "a"}'), ['/a']);
    deepEqual(pointersIn('{"a":1,"\\u0061":2}'), ['/a']);
    deepEqual(pointersIn('{"a\\"":1,"b":"\\"","a\\"":2}'), ['/a"']);
    deepEqual(pointersIn('["a","a",{"a":"a"}]'), []);
    deepEqual(pointersIn('"a"'), []);
  });

  it('is detected in an object with many keys', () => {
    const keys = Array.from({ length: 100 }, (_, at) => `"k${at}":{"k":${at}}`);
    deepEqual(pointersIn(`{${keys}}`), []);
    deepEqual(pointersIn(`{"o":{${keys},"k99":0}}`), ['/o/k99']);
    deepEqual(pointersIn(`{"o":{"k":[],${keys},"k":0}}`), ['/o/k']);
  });

  const texts: readonly (readonly [text: string, file: string, second: number[], first: number[], pointer: string])[] =
    [
      ['{\n  "a": { "b/c": 1, "x": [{}], "b\\/c": 2 }\n}', 'g.json', [2, 31, 2, 37], [2, 10, 2, 15], '/a/b~1c'],
      ['x:\n  - a: 1\n    a: 2', 'g.yaml', [3, 5, 3, 6], [2, 5, 2, 6], '/x/0/a'],
      ['[[x]]\na = 1\na = 2', 'g.toml', [3, 1, 3, 2], [2, 1, 2, 2], '/x/0/a'],
      ['[a.b]\n[c]\n[a.b]', 'g.toml', [3, 4, 3, 5], [1, 4, 1, 5], '/a/b'],
      ['a = { b = 1, b = 2 }', 'g.toml', [1, 14, 1, 15], [1, 7, 1, 8], '/a/b'],
    ];
  for (const [text, file, second, first, pointer] of texts) {
    it(`is reported at the second occurrence, with the place of the first: ${JSON.stringify(text)}`, () => {
      let errors: readonly PositionedError[] = [];
      try {
        parseDocument(text, file);
      } catch (error) {
        errors = (error as ConfigErrors).errors as readonly PositionedError[];
      }
      deepEqual(
        errors.map(({ code, pointer: where, position, places }) => [
          code,
          where,
          Object.values(position!),
          places.map((related) => Object.values(related.position)),
        ]),
        [['CONFIG_DUPLICATE_KEY', pointer, second, [first]]],
      );
    });
  }
});
