import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import {
  copyData,
  type DataObject,
  escapeControls,
  getKey,
  getPath,
  hasKeys,
  isObject,
  parseExact,
  setKey,
} from '#contract';

const parse = (text: string) => parseExact(text) as DataObject;

describe('JSON data', () => {
  it('is an object only if it is a JSON object', () => {
    ok(isObject({}));
    for (const value of [null, [], 'a', 1, true, undefined, parse('{"n":12345678901234567890}')['n']]) {
      equal(isObject(value), false);
    }
  });

  it('can have any key, including those of prototypes', () => {
    const data: DataObject = {};
    setKey(data, '__proto__', 1);
    setKey(data, 'a', 2);
    equal(JSON.stringify(data), '{"__proto__":1,"a":2}');
    setKey(data, '__proto__', 3);
    equal(getKey(data, '__proto__'), 3);
  });

  it('finds only own keys of an object, none of its prototype', () => {
    equal(getKey({}, 'constructor'), undefined);
    deepEqual([hasKeys({}), hasKeys({ a: 1 }), hasKeys(Object.create({ a: 1 }))], [false, true, false]);
  });

  it('is searched by a path through objects, never through arrays', () => {
    const data = parse('{"a":{"b":{"c":null}},"l":[{"c":1}],"t":"text"}');
    deepEqual(getPath(data, ['a', 'b']), { c: null });
    equal(getPath(data, ['a', 'b', 'c']), null);
    equal(getPath(data, []), data);
    for (const path of [['x'], ['a', 'x'], ['a', 'b', 'c', 'd'], ['l', '0'], ['l', '0', 'c'], ['t', 'length']]) {
      equal(getPath(data, path), undefined, path.join('.'));
    }
  });

  it('is copied deeply, including exact numbers and unusual names', () => {
    const data = parse('{"a":[{"b":1}],"n":12345678901234567890,"__proto__":{"x":null}}');
    const copy = copyData(data);
    equal(JSON.stringify(copy), JSON.stringify(data));
    notEqual((copy['a'] as DataObject[])[0], (data['a'] as DataObject[])[0]);
    ok(Object.hasOwn(copy, '__proto__'));
  });
});

describe('a text in a log line', () => {
  it('has characters escaped that could break the line or the terminal', () => {
    equal(
      escapeControls('a\nb\rc\td\0e\x1b[31mf\x7fg\x9fh\u2028i\u2029'),
      'a\\nb\\rc\\td\\x00e\\x1b[31mf\\x7fg\\x9fh\\u2028i\\u2029',
    );
  });

  it('is unchanged if it contains no such characters', () => equal(escapeControls('ä ~ €\xa0 '), 'ä ~ €\xa0 '));
});
