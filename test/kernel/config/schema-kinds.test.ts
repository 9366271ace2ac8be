import { deepEqual, equal, match } from 'node:assert/strict';
import { Ajv } from 'ajv';
import type { Infer, Schema } from '#contract';
import { compileSchema, recursiveSchemas, toPublicSchema } from '../../../kernel/config/index.ts';

function check(schema: Schema, value: unknown): { value: unknown; errors: string[] } {
  const { value: checked, errors } = compileSchema(schema)(value, '/x');
  return { value: checked, errors: errors.map(({ pointer, code }) => `${pointer} ${code}`) };
}

/** The published schema agrees with the validator. */
function isPublished(schema: Schema, value: unknown): boolean {
  const definitions = Object.fromEntries(
    [...recursiveSchemas(schema)].map(([name, inner]) => [name, toPublicSchema(inner)]),
  );
  return new Ajv({ strict: false }).compile({ ...toPublicSchema(schema), definitions })(value);
}

describe('a schema of an open object', () => {
  const open = {
    type: 'object',
    properties: { timeout: { type: 'duration', default: '1s' } },
    values: { type: 'string' },
  } as const satisfies Schema;

  it('validates its declared fields and accepts other keys', () => {
    deepEqual(check(open, { timeout: '2s', en: 'yes', _it: 'si' }), {
      value: { timeout: 2000, en: 'yes', _it: 'si' },
      errors: [],
    });
    equal(isPublished(open, { timeout: '2s', en: 'yes' }), true);
  });

  it('inserts the defaults of its fields', () => {
    deepEqual(check(open, {}).value, { timeout: 1000 });
  });

  it('validates other keys with the schema of its values', () => {
    deepEqual(check(open, { en: 1 }).errors, ['/x/en SCHEMA_TYPE']);
    equal(isPublished(open, { en: 1 }), false);
  });
});

describe('a schema with exactly one of several fields', () => {
  const source = {
    type: 'object',
    properties: { url: { type: 'string' }, path: { type: 'string' }, cache: { type: 'boolean' } },
    exactlyOneOf: [['url', 'path']],
  } as const satisfies Schema;

  it('accepts any one of them', () => {
    for (const value of [{ url: 'a' }, { path: 'b', cache: true }]) {
      deepEqual(check(source, value).errors, []);
      equal(isPublished(source, value), true);
    }
  });

  it('rejects objects with none or several of them, and lists those present', () => {
    for (const value of [{ cache: true }, { url: 'a', path: 'b' }]) {
      deepEqual(check(source, value).errors, ['/x SCHEMA_EXACTLY_ONE']);
      equal(isPublished(source, value), false);
    }
    const [error] = compileSchema(source)({ url: 'a', path: 'b' }, '/x').errors;
    equal(error!.message, "exactly one of 'url', 'path' is required in 'x', found 'url' and 'path'");
    deepEqual(error!.related, ['/x/url', '/x/path']);
  });
});

describe('a schema with a limited number of keys', () => {
  const counted = {
    type: 'object',
    minProperties: 1,
    maxProperties: 2,
    properties: {
      a: { type: 'integer', default: 1 },
      b: { type: 'integer', default: 2 },
      c: { type: 'integer', default: 3 },
    },
  } as const satisfies Schema;

  it('counts written keys only, neither defaults nor comments', () => {
    deepEqual(check(counted, { b: 5 }), { value: { a: 1, b: 5, c: 3 }, errors: [] });
    for (const value of [{}, { '@a': 1 }, { a: 1, b: 2, c: 3 }])
      deepEqual(check(counted, value).errors, ['/x SCHEMA_RANGE']);
    equal(compileSchema(counted)({}, '/x').errors[0]!.message, "'x' must have at least 1 entry");
  });

  it('reports a value of the wrong type once', () => {
    deepEqual(check(counted, []).errors, ['/x SCHEMA_TYPE']);
  });
});

describe('a recursive schema', () => {
  const group: Schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string' },
      wait: { type: 'duration', default: '1s' },
      inner: { type: 'array', items: { type: 'recursive', name: 'test-group', schema: () => group } },
    },
  };

  it('is applied at every depth, including defaults and durations', () => {
    deepEqual(check(group, { name: 'a', inner: [{ name: 'b', inner: [{ name: 'c', wait: '5ms' }] }] }), {
      value: {
        name: 'a',
        wait: 1000,
        inner: [{ name: 'b', wait: 1000, inner: [{ name: 'c', wait: 5 }] }],
      },
      errors: [],
    });
  });

  it('reports an error at its place', () => {
    deepEqual(check(group, { name: 'a', inner: [{ name: 'b', inner: [{ nam: 'c' }] }] }).errors, [
      '/x/inner/0/inner/0/nam SCHEMA_UNKNOWN_KEY',
    ]);
  });

  it('is published as a definition that refers to itself', () => {
    equal(isPublished(group, { name: 'a', inner: [{ name: 'b', inner: [] }] }), true);
    equal(isPublished(group, { name: 'a', inner: [{ name: 'b', inner: [{}] }] }), false);
    match(JSON.stringify(toPublicSchema(group)), /"\$ref":"#\/definitions\/test-group"/);
  });

  it('has a type that accepts any data', () => {
    const value: Infer<{ readonly type: 'recursive'; readonly name: 'x'; readonly schema: () => Schema }> = [
      1,
      { a: null },
    ];
    equal(Array.isArray(value), true);
  });
});
