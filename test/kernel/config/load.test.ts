import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PositionedError, parseDocument, readDocument } from '../../../kernel/config/index.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { normalize } from '../../support/known.ts';

const failure = (text: string, file: string): PositionedError => {
  try {
    parseDocument(text, file);
  } catch (error) {
    return (error as ConfigErrors).errors[0] as PositionedError;
  }
  throw new Error('was accepted');
};

const asJson = `{
  "version": 3,
  "name": "shop",
  "timeout": "90us",
  "endpoints": [
    {
      "endpoint": "/items/{id}",
      "input_headers": ["A"],
      "backend": [
        { "url_pattern": "/{id}", "host": ["http://h"], "mapping": { "1": "one" } },
        { "url_pattern": "/b", "host": ["http://h"], "extra_config": { "x/y": { "n": 12345678901234567890 } } }
      ]
    }
  ]
}`;
const asYaml = `
version: 3
name: shop
timeout: 90us
endpoints:
  - endpoint: /items/{id}
    input_headers: [A]
    backend:
      - url_pattern: /{id}
        host: &hosts ["http://h"]
        mapping: { 1: one }
      - url_pattern: /b
        host: *hosts
        extra_config:
          x/y: { n: 12345678901234567890 }
`;
const asToml = `
version = 3
name = "shop"
timeout = "90us"

[[endpoints]]
endpoint = "/items/{id}"
input_headers = ["A"]

[[endpoints.backend]]
url_pattern = "/{id}"
host = ["http://h"]
mapping = { 1 = "one" }

[[endpoints.backend]]
url_pattern = "/b"
host = ["http://h"]
[endpoints.backend.extra_config."x/y"]
n = 1234567890123456789
`;

describe('a configuration file', () => {
  it('means the same in JSON, YAML and TOML', () => {
    const [json, yaml, toml] = [
      [asJson, 'g.json'],
      [asYaml, 'g.yaml'],
      [asToml, 'g.toml'],
    ].map(([text, file]) => JSON.stringify(normalize(parseDocument(text!, file!).data)));
    equal(yaml, json);
    // The number in TOML is smaller, because integers are limited to signed 64 bits.
    equal(toml, json!.replace('12345678901234567890', '1234567890123456789'));
  });
  it('is JSON if its suffix is unknown', () =>
    equal((parseDocument('{"a":1}', 'gateway.tmpl').data as { a: number }).a, 1));
  it('can start with a byte order mark', () => deepEqual(parseDocument('\uFEFF{"a":1}', 'g.json').data, { a: 1 }));
  it('can contain a key with the name of an Object.prototype member', () => {
    ok(Object.hasOwn(parseDocument('{"__proto__":{"a":1}}', 'g.json').data as object, '__proto__'));
    ok(Object.hasOwn(parseDocument('__proto__: {a: 1}', 'g.yaml').data as object, '__proto__'));
  });
  it('can contain comments, with a warning at the first', () => {
    const { data, warnings } = parseDocument('{ // one\n "a": /* two */ "//x" }', 'g.json');
    const [{ code, position }] = warnings as [PositionedError];
    deepEqual([data, code, Object.values(position!)], [{ a: '//x' }, 'CONFIG_COMMENTS', [1, 3, 1, 9]]);
  });
  for (const [text, file] of [
    ['[]', 'g.json'],
    ['5', 'g.json'],
    ['null', 'g.json'],
    ['- a', 'g.yaml'],
    ['', 'g.yaml'],
    ['a', 'g.yml'],
  ] as const) {
    it(`is rejected if it is not an object: ${JSON.stringify(text)} in ${file}`, () => {
      const { code, message } = failure(text, file);
      deepEqual([code, message.includes('must be an object')], ['CONFIG_SYNTAX', true]);
    });
  }
});

describe('a syntax error', () => {
  const cases: readonly (readonly [what: string, text: string, file: string, line: number, column: number])[] = [
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', 'g.json', 3, 3],
    ['a trailing comma', '{\n  "a": 1,\n}', 'g.json', 2, 9],
    ['an open object', '{\n  "a": 1', 'g.json', 2, 9],
    ['an empty file', '', 'g.json', 1, 1],
    ['a tab that indents YAML', 'a:\n\tb: 1', 'g.yaml', 2, 1],
    ['an open bracket in YAML', 'a: [1', 'g.yaml', 1, 6],
    ['a TOML key without value', 'a = 1\nb =\n', 'g.toml', 2, 4],
  ];
  for (const [what, text, file, line, column] of cases) {
    it(`is reported with file, line and column: ${what}`, () => {
      const error = failure(text, file);
      deepEqual([error.code, error.position?.line, error.position?.column], ['CONFIG_SYNTAX', line, column]);
      ok(error.message.startsWith(`${file}:${line}:${column}: `), error.message);
    });
  }
  it('is reported for excessive nesting', () => {
    for (const depth of [300, 100_000]) {
      equal(failure('{"a":'.repeat(depth) + '1' + '}'.repeat(depth), 'g.json').code, 'CONFIG_SYNTAX');
      equal(failure('{"n":1e5,"a":' + '['.repeat(depth) + ']'.repeat(depth) + '}', 'g.json').code, 'CONFIG_SYNTAX');
    }
    equal(failure(`a: ${'['.repeat(5000)}${']'.repeat(5000)}`, 'g.yaml').code, 'CONFIG_SYNTAX');
    equal(failure(`a = ${'['.repeat(5000)}${']'.repeat(5000)}`, 'g.toml').code, 'CONFIG_SYNTAX');
  });
});

describe('a YAML configuration', () => {
  const data = (text: string) => parseDocument(text, 'g.yaml').data;

  it('has all its keys turned into strings, at every depth', () => {
    deepEqual(data('1: a\ntrue: b\nx: { 404: { 2.50: c } }'), { 1: 'a', true: 'b', x: { 404: { '2.50': 'c' } } });
  });
  it('has keys merged by <<, with its own keys taking precedence', () => {
    deepEqual(data('base: &b { a: 1, c: 2 }\nx: { <<: *b, a: 3 }'), { base: { a: 1, c: 2 }, x: { a: 3, c: 2 } });
  });
  it('has a separate copy of the value for each alias', () => {
    const { a, b } = data('a: &x { k: 1 }\nb: *x') as { a: object; b: object };
    ok(a !== b);
  });
  it('keeps the digits of long numbers', () =>
    equal(JSON.stringify(data('n: 0.12345678901234567890')), '{"n":0.12345678901234567890}'));
  it('keeps tagged dates and binary data as text', () =>
    deepEqual(data('a: !!timestamp 2001-12-14\nb: !!binary aGk='), { a: '2001-12-14', b: 'aGk=' }));
  it('is rejected if it has a number that JSON does not have', () =>
    equal(failure('n: .inf', 'g.yaml').code, 'CONFIG_SYNTAX'));
  it('is rejected if it has an alias of itself', () => equal(failure('a: &x [*x]', 'g.yaml').code, 'CONFIG_SYNTAX'));
  it('is rejected if it has aliases that expand without bound', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 12; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    equal(failure(lines.join('\n'), 'g.yaml').code, 'CONFIG_SYNTAX');
  });
});

describe('the place of a value', () => {
  const place = (text: string, file: string, pointer: string, segment: 'key' | 'value') => {
    const match = parseDocument(text, file).locate(pointer, segment);
    return match && [match.line, match.column, match.endLine, match.endColumn];
  };

  it('is known in JSON for key and value', () => {
    deepEqual(place(asJson, 'g.json', '/endpoints/0/input_headers/0', 'value'), [8, 25, 8, 28]);
    deepEqual(place(asJson, 'g.json', '/endpoints/0/input_headers', 'key'), [8, 7, 8, 22]);
  });
  it('is known in JSON with comments', () =>
    deepEqual(place('{ /* x */\n"a": 1 }', 'g.json', '/a', 'value'), [2, 6, 2, 7]));
  it('is known in YAML for key and value', () => {
    deepEqual(place(asYaml, 'g.yaml', '/endpoints/0/backend/0/mapping/1', 'value'), [11, 23, 11, 26]);
    deepEqual(place(asYaml, 'g.yaml', '/timeout', 'key'), [4, 1, 4, 8]);
  });
  it('is known in TOML for key and value', () => {
    deepEqual(place(asToml, 'g.toml', '/endpoints/0/backend/1/url_pattern', 'value'), [16, 15, 16, 19]);
    deepEqual(place(asToml, 'g.toml', '/timeout', 'key'), [4, 1, 4, 8]);
  });
  it('is unknown for a missing value', () => equal(place(asJson, 'g.json', '/endpoints/7', 'value'), undefined));
  it('is the whole text for the document itself', () => deepEqual(place('{\n}', 'g.json', '', 'value'), [1, 1, 2, 2]));
});

describe('reading a file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-'));
  });
  after(() => rm(folder, { recursive: true }));

  const refused = (path: string, code: string, words: string) =>
    rejects(
      readDocument(path),
      (error: ConfigErrors) => error.errors[0]!.code === code && error.errors[0]!.message.includes(words),
    );

  it('reports a missing file by name', () =>
    refused('/nowhere/g.json', 'CONFIG_READ', '/nowhere/g.json: no such file'));
  it('reports a directory by name', () => refused(folder, 'CONFIG_READ', 'is a directory'));
  it('reports text that is not UTF-8, with its place', async () => {
    const path = join(folder, 'latin.json');
    await writeFile(path, Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]));
    await refused(path, 'CONFIG_SYNTAX', 'latin.json:1:3: the text is not UTF-8');
  });
  it('returns text and data', async () => {
    const path = join(folder, 'g.yml');
    await writeFile(path, 'a: 1');
    const { file, text, data } = await readDocument(path);
    deepEqual({ file, text, data }, { file: path, text: 'a: 1', data: { a: 1 } });
  });
  it('throws ConfigErrors', () => throws(() => parseDocument('{', 'g.json'), ConfigErrors));
});
