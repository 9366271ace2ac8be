import { deepEqual, equal, throws } from 'node:assert/strict';
import { parse } from 'yaml';
import type { DataObject } from '#contract';
import { plugin } from '../../../plugins/encoding/yaml.ts';
import { contentType, read, write } from './support.ts';

describe('the YAML decoder', () => {
  it('reads a mapping', () => {
    deepEqual(read(plugin, 'a: 1\nb:\n  - x\n  - {c: true, d: null, e: }\n'), {
      a: 1,
      b: ['x', { c: true, d: null, e: null }],
    });
  });

  it('reads a sequence as a collection', () => {
    deepEqual(read(plugin, '- 1\n- 2\n', true), { collection: [1, 2] });
  });

  it('rejects values of other types', () => {
    throws(() => read(plugin, '- 1'), /expected a YAML mapping/);
    throws(() => read(plugin, '12345678901234567890'), /expected a YAML mapping/);
    throws(() => read(plugin, 'a: 1', true), /expected a YAML sequence/);
  });

  it('reads null as an empty body and rejects an empty body', () => {
    equal(read(plugin, 'null'), null);
    equal(read(plugin, '~', true), null);
    throws(() => read(plugin, ' \n'), /^Error: EOF$/);
  });

  it('reads JSON', () => {
    deepEqual(read(plugin, '{"a": [1, "\\u00e9"]}'), { a: [1, 'é'] });
  });

  it('converts keys to strings as written', () => {
    deepEqual(read(plugin, '1: a\ntrue: b\n~: c\n0x10: d'), { 1: 'a', true: 'b', '~': 'c', '0x10': 'd' });
    throws(() => read(plugin, '{[1]: 2}'), /keys must be strings/);
  });

  it('rejects duplicate keys', () => {
    throws(() => read(plugin, 'a: 1\na: 2'), /^Error: 2:1: key "a" is repeated$/);
  });

  it('reads only the first document', () => {
    deepEqual(read(plugin, 'a: 1\n---\nb: ][\n'), { a: 1 });
  });

  it('reports the position of an error', () => {
    throws(() => read(plugin, 'a: 1\nb: [1,\n'), /^Error: \d+:\d+: /);
  });

  it('preserves every digit of numbers beyond the range of JavaScript', () => {
    const data = read(
      plugin,
      'a: 9007199254740993\nb: -0.12345678901234567890\nc: 1e400\nd: 0xffffffffffffffff\ne: +0012345678901234567890',
    );
    equal(
      JSON.stringify(data),
      '{"a":9007199254740993,"b":-0.12345678901234567890,"c":1e400,"d":18446744073709551615,"e":12345678901234567890}',
    );
  });

  it('reads numbers in other notations', () => {
    deepEqual(read(plugin, 'a: .5\nb: 5.\nc: +1\nd: 007\ne: 0o17\nf: -.5e1\nh: 0.0'), {
      a: 0.5,
      b: 5,
      c: 1,
      d: 7,
      e: 15,
      f: -5,
      h: 0,
    });
  });

  it('rejects numbers that JSON does not support', () => {
    throws(() => read(plugin, 'a: .inf'), /1:4: \.inf is not a number in JSON/);
    throws(() => read(plugin, 'a: .NaN'), /not a number in JSON/);
  });

  it('treats dates, merge keys and unknown tags as plain data', () => {
    deepEqual(read(plugin, 'd: 2020-01-01\n<<: {a: 1}\nt: !x 1\nb: !!binary aGk=\ny: yes'), {
      d: '2020-01-01',
      '<<': { a: 1 },
      t: '1',
      b: 'aGk=',
      y: 'yes',
    });
  });

  it('copies the value of an anchor for each alias', () => {
    const data = read(plugin, 'a: &x {b: [1]}\nc: *x\n')!;
    deepEqual(data, { a: { b: [1] }, c: { b: [1] } });
    equal(data['a'] === data['c'], false);
  });

  it('resolves an alias to the latest anchor with its name', () => {
    deepEqual(read(plugin, 'a: &x 1\nb: *x\nc: &x 2\nd: *x'), { a: 1, b: 1, c: 2, d: 2 });
  });

  it('rejects undefined and self-referencing aliases', () => {
    throws(() => read(plugin, 'a: *x'), /alias/i);
    throws(() => read(plugin, 'a: &x [*x]'), /1:8: alias \*x has no preceding anchor/);
  });

  it('rejects exponentially growing aliases before they consume memory', () => {
    const lines = ['a: &a ["x","x","x","x","x","x","x","x","x"]'];
    for (let index = 1; index < 12; index++) {
      const [name, before] = [index, index - 1].map((at) => String.fromCharCode(97 + at));
      lines.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`);
    }
    throws(() => read(plugin, lines.join('\n')), /aliases expand to too much data/);
    const long = `a: &a ${'x'.repeat(10_000)}\nb: [${Array(1000).fill('*a').join(',')}]`;
    throws(() => read(plugin, long), /aliases expand to too much data/);
  });

  it('treats keys such as __proto__ as plain keys', () => {
    const data = read(plugin, '__proto__: {x: 1}\nconstructor: &__proto__ 2\ntoString: *__proto__\n')!;
    equal(JSON.stringify(data), '{"__proto__":{"x":1},"constructor":2,"toString":2}');
  });

  it('rejects deep nesting with an error', () => {
    for (const text of ['['.repeat(50_000), `${'- '.repeat(50_000)}1`, '{a: '.repeat(50_000), '? '.repeat(50_000)]) {
      throws(() => read(plugin, text, true), /nested deeper than 256 levels/);
    }
    const nested = '['.repeat(250) + ']'.repeat(250);
    equal(JSON.stringify(read(plugin, nested, true)), `{"collection":${nested}}`);
  });

  it('parses a large mapping in linear time', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: ${index}`);
    equal(Object.keys(read(plugin, keys.join('\n'))!).length, 20_000);
  });
});

describe('the YAML encoder', () => {
  it('writes blocks with sorted keys and two spaces for each level', () => {
    equal(write(plugin, { u: { n: 'E' } }), 'u:\n  n: E\n');
    equal(
      write(plugin, { b: [1, { d: 'x', c: [true] }, [2, [3]]], a: null }),
      'a: null\nb:\n  - 1\n  - c:\n      - true\n    d: x\n  - - 2\n    - - 3\n',
    );
  });

  it('writes absent data as an empty mapping', () => {
    equal(write(plugin, {}), '{}\n');
    equal(write(plugin, null), '{}\n');
  });

  it('writes empty lists and objects inline', () => {
    equal(write(plugin, { a: [], b: {}, c: [[], {}] }), 'a: []\nb: {}\nc:\n  - []\n  - {}\n');
  });

  it('writes numbers as numbers and preserves their digits', () => {
    equal(
      write(plugin, { a: 1.5, b: JSON.rawJSON('9007199254740993'), c: -3, d: 1e21 }),
      'a: 1.5\nb: 9007199254740993\nc: -3\nd: 1e+21\n',
    );
  });

  it('quotes strings that would be read as another type', () => {
    for (const text of [
      '1',
      '-1.5',
      '1e3',
      '0x1',
      'true',
      'Null',
      'yes',
      'NO',
      'off',
      '~',
      '',
      ' a',
      'a ',
      'a: b',
      'a:',
      'a #b',
      '- a',
      '? a',
      '.inf',
      '2020-01-01',
      '12:30',
      '<<',
      '=',
      '---',
      '[a',
      '{a',
      '*a',
      '&a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
      '`a',
      '"a',
      "'a",
    ]) {
      equal(write(plugin, { k: text }), `k: ${JSON.stringify(text)}\n`);
    }
  });

  it('quotes keys only if they would be read as something else', () => {
    const plain = [
      '$ref',
      '10.0.0.1',
      '2fa',
      '9 lives',
      'X-Request-Id',
      'a,b',
      'a[0]',
      'a/b c',
      'a:b',
      'a#b',
      '-x',
      '?x',
      ':x',
      '+49 30',
      '1.2.3',
      '2020-Q1',
      '(root)',
      '...x',
      '--flag',
      'true?',
      'größe',
      '日本',
      'é',
      'n/a',
      '.well-known',
      '😀',
      '3d',
      '\\',
      '=a',
      '<a>',
    ];
    for (const key of plain) equal(write(plugin, { [key]: 1 }), `${key}: 1\n`);
    for (const key of [
      '',
      '1',
      '1_000',
      '0b1',
      '1:30',
      'No',
      '~',
      '<<',
      '-',
      '? ',
      'a: b',
      'a:',
      'a #b',
      '#a',
      '@a',
      '...',
      '- a',
    ]) {
      equal(write(plugin, { [key]: 1 }), `${JSON.stringify(key)}: 1\n`);
    }
    for (const key of [...plain, '1', 'no', '-', '...']) {
      const text = write(plugin, { [key]: { [key]: [key, { [key]: key }] } });
      for (const version of ['1.1', '1.2'] as const)
        deepEqual(parse(text, { version }), { [key]: { [key]: [key, { [key]: key }] } });
    }
  });

  it('does not quote ordinary strings', () => {
    for (const text of [
      'E',
      'a b',
      'Hello, world! ok',
      'https://a.b/c?d=e&f=g',
      "it's",
      'größe',
      '/a/b',
      'a-b_c',
      'me@x.org',
    ]) {
      equal(write(plugin, { k: text }), `k: ${text}\n`);
    }
  });

  it('escapes line ends and control characters', () => {
    equal(write(plugin, { k: 'a\n\tb\0\x7f\u2028\ud800' }), 'k: "a\\n\\tb\\u0000\\u007f\\u2028\\ud800"\n');
  });

  it('sets its content type', () => {
    equal(contentType(plugin), 'application/yaml; charset=utf-8');
  });

  it('fails with an error beyond 1,000 levels', () => {
    let data: DataObject = { a: 1 };
    for (let level = 0; level < 1001; level++) data = { a: data };
    throws(() => write(plugin, data), /nested deeper than 1000 levels/);
    throws(() => write(plugin, { a: data }), /nested deeper than 1000 levels/);
  });

  it('writes documents that YAML 1.2 and YAML 1.1 parsers read back', () => {
    const signs = [
      'a',
      'b ',
      '1',
      ': ',
      ' #',
      '-',
      "'",
      '"',
      '\n',
      '\\',
      'é',
      '😀',
      ',',
      '[',
      '!',
      '%',
      '~',
      '.',
      '\t',
      'on',
      '=',
      '?',
      '&',
      '*',
      '\u0085',
      '\ufeff',
      '/',
      '@',
      'e',
      '_',
      '0',
      'x',
      '+',
      '>',
      '|',
      '{',
      ']',
      '%',
      '`',
      '<',
      ':',
      '#',
    ];
    for (let round = 0; round < 2000; round++) {
      const word = (salt: number) =>
        [1, 7, 11, 17]
          .slice(round % 4)
          .map((step) => signs[(round * step + salt) % signs.length])
          .join('');
      const data: DataObject = {
        [word(0)]: [word(1), { [word(2)]: word(3), z: [] }, [word(4), round]],
        [`k${word(5)}`]: word(6),
      };
      const text = write(plugin, data);
      deepEqual(parse(text), data, text);
      deepEqual(parse(text, { version: '1.1' }), data, text);
    }
  });

  it('writes overlong keys in a form that parsers read back', () => {
    const data = { ['k'.repeat(3000)]: { ['l '.repeat(2000)]: [1], a: 2 }, b: { ['m'.repeat(2000)]: 'x' } };
    deepEqual(parse(write(plugin, data)), data);
  });

  it('treats keys such as __proto__ as plain keys', () => {
    equal(write(plugin, JSON.parse('{"__proto__":{"constructor":1}}')), '__proto__:\n  constructor: 1\n');
  });
});
