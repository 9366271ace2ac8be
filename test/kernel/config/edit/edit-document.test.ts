import { deepEqual, equal, throws } from 'node:assert/strict';
import { type Change, editDocument, parseDocument } from '../../../../kernel/config/index.ts';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';

const edit = (file: string, text: string, ...changes: Change[]): string =>
  editDocument(parseDocument(text, file), changes).text;

const refusal = (code: string) => (error: unknown) => (error as ConfigErrors).errors[0]!.code === code;

describe('editing the text of a configuration', () => {
  describe('in JSON', () => {
    it('replaces the literal of a key and keeps comments and layout', () => {
      equal(
        edit('a.json', '{ // why\n  "old" :  [1,\t2] }', { pointer: '/old', key: 'new' }),
        '{ // why\n  "new" :  [1,\t2] }',
      );
    });

    it('replaces a value on its line', () => {
      equal(edit('a.json', '{"a": "2", "b": 1}', { pointer: '/a', value: '2s' }), '{"a": "2s", "b": 1}');
    });

    it('indents a multi-line list like the rest of the text', () => {
      equal(
        edit('a.json', '{\n\t"h": [\n\t\t"a"\n\t]\n}', { pointer: '/h', value: ['b', 'c'] }),
        '{\n\t"h": [\n\t\t"b",\n\t\t"c"\n\t]\n}',
      );
    });

    it('writes a short list on one line', () => {
      equal(edit('a.json', '{\n  "h": "a"\n}', { pointer: '/h', value: ['a'] }), '{\n  "h": ["a"]\n}');
    });

    it('breaks a long list over several lines', () => {
      const long = ['x'.repeat(60), 'y'.repeat(60)];
      equal(
        edit('a.json', '{\n  "h": "a"\n}', { pointer: '/h', value: long }),
        `{\n  "h": [\n    "${long[0]}",\n    "${long[1]}"\n  ]\n}`,
      );
    });

    it('keeps a one-line document on one line', () => {
      const long = ['x'.repeat(60), 'y'.repeat(60)];
      equal(edit('a.json', '{"h":1}', { pointer: '/h', value: long }), `{"h":["${long[0]}", "${long[1]}"]}`);
    });

    it('leaves long numbers elsewhere unchanged', () => {
      equal(
        edit('a.json', '{"n":12345678901234567890,"a":1}', { pointer: '/a', value: 2 }),
        '{"n":12345678901234567890,"a":2}',
      );
    });

    it('accepts pointers with escapes', () => {
      equal(edit('a.json', '{"a/b~c": 1}', { pointer: '/a~1b~0c', key: 'd/e' }), '{"d/e": 1}');
    });

    it('renames a key and a key inside its value in one edit', () => {
      equal(
        edit('a.json', '{"a":{"b":1}}', { pointer: '/a', key: 'x' }, { pointer: '/a/b', key: 'y' }),
        '{"x":{"y":1}}',
      );
    });
  });

  describe('in YAML', () => {
    it('keeps the quotes of a key', () => {
      const text = `a: 1\n'b': 2\n"c": 3 # why\n`;
      const changes = ['a', 'b', 'c'].map((key) => ({ pointer: `/${key}`, key: `${key}${key}` }));
      equal(edit('a.yaml', text, ...changes), `aa: 1\n'bb': 2\n"cc": 3 # why\n`);
    });

    it('quotes a string that would mean something else without quotes', () => {
      equal(edit('a.yaml', 'a: x\n', { pointer: '/a', value: 'true' }), 'a: "true"\n');
      equal(edit('a.yaml', 'a: x\n', { pointer: '/a', value: 'a: b' }), 'a: "a: b"\n');
      equal(edit('a.yaml', 'a: x\n', { pointer: '/a', value: '12' }), 'a: "12"\n');
    });

    it('writes a duration without quotes', () => {
      equal(edit('a.yaml', 'a: 2 # why\n', { pointer: '/a', value: '2s' }), 'a: 2s # why\n');
    });

    it('keeps single quotes of a value', () => {
      equal(edit('a.yaml', "a: 'x'\n", { pointer: '/a', value: "it's" }), "a: 'it''s'\n");
    });

    it('inserts a value for an empty key', () => {
      equal(edit('a.yaml', 'a:\nb: 1\n', { pointer: '/a', value: 'x' }), 'a: x\nb: 1\n');
    });

    it('replaces a string by a list', () => {
      equal(edit('a.yaml', 'h: http://a\n', { pointer: '/h', value: ['http://a'] }), 'h: ["http://a"]\n');
    });

    it('keeps a block list a block list', () => {
      equal(
        edit('a.yaml', 'o:\n    h:\n      - a # one\n      - b\n    x: 1\n', { pointer: '/o/h', value: ['c', 'd'] }),
        'o:\n    h:\n      - c\n      - d\n    x: 1\n',
      );
    });

    it('keeps a block mapping a block mapping', () => {
      equal(
        edit('a.yaml', 'o:\n  a: 1\n  b: 2\nx: 1\n', { pointer: '/o', value: { c: 1, d: ['e'] } }),
        'o:\n  c: 1\n  d: ["e"]\nx: 1\n',
      );
    });

    it('replaces a multi-line string', () => {
      equal(edit('a.yaml', 'a: |\n  one\n  two\nb: 1\n', { pointer: '/a', value: 'one' }), 'a: one\nb: 1\n');
    });

    it('renames a key once if aliases use it twice', () => {
      const text = '_base: &b { old: 1 }\none: *b\ntwo: *b\n';
      equal(
        edit('a.yaml', text, { pointer: '/one/old', key: 'new' }, { pointer: '/two/old', key: 'new' }),
        '_base: &b { new: 1 }\none: *b\ntwo: *b\n',
      );
    });

    it('renames a key that a merge key adds', () => {
      equal(
        edit('a.yaml', '_base: &b { old: 1 }\none:\n  <<: *b\n  x: 1\n', { pointer: '/one/old', key: 'new' }),
        '_base: &b { new: 1 }\none:\n  <<: *b\n  x: 1\n',
      );
    });

    it('rejects a change of a value that an alias also uses elsewhere', () => {
      const text = 'one: &b { old: 1 }\ntwo: *b\n';
      throws(() => edit('a.yaml', text, { pointer: '/two/old', key: 'new' }), refusal('EDIT_IMPOSSIBLE'));
    });
  });

  describe('in TOML', () => {
    it('renames a key in every header and dotted name that contains it', () => {
      const text = '[a.old] # why\nx = 1\n[a.old.deep]\ny = 2\n[b]\nold.x = 1\nold . y = 2\n';
      equal(
        edit('a.toml', text, { pointer: '/a/old', key: 'new' }, { pointer: '/b/old', key: 'new' }),
        '[a.new] # why\nx = 1\n[a.new.deep]\ny = 2\n[b]\nnew.x = 1\nnew . y = 2\n',
      );
    });

    it('renames a key in one table of an array of tables only', () => {
      const text = '[[e]]\nold = 1\n[[e.b]]\nold = 2\n[[e]]\nold = 3\n';
      equal(
        edit('a.toml', text, { pointer: '/e/0/b/0/old', key: 'x' }, { pointer: '/e/1/old', key: 'y' }),
        '[[e]]\nold = 1\n[[e.b]]\nx = 2\n[[e]]\ny = 3\n',
      );
    });

    it('renames inside multi-line inline tables', () => {
      const text = 'l = [\n  { "old" = "a # ] }" }, # why\n  { old = 2 },\n]\n';
      equal(
        edit('a.toml', text, { pointer: '/l/0/old', key: 'x' }, { pointer: '/l/1/old', key: 'y' }),
        'l = [\n  { "x" = "a # ] }" }, # why\n  { y = 2 },\n]\n',
      );
    });

    it('quotes a new name that needs quotes', () => {
      equal(edit('a.toml', 'old = 1\n', { pointer: '/old', key: 'a/b' }), '"a/b" = 1\n');
    });

    it('keeps the quotes of a literal string', () => {
      equal(edit('a.toml', "a = 'x'\n", { pointer: '/a', value: '2s' }), "a = '2s'\n");
    });

    it('replaces a number and keeps the comment', () => {
      equal(edit('a.toml', 'a = 1_000 # why\n', { pointer: '/a', value: 3 }), 'a = 3 # why\n');
    });

    it('replaces a multi-line string that contains quotes', () => {
      equal(edit('a.toml', 'a = """x "y" # "" z"""\nb = 1\n', { pointer: '/a', value: 'q' }), 'a = "q"\nb = 1\n');
    });

    it('replaces a multi-line list by a multi-line list', () => {
      equal(
        edit('a.toml', 'a = [\n    "x",\n]\nb = 1\n', { pointer: '/a', value: ['y', { z: 1 }] }),
        'a = [\n    "y",\n    {z = 1},\n]\nb = 1\n',
      );
    });

    it('rejects replacing a table with a header, which is not a single value', () => {
      throws(() => edit('a.toml', '[a]\nx = 1\n', { pointer: '/a', value: { x: 2 } }), refusal('EDIT_IMPOSSIBLE'));
    });

    it('rejects null, which TOML cannot express', () => {
      throws(() => edit('a.toml', 'a = 1\n', { pointer: '/a', value: [null] }), refusal('EDIT_IMPOSSIBLE'));
    });
  });

  describe('adding a key', () => {
    // biome-ignore format: a row is a line
    const rows: readonly (readonly [file: string, text: string, pointer: string, edited: string])[] = [
      ['a.json', '{\n    "a": 1\n}', '', '{\n    "x": [1],\n    "a": 1\n}'],
      ['a.json', '{"a": {"b": 1}}', '/a', '{"a": {"x": [1], "b": 1}}'],
      ['a.json', '{"a": {}}', '/a', '{"a": {"x": [1]}}'],
      ['a.yaml', 'a:\n  b: 1 # one\n', '/a', 'a:\n  x: [1]\n  b: 1 # one\n'],
      ['a.yaml', 'a:\n  - b: 1\n', '/a/0', 'a:\n  - x: [1]\n    b: 1\n'],
      ['a.yaml', 'a: { b: 1 }\n', '/a', 'a: { x: [1], b: 1 }\n'],
      ['a.toml', '[a]\n  b = 1\n', '/a', '[a]\n  x = [1]\n  b = 1\n'],
      ['a.toml', 'a = { b = 1 }\n', '/a', 'a = { x = [1], b = 1 }\n'],
    ];
    for (const [file, text, pointer, edited] of rows) {
      it(`inserts it first in ${JSON.stringify(text)} of ${file}`, () =>
        equal(edit(file, text, { pointer, add: 'x', value: [1] }), edited));
    }
    it('rejects a key that already exists', () => {
      throws(() => edit('a.json', '{"a":1}', { pointer: '', add: 'a', value: 2 }), refusal('EDIT_DUPLICATE_KEY'));
    });
    it('fails if the pointer leads to an array, a string or a missing object', () => {
      for (const pointer of ['/a', '/b', '/c']) {
        throws(() => edit('a.json', '{"a":[],"b":"x"}', { pointer, add: 'd', value: 2 }), refusal('EDIT_IMPOSSIBLE'));
      }
    });
    it('rejects a TOML table that consists of subtables only', () => {
      throws(() => edit('a.toml', '[a]\n[a.b]\n', { pointer: '/a', add: 'x', value: 2 }), refusal('EDIT_IMPOSSIBLE'));
    });
  });

  it('changes key and value of one field in one edit', () => {
    const changes = [
      { pointer: '/a', value: [1] },
      { pointer: '/a', key: 'b' },
    ];
    equal(edit('a.json', '{"a": 1}', ...changes), '{"b": [1]}');
  });

  it('rejects a rename to an existing key', () => {
    throws(() => edit('a.json', '{"a":1,"b":2}', { pointer: '/a', key: 'b' }), refusal('EDIT_DUPLICATE_KEY'));
  });

  it('rejects two renames to the same name', () => {
    const changes = [
      { pointer: '/a', key: 'c' },
      { pointer: '/b', key: 'c' },
    ];
    throws(() => edit('a.json', '{"a":1,"b":2}', ...changes), refusal('EDIT_DUPLICATE_KEY'));
  });

  it('rejects a pointer that does not exist', () => {
    throws(() => edit('a.json', '{"a":1}', { pointer: '/b', value: 2 }), refusal('EDIT_IMPOSSIBLE'));
  });

  it('rejects a new name for an array element', () => {
    throws(() => edit('a.json', '{"a":[1]}', { pointer: '/a/0', key: 'b' }), refusal('EDIT_IMPOSSIBLE'));
  });

  it('returns the same document if there is nothing to change', () => {
    const document = parseDocument('{"a":1}', 'a.json');
    equal(editDocument(document, []), document);
  });

  it('returns a document parsed from the new text', () => {
    const edited = editDocument(parseDocument('{"a":1}', 'a.json'), [{ pointer: '/a', key: 'b' }]);
    deepEqual(edited.data, { b: 1 });
  });
});
