import { deepEqual, equal, throws } from 'node:assert/strict';
import { isObject } from '#contract';
import { plugin as fastJson } from '../../../plugins/encoding/fast-json.ts';
import { plugin as json } from '../../../plugins/encoding/json.ts';
import { plugin as jsonCollection } from '../../../plugins/encoding/json-collection.ts';
import { plugin as safejson } from '../../../plugins/encoding/safejson.ts';
import { contentType, encodingOf, read, write } from './support.ts';

const pass = (body: string | Uint8Array, asCollection = false) =>
  encodingOf(json).passes!(Buffer.from(body as string), asCollection);

for (const plugin of [json, fastJson]) {
  describe(plugin.name, () => {
    it('reads an object', () => {
      deepEqual(read(plugin, ' {"a":[1,{"b":null}]}\r\n'), { a: [1, { b: null }] });
    });

    it('reads an array as a collection', () => {
      deepEqual(read(plugin, '[1,2]', true), { collection: [1, 2] });
    });

    it('reads null as nothing', () => {
      equal(read(plugin, 'null'), null);
      equal(read(plugin, 'null', true), null);
    });

    it('fails on a value of another kind', () => {
      throws(() => read(plugin, '[1,2]'), /expected a JSON object, got an array/);
      throws(() => read(plugin, '{}', true), /expected a JSON array, got an object/);
      throws(() => read(plugin, '12345678901234567890'), /expected a JSON object, got a number/);
      throws(() => read(plugin, '"a"'), /expected a JSON object, got a string/);
      throws(() => read(plugin, 'true', true), /expected a JSON array, got a boolean/);
    });

    it('fails on an empty body', () => {
      throws(() => read(plugin, ''), /^Error: EOF$/);
      throws(() => read(plugin, ' \n'), /^Error: EOF$/);
    });

    it('fails on anything but white space behind the value', () => {
      throws(() => read(plugin, '{} x'), SyntaxError);
      throws(() => read(plugin, '{}{}'), SyntaxError);
    });

    it('keeps every digit of numbers that JavaScript cannot hold', () => {
      const body = '{"n":9007199254740993,"d":0.1234567890123456789,"e":1e400,"m":-9223372036854775808}';
      equal(write(plugin, read(plugin, body)), body);
    });

    it('takes the last of repeated keys', () => {
      deepEqual(read(plugin, '{"a":1,"a":2}'), { a: 2 });
    });

    it('takes the names of the prototype as plain keys', () => {
      const data = read(plugin, '{"__proto__":{"x":1},"constructor":2}')!;
      deepEqual(Object.keys(data), ['__proto__', 'constructor']);
      equal(Object.getPrototypeOf(data), Object.prototype);
      equal(write(plugin, data), '{"__proto__":{"x":1},"constructor":2}');
    });

    it('replaces invalid UTF-8', () => {
      deepEqual(read(plugin, Buffer.from('{"a":"\xff"}', 'latin1')), { a: '\ufffd' });
    });

    it('skips a byte order mark', () => {
      deepEqual(read(plugin, '\ufeff{"a":1}'), { a: 1 });
    });

    it('keeps the order of keys and writes nothing behind the value', () => {
      equal(write(plugin, { b: '<&>', a: [true, null] }), '{"b":"<&>","a":[true,null]}');
    });

    it('writes no data as an empty object', () => {
      equal(write(plugin, null), '{}');
      equal(write(plugin, {}), '{}');
    });

    it('names its content type', () => {
      equal(contentType(plugin), 'application/json; charset=utf-8');
    });

    it('fails cleanly on data nested too deeply to be written', () => {
      const data = read(plugin, '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000));
      equal(isObject(data), true);
      throws(() => write(plugin, data), /nested too deeply/);
    });

    it('passes the bytes of an object', () => {
      const bytes = Buffer.from('{"n":9007199254740993,"a":1,"a":"é"}');
      const passed = encodingOf(plugin).passes!(bytes, false)!;
      equal(passed.body, bytes);
      equal(passed.contentType, 'application/json; charset=utf-8');
      equal(passed.empty, false);
    });
  });
}

describe('bytes that no component reads, with json', () => {
  it('pass without the white space around them', () => {
    equal(Buffer.from(pass(' \r\n{ "a" : 1 }\t\n')!.body).toString(), '{ "a" : 1 }');
  });

  it('are known to be empty', () => {
    equal(pass('{ \n }')!.empty, true);
    equal(pass('{}')!.empty, true);
    equal(pass('{"":1}')!.empty, false);
  });

  it('do not pass when something else would be written', () => {
    equal(pass('null'), null);
    equal(pass('\ufeff{}'), null);
    equal(pass(Buffer.from('{"a":"\xff"}', 'latin1')), null);
    equal(pass('[1]', true), null);
  });

  it('fail as decoding them would', () => {
    throws(() => pass('[1]'), /expected a JSON object, got an array/);
    throws(() => pass(''), /EOF/);
    throws(() => pass('{"a":1'), SyntaxError);
    throws(() => pass('{"a":01}'), SyntaxError);
    throws(() => pass('{"a":1} x}'), SyntaxError);
    throws(() => pass('{"a":'.repeat(10_001) + '1' + '}'.repeat(10_001)), /nested deeper/);
  });

  it('pass when they are many', () => {
    const body = JSON.stringify({ list: Array.from({ length: 200_000 }, (_, id) => ({ id, name: `n${id}` })) });
    equal(pass(body)!.body.length, body.length);
  });
});

describe('encoding/json-collection', () => {
  it('writes the collection alone', () => {
    equal(write(jsonCollection, { collection: [1, 2], other: 3 }), '[1,2]');
  });

  it('writes a collection of any type', () => {
    equal(write(jsonCollection, { collection: { a: 1 } }), '{"a":1}');
    equal(write(jsonCollection, { collection: null }), 'null');
    equal(write(jsonCollection, { collection: JSON.rawJSON('9007199254740993') }), '9007199254740993');
  });

  it('writes an empty array without a collection', () => {
    equal(write(jsonCollection, { a: 1 }), '[]');
    equal(write(jsonCollection, null), '[]');
  });

  it('names the content type of JSON', () => {
    equal(contentType(jsonCollection), 'application/json; charset=utf-8');
  });

  it('is for output only', () => {
    equal(encodingOf(jsonCollection).decode, undefined);
  });
});

describe('encoding/safejson', () => {
  it('reads an object as it is', () => {
    deepEqual(read(safejson, '{"a":1}'), { a: 1 });
  });

  it('reads an array as a collection, asked for or not', () => {
    deepEqual(read(safejson, '[1,2]'), { collection: [1, 2] });
    deepEqual(read(safejson, '[]', true), { collection: [] });
  });

  it('reads a scalar as content', () => {
    deepEqual(read(safejson, '"hi"'), { content: 'hi' });
    deepEqual(read(safejson, 'false'), { content: false });
    deepEqual(read(safejson, 'null'), { content: null });
    equal(write(json, read(safejson, '9007199254740993')), '{"content":9007199254740993}');
  });

  it('fails on an empty or invalid body', () => {
    throws(() => read(safejson, ''), /EOF/);
    throws(() => read(safejson, '{'), SyntaxError);
    throws(() => read(safejson, '1 2'), SyntaxError);
  });
});
