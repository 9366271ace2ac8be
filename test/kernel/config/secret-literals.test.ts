import { deepEqual } from 'node:assert/strict';
import type { Data, Schema } from '#contract';
import { markedLiterals, secretLiterals } from '../../../kernel/config/index.ts';
import { known } from '../../support/known.ts';

const schema = {
  type: 'object',
  properties: {
    pin: { type: 'string', secret: true },
    password: { type: 'string', secret: true },
    shown: { type: 'string' },
    several: { type: 'array', items: { type: 'string', secret: true } },
    one: { anyOf: [{ type: 'boolean' }, { type: 'object', properties: { pin: { type: 'string', secret: true } } }] },
    each: { type: 'object', values: { type: 'object', properties: { pin: { type: 'string', secret: true } } } },
  },
} as const satisfies Schema;

const marked = (settings: Data) => markedLiterals(schema, settings, '/at').map(({ pointer, what }) => [pointer, what]);

describe('a clear-text secret that only a schema marks', () => {
  it('is recognized by its mark', () => deepEqual(marked({ pin: 'x', shown: 'x' }), [['/at/pin', "'pin'"]]));
  it('is recognized in lists, alternatives and maps', () =>
    deepEqual(marked({ several: ['x'], one: { pin: 'x' }, each: { a: { pin: 'x' } } }), [
      ['/at/several/0', "'several[0]'"],
      ['/at/one/pin', "'pin'"],
      ['/at/each/a/pin', "'pin'"],
    ]));
  it('is not reported for references', () => deepEqual(marked({ pin: '$PIN' }), []));
  it('is not reported for empty strings', () => deepEqual(marked({ pin: '' }), []));
  it('is not reported for addresses without a password', () => {
    deepEqual(marked({ pin: 'http://proxy.test:3128' }), []);
    deepEqual(marked({ pin: 'proxy.test:3128' }), []);
  });
  it('is not reported for settings that store a hash', () => {
    const key = { type: 'string', description: 'A key.' } as const;
    const form = (hash: string, inner: Schema): Schema => ({
      type: 'object',
      required: ['hash'],
      properties: { hash: { type: 'string', enum: [hash] }, key: inner },
    });
    const forms: Schema = { anyOf: [form('sha256', key), form('plain', { ...key, secret: true })] };
    deepEqual(markedLiterals(forms, { hash: 'sha256', key: 'k' }, ''), []);
    deepEqual(
      markedLiterals(forms, { hash: 'plain', key: 'k' }, '').map(({ pointer }) => pointer),
      ['/key'],
    );
  });
  it('is not reported again if its field name reveals it', () => deepEqual(marked({ password: 'x' }), []));
  it('is not reported again if its text reveals it', () => {
    deepEqual(marked({ pin: '-----BEGIN PRIVATE KEY-----\nMI\n-----END PRIVATE KEY-----' }), []);
    deepEqual(marked({ pin: `sk-${'abcdefghij0123456789'.repeat(2)}` }), []);
  });
});

describe('a clear-text secret', () => {
  const results = (component: object) =>
    secretLiterals({ extra_config: component }, known).map(({ pointer }) => pointer);

  it('is not reported for unrelated fields named key', () =>
    deepEqual(results({ 'auth/x': { keys: [{ key: 'k' }] } }), []));
  it('is recognized in lists, as in the fields of a token request', () =>
    deepEqual(
      results({ 'auth/x': { endpoint_params: { client_secret: ['s'], audience: ['a'], password: ['$PASSWORD'] } } }),
      ['/extra_config/auth~1x/endpoint_params/client_secret/0'],
    ));
  it('is recognized within source code, with its position', () => {
    const pre = `local r = request.load()\nr:headers("X-Api-Key", "abc12345")`;
    const start = pre.indexOf('abc');
    deepEqual(secretLiterals({ extra_config: { 'modifier/x': { pre } } }, known), [
      {
        pointer: '/extra_config/modifier~1x/pre',
        what: 'a token or password in this text',
        within: { start, end: start + 8 },
      },
    ]);
  });
  it('is not reported for values that are only possibly secrets', () => {
    const values = { type: 'object', values: { type: 'string', secret: 'possible' } } as const;
    deepEqual(markedLiterals({ type: 'object', properties: { values } }, { values: { tenant: 'x' } }, ''), []);
  });
  it('is recognized in a component with an old name', () =>
    deepEqual(results({ 'github.com/devopsfaith/krakend-jose/signer': { token: 'x' } }).length, 1));
  it('is not reported for strings with placeholders', () => {
    deepEqual(results({ 'auth/x': { password: 'a{{ env "X" }}' } }), []);
    deepEqual(results({ 'auth/x': { password: '<shop_password>', url: 'amqp://shop:<password>@broker' } }), []);
    deepEqual(results({ 'auth/x': { password: '<a>b' } }), ['/extra_config/auth~1x/password']);
    deepEqual(results({ 'auth/x': { dsn: 'amqp://me:$PASSWORD@host' } }), []);
  });
});
