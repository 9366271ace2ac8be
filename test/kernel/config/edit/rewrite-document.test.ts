import { deepEqual, equal, throws } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { parseDocument, rewriteDocument } from '../../../../kernel/config/index.ts';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';

const rewrite = (file: string, text: string, wanted: DataObject): string => {
  const edited = rewriteDocument(parseDocument(text, file), wanted);
  deepEqual(edited.data, wanted);
  return edited.text;
};

const lines = (...list: string[]) => `${list.join('\n')}\n`;

describe('rewriting a document to contain other data', () => {
  it('returns an unchanged text if the data is the same', () => {
    const text = '{ // x\n "a" :1 }';
    equal(rewrite('a.json', text, { a: 1 }), text);
  });

  it('changes only differing values in JSON, and keeps comments and layout', () => {
    const text = lines('{', '  // why', '  "a": 1, // one', '', '  "b":   { "c": [1, 2] },', '  "d": 3 // last', '}');
    equal(
      rewrite('a.json', text, { a: 2, b: { c: [1, 2], e: 'x' }, d: 3 }),
      lines('{', '  // why', '  "a": 2, // one', '', '  "b":   { "c": [1, 2], "e": "x" },', '  "d": 3 // last', '}'),
    );
  });

  it('removes and adds keys in JSON', () => {
    const text = lines('{', '  "a": 1, // one', '  "b": 2, // two', '  "c": 3 // three', '}');
    equal(rewrite('a.json', text, { a: 1, c: 3 }), lines('{', '  "a": 1, // one', '  "c": 3 // three', '}'));
    equal(rewrite('a.json', text, { a: 1, b: 2 }), lines('{', '  "a": 1, // one', '  "b": 2 // two', '}'));
    equal(rewrite('a.json', text, { a: 1, d: 4 }), lines('{', '  "a": 1, // one', '  "d": 4', '}'));
    equal(
      rewrite('a.json', text, { a: 1, b: 2, c: 3, d: 4 }),
      lines('{', '  "a": 1, // one', '  "b": 2, // two', '  "c": 3, // three', '  "d": 4', '}'),
    );
  });

  it('adds, inserts and removes the entries of a list in JSON', () => {
    const text = lines('{', '  "l": [', '    { "n": 1 }, // one', '    { "n": 2 } // two', '  ]', '}');
    const n = (...numbers: number[]) => ({ l: numbers.map((n) => ({ n })) });
    equal(
      rewrite('a.json', text, n(1, 2, 3)),
      lines('{', '  "l": [', '    { "n": 1 }, // one', '    { "n": 2 }, // two', '    {"n": 3}', '  ]', '}'),
    );
    equal(rewrite('a.json', text, n(1)), lines('{', '  "l": [', '    { "n": 1 } // one', '  ]', '}'));
    equal(
      rewrite('a.json', text, n(0, 1, 2)),
      lines('{', '  "l": [', '    {"n": 0},', '    { "n": 1 }, // one', '    { "n": 2 } // two', '  ]', '}'),
    );
  });

  const yaml = lines(
    '# head',
    'version: 3',
    'timeout: 1s # short',
    'endpoints:',
    '  # first',
    '  - endpoint: /a',
    '    timeout: 2s',
    '  - endpoint: /b # second',
    '    method: GET',
  );

  it('changes only the affected lines in YAML', () => {
    const endpoints: DataObject[] = [
      { endpoint: '/a', timeout: '2s' },
      { endpoint: '/b', method: 'GET' },
    ];
    equal(rewrite('a.yaml', yaml, { version: 3, timeout: '4s', endpoints }), yaml.replace('1s', '4s'));
    equal(rewrite('a.yaml', yaml, { version: 3, endpoints }), yaml.replace('timeout: 1s # short\n', ''));
    equal(
      rewrite('a.yaml', yaml, {
        version: 3,
        timeout: '1s',
        endpoints: [...endpoints, { endpoint: '/c', output: ['x'] }],
      }),
      `${yaml}  - endpoint: /c\n    output: ["x"]\n`,
    );
    equal(
      rewrite('a.yaml', yaml, { version: 3, timeout: '1s', endpoints: [{ endpoint: '/0' }, ...endpoints] }),
      yaml.replace('  - endpoint: /a', '  - endpoint: /0\n  - endpoint: /a'),
    );
    equal(
      rewrite('a.yaml', yaml, { version: 3, timeout: '1s', endpoints: [{ timeout: '2s' }, endpoints[1]!], name: 'x' }),
      `${yaml.replace('endpoint: /a\n    timeout', 'timeout')}name: x\n`,
    );
    equal(
      rewrite('a.yaml', yaml, { version: 3, timeout: '1s', endpoints: [endpoints[0]!] }),
      yaml.replace('  - endpoint: /b # second\n    method: GET\n', ''),
    );
  });

  it('rejects a change of a YAML value that an alias uses elsewhere', () => {
    const text = lines('a: &x {n: 1}', 'b: *x');
    throws(
      () => rewrite('a.yaml', text, { a: { n: 1 }, b: { n: 2 } }),
      (error) => (error as ConfigErrors).errors[0]!.code === 'EDIT_IMPOSSIBLE',
    );
  });

  it('changes TOML, including tables with headers', () => {
    const text = lines(
      '# head',
      'version = 3',
      'timeout = "1s" # short',
      '',
      '[[endpoints]]',
      'endpoint = "/a"',
      '',
      '[[endpoints.backend]]',
      'url_pattern = "/x"',
      'host = ["http://a"] # one',
    );
    const backend = [{ url_pattern: '/x', host: ['http://a'] }];
    const endpoints = [{ endpoint: '/a', backend }];
    equal(rewrite('a.toml', text, { version: 3, endpoints }), text.replace('timeout = "1s" # short\n', ''));
    equal(
      rewrite('a.toml', text, {
        version: 3,
        timeout: '2s',
        endpoints: [{ endpoint: '/a', timeout: '3s', backend: [{ ...backend[0]!, host: ['http://a', 'http://b'] }] }],
      }),
      text
        .replace('1s', '2s')
        .replace('endpoint = "/a"', 'endpoint = "/a"\ntimeout = "3s"')
        .replace('["http://a"]', '["http://a", "http://b"]'),
    );
    const more = rewrite('a.toml', text, {
      version: 3,
      timeout: '1s',
      endpoints: [...endpoints, { endpoint: '/b', backend }],
    });
    equal(more.startsWith(text), true);
    equal(rewrite('a.toml', more, { version: 3, timeout: '1s', endpoints }).trim(), text.trim());
  });

  it('produces exactly the given data or fails, for any change', () => {
    const texts: Record<string, string> = {
      'a.json': '{ "a": 1, "l": [1, 2, {"x": 1, "y": [3]}],\n  "o": {"p": "q", // c\n "r": null} }',
      'a.yaml': 'a: 1\nl:\n  - 1\n  - 2\n  - x: 1\n    y: [3]\no:\n  p: q # c\n  r:\n',
      'a.toml': 'a = 1\nl = [1, 2, {x = 1, y = [3]}]\n\n[o]\np = "q" # c\nr = 1\n',
    };
    const values = [1, 'x: y', '# z', { k: 1 }, ['m'], {}, []];
    let made = 0;
    let tried = 0;
    for (const [file, text] of Object.entries(texts)) {
      const { data } = parseDocument(text, file);
      for (const wanted of variants(data as DataObject, values)) {
        tried++;
        try {
          rewrite(file, text, wanted as DataObject);
          made++;
        } catch (error) {
          equal((error as ConfigErrors).errors?.[0]?.code, 'EDIT_IMPOSSIBLE', (error as Error).stack);
        }
      }
    }
    equal(made / tried > 0.9, true, `${made} of ${tried}`);
  });
});

/** Every result of one step on a value: an entry removed, replaced or inserted. */
function* variants(value: unknown, values: readonly unknown[]): Generator<unknown> {
  if (Array.isArray(value)) {
    for (let at = 0; at <= value.length; at++) {
      for (const each of values) yield value.toSpliced(at, 0, each);
      if (at === value.length) continue;
      yield value.toSpliced(at, 1);
      for (const each of values) yield value.with(at, each);
      for (const inner of variants(value[at], values)) yield value.with(at, inner);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      const { [name]: _, ...others } = value as DataObject;
      yield others;
      for (const each of values) yield { ...value, [name]: each };
      for (const inner of variants(item, values)) yield { ...value, [name]: inner };
    }
    for (const each of values) yield { ...value, new: each };
  }
}
