import { deepEqual, equal, ok } from 'node:assert/strict';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { type Data, type DataObject, parseExact, printJson, setKey } from '#contract';
import { isBreaking } from '../../../../kernel/cases/contracts/breaks.ts';
import { compareShapes } from '../../../../kernel/cases/contracts/compare-shapes.ts';
import { Shape } from '../../../../kernel/cases/contracts/shape.ts';
import { toSchema, toShape } from '../../../../kernel/cases/contracts/to-schema.ts';

const inferring = { minSamples: 2, enums: false };

const shapeOf = (samples: readonly Data[]): Shape => {
  const shape = new Shape();
  for (const sample of samples) shape.add(sample);
  return shape;
};
const schemaOf = (samples: readonly Data[], more: Partial<typeof inferring> = {}) =>
  toSchema(shapeOf(samples), { ...inferring, ...more });

/** An object with own keys, also for names of prototype members. */
const objectOf = (pairs: readonly (readonly [string, Data])[]): DataObject => {
  const object: DataObject = {};
  for (const [key, value] of pairs) setKey(object, key, value);
  return object;
};

describe('schemas inferred from samples', () => {
  it('unite the types of all samples, with integers as numbers', () => {
    deepEqual(schemaOf([1, 2]), { type: 'integer' });
    deepEqual(schemaOf([1, 2.5]), { type: 'number' });
    deepEqual(schemaOf([1, null, 'a']), { type: ['string', 'integer', 'null'] });
    deepEqual(schemaOf([parseExact('9007199254740993')]), { type: 'integer' });
    deepEqual(schemaOf([parseExact('0.12345678901234567890123')]), { type: 'number' });
  });

  it('require keys that all objects have, if there are at least the minimum number of samples', () => {
    const samples: Data[] = [{ a: 1, b: 'x' }, { a: 2 }];
    const properties = { a: { type: 'integer' }, b: { type: 'string' } };
    deepEqual(schemaOf(samples), { type: 'object', properties, required: ['a'] });
    deepEqual(schemaOf(samples, { minSamples: 3 }), { type: 'object', properties });
  });

  it('unite the items of all arrays', () => {
    const items = { type: ['object', 'integer'], properties: { a: { type: 'integer' } } };
    deepEqual(schemaOf([[1], [], [{ a: 1 }]]), { type: 'array', items });
    deepEqual(schemaOf([[], []]), { type: 'array' });
  });

  it('name formats that all strings have, if there are at least the minimum number of samples', () => {
    const dates = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.1+01:00'];
    deepEqual(schemaOf(dates), { type: 'string', format: 'date-time' });
    deepEqual(schemaOf(dates.slice(1)), { type: 'string' });
    deepEqual(schemaOf([...dates, 'soon']), { type: 'string' });
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    deepEqual(schemaOf([id, id]), { type: 'string', format: 'uuid' });
    deepEqual(schemaOf(['a@example.test', 'b@example.test']), { type: 'string', format: 'email' });
    deepEqual(schemaOf(['2026-01-02', '2026-01-03']), { type: 'string', format: 'date' });
  });

  it('contain values of the samples only as enums, for few different strings', () => {
    const roles = ['admin', 'user', 'admin', 'user', 'admin', 'user', null];
    deepEqual(schemaOf(roles), { type: ['string', 'null'] });
    deepEqual(schemaOf(roles, { enums: true }), { type: ['string', 'null'], enum: ['admin', 'user', null] });
    deepEqual(schemaOf(['a', 'b', 'c'], { enums: true }), { type: 'string' });
    const many = Array.from({ length: 100 }, (_, at) => `value ${at % 11}`);
    deepEqual(schemaOf(many, { enums: true }), { type: 'string' });
  });

  it('treat keys as data if they look like data, or if there are many and most are missing from some object', () => {
    const item = { type: 'object', additionalProperties: { type: 'string' } };
    deepEqual(schemaOf([{ 17: 'a', 18: 'b' }]), item);
    deepEqual(schemaOf([{ 'ada@example.test': 'a' }]), item);
    const named = (at: number) => Object.fromEntries([0, 1, 2].map((each) => [`user-${at * 3 + each}`, 'a']));
    deepEqual(schemaOf(Array.from({ length: 20 }, (_, at) => named(at))), item);
    const record = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field-${at}`, 'a']));
    equal(Object.keys(schemaOf([record, record])['properties']!).length, 40);
    deepEqual(schemaOf([{ total: 1, 17: 'a' }]), { ...item, properties: { total: { type: 'integer' } } });
  });

  it('keep keys with the names of prototype members as data', () => {
    const sample = parseExact('{"__proto__":{"a":1},"constructor":1}');
    const schema = schemaOf([sample, sample]);
    equal(
      JSON.stringify(schema['properties']),
      '{"__proto__":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},"constructor":{"type":"integer"}}',
    );
    deepEqual(schema['required'], ['__proto__', 'constructor']);
    equal(JSON.stringify(toSchema(toShape(schema, 2), inferring)), JSON.stringify(schema));
  });

  it('accept any value where samples are masked, or nested too deeply', () => {
    deepEqual(schemaOf([{ a: '***' }, { a: '***' }]), { type: 'object', properties: { a: {} }, required: ['a'] });
    deepEqual(schemaOf([{ a: '***' }, { a: 1 }])['properties'], { a: { type: 'integer' } });
    const deep = parseExact(`${'['.repeat(2000)}${']'.repeat(2000)}`);
    equal(JSON.stringify(schemaOf([deep])).match(/array/g)!.length, 64);
  });

  it('stay small for objects with any number of keys', () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`field ${at}`, at % 2 ? 'a' : 1]));
    equal(shapeOf([wide]).fields!.known.size, 1000);
  });

  it('are equal for the same samples in any order', () => {
    const samples: Data[] = [{ b: 1, a: [1, 'x'] }, { a: [null], c: { z: 1, y: 2 } }, { a: [] }];
    equal(JSON.stringify(schemaOf(samples)), JSON.stringify(schemaOf(samples.toReversed())));
  });

  it('are unchanged if they are read back, and are united with further samples', () => {
    const first = shapeOf([
      { a: 1, role: 'x' },
      { a: 2, role: 'x' },
    ]);
    const schema = toSchema(first, inferring);
    const read = toShape(schema, 2);
    deepEqual(toSchema(read, inferring), schema);
    read.include(shapeOf([{ a: 'text' }]));
    deepEqual(toSchema(read, inferring), {
      type: 'object',
      properties: { a: { type: ['string', 'integer'] }, role: { type: 'string' } },
      required: ['a'],
    });
  });

  it('accept all samples that they were inferred from, and differ from none of them', () => {
    const ajv = addFormats.default(new Ajv({ strict: false, logger: false, ownProperties: true }));
    // The validator ignores the key __proto__ in "properties".
    const key = fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', 'a', 'b', '17', 'x@example.test'));
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('2026-01-02', '2026-01-02T03:04:05Z', 'a@example.test', 'user', 'admin'),
    );
    const { value } = fc.letrec<{ value: Data }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(
          text,
          fc.integer(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.boolean(),
          fc.constant(null),
        ),
        fc.array(tie('value')),
        fc.array(fc.tuple(key, tie('value'))).map((pairs) => objectOf(pairs as [string, Data][])),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 3 }),
        (samples, enums, min) => {
          const shape = shapeOf(samples);
          const schema = toSchema(shape, { enums, minSamples: min });
          const validate = ajv.compile(JSON.parse(printJson(schema)));
          for (const sample of samples) ok(validate(JSON.parse(printJson(sample))), JSON.stringify({ schema, sample }));
          const read = toShape(schema, samples.length);
          deepEqual(compareShapes(read, shape, shape).filter(isBreaking), []);
          equal(
            JSON.stringify(toSchema(shapeOf(samples.toReversed()), { enums, minSamples: min })),
            JSON.stringify(schema),
          );
        },
      ),
      { numRuns: 50, seed: 1 },
    );
  });
});
