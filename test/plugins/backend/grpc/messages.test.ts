import { deepEqual, equal, throws } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Data, parseExact, printJson } from '#contract';
import type { Message } from '../../../../plugins/engines/grpc/catalog.ts';
import { MessageReader } from '../../../../plugins/engines/grpc/from-data.ts';
import { DataWriter, type ToDataOptions } from '../../../../plugins/engines/grpc/to-data.ts';
import { linkSets } from '../../../../plugins/grpc/descriptor-sets.ts';
import { OLD, SHOP } from '../../../support/grpc/server.ts';

const registry = linkSets(
  [SHOP, OLD].map((path) => ({ path, bytes: readFileSync(path) })),
  () => {},
);
const everything = registry.getMessage('shop.Everything')!;
const given = registry.getMessage('old.Given')!;
const asIs: ToDataOptions = {
  names: 'snake_case',
  enumsAsText: false,
  timestampsAsText: false,
  durationsAsText: false,
  omitsUnset: true,
};

const reader = new MessageReader(registry, { names: 'snake_case', takesPlainBytes: false });

/** What becomes of data on its way through a message and its encoding. */
function through(json: string, options: Partial<ToDataOptions> = {}, type = everything): string {
  const bytes = toBinary(type, reader.read(type, parseExact(json)) as never);
  const write = new DataWriter(registry, { ...asIs, ...options }).writer(type);
  return printJson(write(fromBinary(type, bytes) as unknown as Message));
}

describe('messages of gRPC as data', () => {
  for (const [what, json, expected = json] of [
    ['a text', '{"full_name":"ü"}'],
    [
      'whole numbers to their limits',
      '{"small":-2147483648,"large":"18446744073709551615","signed":"-9223372036854775808"}',
    ],
    ['64 bits as numbers where they are exact', '{"large":9007199254740991,"signed":-9007199254740991}'],
    ['64 bits as texts where they are not', '{"large":9007199254740993}', '{"large":"9007199254740993"}'],
    [
      'numbers as texts',
      '{"small":"7","large":"8","ratio":"0.5","exact":"1e3"}',
      '{"small":7,"large":8,"ratio":0.5,"exact":1000}',
    ],
    ['whole numbers however they are written', '{"small":1.0,"signed":1e3}', '{"small":1,"signed":1000}'],
    ['numbers that are none', '{"ratio":"NaN","exact":"-Infinity"}'],
    ['minus zero', '{"exact":-0.0}', '{"exact":0}'],
    ['bytes', '{"raw":"AAH/"}'],
    ['bytes in the alphabet of URLs, unpadded', '{"raw":"__8"}', '{"raw":"//8="}'],
    ['an enum by name', '{"kind":"HUGE"}', '{"kind":2}'],
    ['an enum that is not known', '{"kind":77}'],
    ['lists', '{"numbers":[1,2,3],"path":[{"latitude":1},{}]}'],
    ['maps, whose keys are data', '{"labels":{"__proto__":"a","constructor":"b"},"places":{"-5":{"latitude":2}}}'],
    ['a field named like a part of the prototype', '{"__proto__":"polluted"}'],
    ['times', '{"at":{"seconds":5,"nanos":6},"takes":{"seconds":-1,"nanos":-5}}'],
    [
      'times as texts',
      '{"at":"2024-01-02T03:04:05.5+01:00","takes":"1h2m3.5s"}',
      '{"at":{"seconds":1704161045,"nanos":500000000},"takes":{"seconds":3723,"nanos":500000000}}',
    ],
    ['values in wrappers', '{"title":"","count":"12345678901234567","sure":false}'],
    ['what is free', '{"free":{"__proto__":{"a":[1,null,"b"]},"x":true},"any_value":[1,{"a":null}]}'],
    ['null where it is a value', '{"any_value":null}'],
    ['null where it is none', '{"full_name":null,"inner":null,"numbers":null}', '{}'],
    [
      'a packed message',
      '{"packed":{"@type":"type.googleapis.com/shop.Geo","latitude":1}}',
      '{"packed":{"latitude":1,"@type":"type.googleapis.com/shop.Geo"}}',
    ],
    ['one of several', '{"left":""}'],
    ['one of several, a message', '{"right":{"longitude":1}}'],
    ['what may be absent', '{"maybe":0}'],
    ['messages within', '{"inner":{"inner":{"full_name":"a"}}}'],
    ['names that are no field', '{"nobody":1,"fullName":"a"}', '{}'],
  ] as readonly (readonly [string, string, string?])[]) {
    it(`keep ${what}`, () => equal(through(json), expected));
  }

  it('give times as texts, with the digits they take', () => {
    const texts = { timestampsAsText: true, durationsAsText: true };
    equal(
      through('{"at":{"seconds":0,"nanos":1000},"takes":{"nanos":-500000000}}', texts),
      '{"at":"1970-01-01T00:00:00.000001Z","takes":"-0.5s"}',
    );
    equal(
      through('{"at":"9999-12-31T23:59:59.999999999Z","takes":"3s"}', texts),
      '{"at":"9999-12-31T23:59:59.999999999Z","takes":"3s"}',
    );
  });

  it('have zero values for what is not set, but for members of a group', () => {
    deepEqual(JSON.parse(through('{"inner":{"small":1}}', { omitsUnset: false })).inner, {
      full_name: '',
      small: 1,
      large: 0,
      signed: 0,
      ratio: 0,
      exact: 0,
      flag: false,
      raw: '',
      kind: 0,
      numbers: [],
      labels: {},
      places: {},
      at: null,
      takes: null,
      title: null,
      count: null,
      sure: null,
      free: null,
      any_value: null,
      packed: null,
      inner: null,
      maybe: 0,
      path: [],
      ['__proto__']: '',
      fixed: 0,
    });
  });

  it('have the defaults of proto2', () => {
    equal(through('{"fresh":true}', { omitsUnset: false }, given), '{"color":"red","size":7,"fresh":true}');
    equal(through('{"size":0}', {}, given), '{"size":0}');
  });

  it('keep a packed message of a type that is not known', () => {
    const packed = { typeUrl: 'type.googleapis.com/no.Such', value: Buffer.from([1]) };
    const write = new DataWriter(registry, asIs).writer(registry.getMessage('google.protobuf.Any')!);
    deepEqual(write({ $typeName: 'google.protobuf.Any', ...packed }), { '@type': packed.typeUrl, value: 'AQ==' });
  });

  for (const [what, data] of [
    ['a number for a text', { full_name: 1 }],
    ['half of a character', { full_name: '\ud800' }],
    ['a text for a boolean', { flag: 'true' }],
    ['a fraction for a whole number', { small: 1.5 }],
    ['a number beyond 32 bits', { small: 2 ** 31 }],
    ['a negative number without sign', { large: -1 }],
    ['a number beyond 64 bits', { large: '18446744073709551616' }],
    ['a number of a million digits', { large: '9'.repeat(1_000_000) }],
    ['a number in hex', { exact: '0x10' }],
    ['a number beyond a float', { ratio: 1e39 }],
    ['an empty number', { exact: '' }],
    ['no base64', { raw: 'hello!' }],
    ['base64 that broke off', { raw: 'aGkaa' }],
    ['an enum by another name', { kind: 'TINY' }],
    ['an enum that is no number', { kind: 1.5 }],
    ['an object for a list', { numbers: {} }],
    ['null in a list', { numbers: [null] }],
    ['a list for a map', { labels: [] }],
    ['a key of a map that is no number', { places: { a: {} } }],
    ['a day that there is not', { at: '2024-02-30T00:00:00Z' }],
    ['a time without a zone', { at: '2024-02-03T00:00:00' }],
    ['a duration without a unit', { takes: '3' }],
    ['a duration beyond all', { takes: '999999999999999s' }],
    ['a text for an object', { free: 'a' }],
  ] as const) {
    it(`refuse ${what}`, () =>
      throws(() => reader.read(everything, data as unknown as Data), /^ValueError|Error: \w+.* is not /));
  }

  it('refuse what is nested deeper than any message', () => {
    let data: Data = {};
    for (let depth = 0; depth < 10_000; depth++) data = { inner: data };
    throws(() => reader.read(everything, data), /nested/);
  });
});
