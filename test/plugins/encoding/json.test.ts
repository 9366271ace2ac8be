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

    it('reads null as an empty body', () => {
      equal(read(plugin, 'null'), null);
      equal(read(plugin, 'null', true), null);
    });

    it('rejects values of other types', () => {
      throws(() => read(plugin, '[1,2]'), /expected a JSON object, got an array/);
      throws(() => read(plugin, '{}', true), /expected a JSON array, got an object/);
      throws(() => read(plugin, '12345678901234567890'), /expected a JSON object, got a number/);
      throws(() => read(plugin, '"a"'), /expected a JSON object, got a string/);
      throws(() => read(plugin, 'true', true), /expected a JSON array, got a boolean/);
    });

    it('fails for an empty body', () => {
      throws(() => read(plugin, ''), /^Error: EOF$/);
      throws(() => read(plugin, ' \n'), /^Error: EOF$/);
    });

    it('rejects characters after the value, except white space', () => {
      throws(() => read(plugin, '{} x'), SyntaxError);
      throws(() => read(plugin, '{}{}'), SyntaxError);
    });

    it('preserves every digit of numbers beyond the range of JavaScript', () => {
      const body = '{"n":9007199254740993,"d":0.1234567890123456789,"e":1e400,"m":-9223372036854775808}';
      equal(write(plugin, read(plugin, body)), body);
    });

    it('uses the last of duplicate keys', () => {
      deepEqual(read(plugin, '{"a":1,"a":2}'), { a: 2 });
    });

    it('treats keys such as __proto__ as plain keys', () => {
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

    it('preserves the order of keys and writes nothing after the value', () => {
      equal(write(plugin, { b: '<&>', a: [true, null] }), '{"b":"<&>","a":[true,null]}');
    });

    it('writes absent data as an empty object', () => {
      equal(write(plugin, null), '{}');
      equal(write(plugin, {}), '{}');
    });

    it('sets its content type', () => {
      equal(contentType(plugin), 'application/json; charset=utf-8');
    });

    it('fails with an error if data is nested too deeply to be written', () => {
      const data = read(plugin, '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000));
      equal(isObject(data), true);
      throws(() => write(plugin, data), /nested too deeply/);
    });

    it('forwards the bytes of an object unchanged', () => {
      const bytes = Buffer.from('{"n":9007199254740993,"a":1,"a":"é"}');
      const passed = encodingOf(plugin).passes!(bytes, false)!;
      equal(passed.body, bytes);
      equal(passed.contentType, 'application/json; charset=utf-8');
      equal(passed.empty, false);
    });
  });
}

describe('undecoded bytes with json encoding', () => {
  it('are forwarded without surrounding white space', () => {
    equal(Buffer.from(pass(' \r\n{ "a" : 1 }\t\n')!.body).toString(), '{ "a" : 1 }');
  });

  it('are recognized as an empty object', () => {
    equal(pass('{ \n }')!.empty, true);
    equal(pass('{}')!.empty, true);
    equal(pass('{"":1}')!.empty, false);
  });

  it('are not forwarded unchanged if re-encoding would change them', () => {
    equal(pass('null'), null);
    equal(pass('\ufeff{}'), null);
    equal(pass(Buffer.from('{"a":"\xff"}', 'latin1')), null);
    equal(pass('[1]', true), null);
  });

  it('are rejected if the decoder would reject them', () => {
    throws(() => pass('[1]'), /expected a JSON object, got an array/);
    throws(() => pass(''), /EOF/);
    throws(() => pass('{"a":1'), SyntaxError);
    throws(() => pass('{"a":01}'), SyntaxError);
    throws(() => pass('{"a":1} x}'), SyntaxError);
    throws(() => pass('{"a":'.repeat(10_001) + '1' + '}'.repeat(10_001)), /nested deeper/);
  });

  it('are forwarded even if they are large', () => {
    const body = JSON.stringify({ list: Array.from({ length: 200_000 }, (_, id) => ({ id, name: `n${id}` })) });
    equal(pass(body)!.body.length, body.length);
  });
});

describe('encoding/json-collection', () => {
  it('writes only the collection', () => {
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

  it('sets the content type of JSON', () => {
    equal(contentType(jsonCollection), 'application/json; charset=utf-8');
  });

  it('is available for output only', () => {
    equal(encodingOf(jsonCollection).decode, undefined);
  });
});

describe('encoding/safejson', () => {
  it('reads an object unchanged', () => {
    deepEqual(read(safejson, '{"a":1}'), { a: 1 });
  });

  it('reads an array as a collection, with or without is_collection', () => {
    deepEqual(read(safejson, '[1,2]'), { collection: [1, 2] });
    deepEqual(read(safejson, '[]', true), { collection: [] });
  });

  it('reads a scalar as "content"', () => {
    deepEqual(read(safejson, '"hi"'), { content: 'hi' });
    deepEqual(read(safejson, 'false'), { content: false });
    deepEqual(read(safejson, 'null'), { content: null });
    equal(write(json, read(safejson, '9007199254740993')), '{"content":9007199254740993}');
  });

  it('rejects an empty or invalid body', () => {
    throws(() => read(safejson, ''), /EOF/);
    throws(() => read(safejson, '{'), SyntaxError);
    throws(() => read(safejson, '1 2'), SyntaxError);
  });
});
