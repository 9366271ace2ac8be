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

/** Data after a round trip through a message and its encoding. */
function through(json: string, options: Partial<ToDataOptions> = {}, type = everything): string {
  const bytes = toBinary(type, reader.read(type, parseExact(json)) as never);
  const write = new DataWriter(registry, { ...asIs, ...options }).writer(type);
  return printJson(write(fromBinary(type, bytes) as unknown as Message));
}

describe('the JSON mapping of gRPC messages', () => {
  for (const [what, json, expected = json] of [
    ['a string', '{"full_name":"ü"}'],
    [
      'integers up to their limits',
      '{"small":-2147483648,"large":"18446744073709551615","signed":"-9223372036854775808"}',
    ],
    [
      '64-bit integers as numbers within the safe integer range',
      '{"large":9007199254740991,"signed":-9007199254740991}',
    ],
    [
      '64-bit integers as strings beyond the safe integer range',
      '{"large":9007199254740993}',
      '{"large":"9007199254740993"}',
    ],
    [
      'numbers given as strings',
      '{"small":"7","large":"8","ratio":"0.5","exact":"1e3"}',
      '{"small":7,"large":8,"ratio":0.5,"exact":1000}',
    ],
    ['integers in decimal and exponent notation', '{"small":1.0,"signed":1e3}', '{"small":1,"signed":1000}'],
    ['NaN and Infinity', '{"ratio":"NaN","exact":"-Infinity"}'],
    ['minus zero', '{"exact":-0.0}', '{"exact":0}'],
    ['bytes', '{"raw":"AAH/"}'],
    ['bytes in unpadded base64url', '{"raw":"__8"}', '{"raw":"//8="}'],
    ['an enum by name', '{"kind":"HUGE"}', '{"kind":2}'],
    ['an unknown enum number', '{"kind":77}'],
    ['lists', '{"numbers":[1,2,3],"path":[{"latitude":1},{}]}'],
    [
      'maps with keys such as __proto__',
      '{"labels":{"__proto__":"a","constructor":"b"},"places":{"-5":{"latitude":2}}}',
    ],
    ['a field named __proto__', '{"__proto__":"polluted"}'],
    ['times', '{"at":{"seconds":5,"nanos":6},"takes":{"seconds":-1,"nanos":-5}}'],
    [
      'timestamps and durations given as strings',
      '{"at":"2024-01-02T03:04:05.5+01:00","takes":"1h2m3.5s"}',
      '{"at":{"seconds":1704161045,"nanos":500000000},"takes":{"seconds":3723,"nanos":500000000}}',
    ],
    ['wrapper types', '{"title":"","count":"12345678901234567","sure":false}'],
    ['Struct and Value', '{"free":{"__proto__":{"a":[1,null,"b"]},"x":true},"any_value":[1,{"a":null}]}'],
    ['null as a Value', '{"any_value":null}'],
    ['null as an unset field', '{"full_name":null,"inner":null,"numbers":null}', '{}'],
    [
      'an Any message',
      '{"packed":{"@type":"type.googleapis.com/shop.Geo","latitude":1}}',
      '{"packed":{"latitude":1,"@type":"type.googleapis.com/shop.Geo"}}',
    ],
    ['a oneof member', '{"left":""}'],
    ['a oneof member that is a message', '{"right":{"longitude":1}}'],
    ['an optional field with its zero value', '{"maybe":0}'],
    ['nested messages', '{"inner":{"inner":{"full_name":"a"}}}'],
    ['objects without their unknown fields', '{"nobody":1,"fullName":"a"}', '{}'],
  ] as readonly (readonly [string, string, string?])[]) {
    it(`preserves ${what}`, () => equal(through(json), expected));
  }

  it('writes timestamps as strings with as many fraction digits as needed', () => {
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

  it('writes zero values for unset fields, except for oneof members', () => {
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

  it('applies the defaults of proto2', () => {
    equal(through('{"fresh":true}', { omitsUnset: false }, given), '{"color":"red","size":7,"fresh":true}');
    equal(through('{"size":0}', {}, given), '{"size":0}');
  });

  it('preserves an Any message of an unknown type', () => {
    const packed = { typeUrl: 'type.googleapis.com/no.Such', value: Buffer.from([1]) };
    const write = new DataWriter(registry, asIs).writer(registry.getMessage('google.protobuf.Any')!);
    deepEqual(write({ $typeName: 'google.protobuf.Any', ...packed }), { '@type': packed.typeUrl, value: 'AQ==' });
  });

  for (const [what, data] of [
    ['a number for a string field', { full_name: 1 }],
    ['a lone surrogate', { full_name: '\ud800' }],
    ['a string for a boolean field', { flag: 'true' }],
    ['a fraction for an integer field', { small: 1.5 }],
    ['a number beyond 32 bits', { small: 2 ** 31 }],
    ['a negative number without sign', { large: -1 }],
    ['a number beyond 64 bits', { large: '18446744073709551616' }],
    ['a number of a million digits', { large: '9'.repeat(1_000_000) }],
    ['a hexadecimal number', { exact: '0x10' }],
    ['a number beyond the range of float', { ratio: 1e39 }],
    ['an empty string for a number field', { exact: '' }],
    ['invalid base64', { raw: 'hello!' }],
    ['truncated base64', { raw: 'aGkaa' }],
    ['an unknown enum name', { kind: 'TINY' }],
    ['a fractional enum number', { kind: 1.5 }],
    ['an object for a repeated field', { numbers: {} }],
    ['null in a list', { numbers: [null] }],
    ['a list for a map field', { labels: [] }],
    ['a non-numeric key for an integer-keyed map', { places: { a: {} } }],
    ['a date that does not exist', { at: '2024-02-30T00:00:00Z' }],
    ['a timestamp without a time zone', { at: '2024-02-03T00:00:00' }],
    ['a duration without a unit', { takes: '3' }],
    ['a duration out of range', { takes: '999999999999999s' }],
    ['a string for a message field', { free: 'a' }],
  ] as const) {
    it(`rejects ${what}`, () =>
      throws(() => reader.read(everything, data as unknown as Data), /^ValueError|Error: \w+.* is not /));
  }

  it('rejects data that is nested too deeply', () => {
    let data: Data = {};
    for (let depth = 0; depth < 10_000; depth++) data = { inner: data };
    throws(() => reader.read(everything, data), /nested/);
  });
});
