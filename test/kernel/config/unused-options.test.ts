import { deepEqual, equal } from 'node:assert/strict';
import type { Data, Schema } from '#contract';
import { normalize, nothingKnown, toPublicSchema, unusedOptions } from '../../../kernel/config/index.ts';

const inner = {
  type: 'object',
  properties: {
    size: { type: 'integer', description: 'How many.', unused: { because: 'one is enough', unless: [1] } },
    name: { type: 'string' },
  },
} as const satisfies Schema;
const schema: Schema = {
  type: 'object',
  properties: {
    one: inner,
    several: { type: 'array', items: inner },
    each: { type: 'object', values: inner },
    either: { anyOf: [{ type: 'string' }, inner] },
    within: { type: 'recursive', name: 'within', schema: () => schema },
    whole: { type: 'object', values: { type: 'any' }, unused: { because: 'it is not supported' } },
  },
};

const pointers = (settings: Data) => unusedOptions(schema, settings, '/at').map(({ pointer }) => pointer);

describe('a field that has no effect', () => {
  it('is reported by name, with the reason', () =>
    deepEqual(
      unusedOptions(schema, { one: { size: 2, name: 'a' } }, '/at').map(({ code, pointer, message }) => [
        code,
        pointer,
        message,
      ]),
      [['OPTION_UNUSED', '/at/one/size', 'size has no effect: one is enough']],
    ));

  it('is reported in lists, maps, choices and recursive objects', () => {
    deepEqual(pointers({ several: [{}, { size: 2 }] }), ['/at/several/1/size']);
    deepEqual(pointers({ each: { 'a/b': { size: 2 }, ['__proto__']: { size: 2 } } }), [
      '/at/each/a~1b/size',
      '/at/each/__proto__/size',
    ]);
    deepEqual(pointers({ either: { size: 2 } }), ['/at/either/size']);
    deepEqual(pointers({ within: { one: { size: 2 } } }), ['/at/within/one/size']);
  });

  it('is reported once for a whole object', () => deepEqual(pointers({ whole: { a: {}, b: 1 } }), ['/at/whole']));

  it('is not reported if its value is the actual behavior, or if it is absent', () => {
    deepEqual(pointers({ one: { size: 1 }, either: 'x' }), []);
    deepEqual(pointers({}), []);
  });

  it('is struck through by editors, which show the reason', () => {
    const { one } = toPublicSchema(schema)['properties'] as Record<string, Record<string, object>>;
    const { size } = one!['properties'] as Record<string, Record<string, unknown>>;
    equal(size!['deprecated'], true);
    equal(size!['description'], 'How many. Without effect: one is enough.');
  });

  it('can be a single value, which the description names', () => {
    const mode = { type: 'string', description: 'Mode.', unused: { because: 'it is too old', only: ['old'] } } as const;
    const one = { type: 'object', properties: { mode } } as const;
    deepEqual(
      unusedOptions(one, { mode: 'old' }, '/at').map(({ pointer, message }) => [pointer, message]),
      [['/at/mode', 'mode "old" has no effect: it is too old']],
    );
    deepEqual(unusedOptions(one, { mode: 'new' }, '/at'), []);
    deepEqual(toPublicSchema(mode), { description: 'Mode. "old" has no effect: it is too old.', type: 'string' });
  });

  it('is reported outside components, too', () => {
    const tls = { keys: [], prefer_server_cipher_suites: false };
    const { warnings } = normalize({ version: 3, tls, endpoints: [] }, { known: nothingKnown });
    deepEqual(
      warnings.filter(({ code }) => code === 'OPTION_UNUSED').map(({ pointer }) => pointer),
      ['/tls/prefer_server_cipher_suites'],
    );
  });
});
