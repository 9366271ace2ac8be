import { deepEqual, equal, ok } from 'node:assert/strict';
import { Ajv } from 'ajv';
import { parseExact, type Schema } from '#contract';
import { compileSchema, toPublicSchema } from '../../../kernel/config/index.ts';
import { serviceSchema } from '../../../kernel/contract/internal.ts';
import { cost } from '../../support/cost.ts';

const check = (schema: Schema, value: unknown, pointer = '/extra_config/a~1b') => compileSchema(schema)(value, pointer);
const reported = (schema: Schema, value: unknown) =>
  check(schema, value).errors.map(({ pointer, message }) => [pointer, message]);

describe('a compiled schema', () => {
  it('is compiled once and reused', () => equal(compileSchema(serviceSchema), compileSchema(serviceSchema)));
  it('inserts defaults at every depth', () => {
    const inner = { type: 'object', properties: { wait: { type: 'duration', default: '2s' } }, default: {} } as const;
    deepEqual(check({ type: 'object', properties: { inner } }, {}).value, { inner: { wait: 2000 } });
  });
  it('converts durations in lists, in maps and at the top', () => {
    deepEqual(check({ type: 'array', items: { type: 'duration' } }, ['1s']).value, [1000]);
    deepEqual(check({ type: 'object', values: { type: 'duration' } }, { a: '1s' }).value, { a: 1000 });
    equal(check({ type: 'duration' }, '1s').value, 1000);
  });
  it('names a value in errors by the last part of its pointer', () => {
    deepEqual(reported({ type: 'string' }, 5), [['/extra_config/a~1b', "'a/b' must be a string, found 5"]]);
  });
  it('never shows a secret in errors', () => {
    deepEqual(reported({ type: 'string', pattern: '^k', secret: true }, 'hunter2'), [
      ['/extra_config/a~1b', "'a/b' must match ^k, found a string"],
    ]);
  });
  it('reports that a secret is empty', () => {
    deepEqual(reported({ type: 'string', minLength: 1, secret: true }, ''), [
      ['/extra_config/a~1b', "'a/b' must not be empty, found an empty string"],
    ]);
  });
  it('keeps all keys of a map, including comment keys', () => {
    deepEqual(check({ type: 'object', values: { type: 'integer' } }, { _a: 1, $b: 2 }).value, { _a: 1, $b: 2 });
  });
  it('reports a number with many digits in place of an object with defaults', () => {
    const entry = {
      type: 'object',
      properties: { roles: { type: 'array', items: { type: 'string' }, default: [] } },
    } as const;
    const choice = { anyOf: [{ type: 'array', items: entry }, { type: 'string' }] } as const;
    deepEqual(reported(choice, [parseExact('5e-324')]), [
      ['/extra_config/a~1b/0', "'a/b[0]' must be an object, found 5e-324"],
    ]);
  });
  it('accepts a number with many digits, but only for a number', () => {
    equal(check({ type: 'number' }, parseExact('0.12345678901234567890')).value, 0.12345678901234568);
    equal(check({ type: 'integer' }, parseExact('12345678901234567890')).errors[0]!.code, 'SCHEMA_TYPE');
    equal(check({ type: 'number', maximum: 1 }, parseExact('1.2345678901234567890')).errors[0]!.code, 'SCHEMA_RANGE');
    equal(check({ type: 'object' }, parseExact('12345678901234567890')).errors[0]!.code, 'SCHEMA_TYPE');
  });
  it('detects duplicates in time that grows with the list', () => {
    const costOf = (length: number) => {
      const list = Array.from({ length }, (_, index) => ({ index }));
      return cost(() =>
        deepEqual(check({ type: 'array', items: { type: 'any' }, uniqueItems: true }, list).errors, []),
      );
    };
    const small = costOf(20_000);
    ok(costOf(160_000) < 30 * small, 'eight times the items, thirty times the time');
  });
  it('treats objects with reordered keys as equal', () => {
    const list = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ];
    equal(
      check({ type: 'array', items: { type: 'any' }, uniqueItems: true }, list).errors[0]!.pointer,
      '/extra_config/a~1b/1',
    );
  });
});

describe('a schema with alternatives', () => {
  const wait = { type: 'object', required: ['wait'], properties: { wait: { type: 'duration' } } } as const;
  const schema: Schema = { anyOf: [{ type: 'duration' }, wait, { type: 'array', items: wait }] };

  it('uses the alternative that fits, with durations converted', () => {
    equal(check(schema, '1s').value, 1000);
    deepEqual(check(schema, { wait: '1s' }).value, { wait: 1000 });
    deepEqual(check(schema, [{ wait: '1s' }, { wait: '2s' }]).value, [{ wait: 1000 }, { wait: 2000 }]);
  });
  it('reports the errors of the alternative with that type', () => {
    deepEqual(reported(schema, [{ wiat: '1s', wait: '1s' }]), [
      ['/extra_config/a~1b/0/wiat', "unknown key 'wiat' in 'a/b[0]'"],
    ]);
  });
  it('lists the accepted types if none fits', () => {
    const words = '\'a/b\' must be a duration such as "1500ms" or "2s" or an object or a list, found 5';
    deepEqual(reported(schema, 5), [['/extra_config/a~1b', words]]);
  });
});

describe('the schema for editors', () => {
  const validate = new Ajv({ strict: false, unicodeRegExp: false }).compile(toPublicSchema(serviceSchema));
  const backend = { url_pattern: '/', timeout: '1s' };

  it('accepts the same as the gateway, including comments', () => {
    ok(
      validate({
        version: 3,
        '@note': 1,
        timeout: '2s',
        endpoints: [{ _c: 1, endpoint: '/a/{b}', backend: [backend] }],
      }),
    );
  });
  it('rejects unknown keys and invalid durations', () => {
    equal(validate({ version: 3, tiemout: '2s' }), false);
    equal(validate({ version: 3, timeout: '2' }), false);
    equal(validate({ version: 3, endpoints: [{ endpoint: '/a', backend: [{ ...backend, hots: [] }] }] }), false);
  });
  it('describes every field', () => {
    const fields = (toPublicSchema(serviceSchema) as { properties: Record<string, { description?: string }> })
      .properties;
    deepEqual(
      Object.keys(fields).filter((name) => !fields[name]!.description),
      [],
    );
  });
});

describe('a misspelled required key', () => {
  const schema = {
    type: 'object',
    required: ['endpoint', 'backend'],
    properties: { endpoint: { type: 'string' }, backend: { type: 'string' }, timeout: { type: 'string' } },
  } as const satisfies Schema;
  const findings = (value: unknown) =>
    compileSchema(schema)(value, '').errors.map(({ code, pointer, fix }) => [
      code,
      pointer,
      fix && Object.values(fix)[0],
    ]);

  it('is reported once, with the correct key', () =>
    deepEqual(findings({ endpiont: '/a', backend: 'b' }), [['SCHEMA_UNKNOWN_KEY', '/endpiont', 'endpoint']]));
  it('is reported up to 200 times per object, with the number of omitted errors', () => {
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`k${index}`, 1]));
    const found = findings({ endpoint: '/a', backend: 'b', ...many });
    deepEqual(found.length, 201);
    deepEqual(found.at(-1), ['SCHEMA_UNKNOWN_KEYS', '', undefined]);
  });
  it('does not hide that another key is missing', () =>
    deepEqual(
      findings({ endpiont: '/a' }).map(([code]) => code),
      ['SCHEMA_UNKNOWN_KEY', 'SCHEMA_REQUIRED'],
    ));
  it('does not hide a missing key that none of the present keys resembles', () =>
    deepEqual(
      findings({ endpoint: '/a', timeuot: '2s' }).map(([code]) => code),
      ['SCHEMA_UNKNOWN_KEY', 'SCHEMA_REQUIRED'],
    ));
  it('marks the object that lacks the key', () =>
    deepEqual(compileSchema(schema)({ endpiont: '/a', backend: 'b' }, '/at').lacking, ['/at']));
  it('is reported with its place in an object that accepts any key', () => {
    const open = { ...schema, required: ['endpoint'], values: { type: 'any' } } as const satisfies Schema;
    const inOpen = (value: unknown) =>
      compileSchema(open)(value, '').errors.map(({ code, pointer, fix, ofKey, hint }) => [
        code,
        pointer,
        hint,
        fix ?? ofKey,
      ]);
    deepEqual(inOpen({ endpiont: '/a', other: 1 }), [
      ['SCHEMA_REQUIRED', '/endpiont', 'endpoint', { key: 'endpoint' }],
    ]);
    deepEqual(inOpen({ endpiont: 1, endpoit: 1 }), [['SCHEMA_REQUIRED', '/endpiont', 'endpoint', true]]);
    deepEqual(inOpen({ other: 1 }), [['SCHEMA_REQUIRED', '', undefined, undefined]]);
  });
});
