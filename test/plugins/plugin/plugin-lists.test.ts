import { deepEqual, equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type ModuleElement, refusalsOf, startModules } from '../../support/modules.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;

/** A modifier and a middleware that add a header with the text `sign` of their settings. */
const modifier = (name: string): ModuleElement => ({
  name,
  requestModifier: (config: Loose) => (request: Loose) => {
    request.headers['X-Seen'] = [request.headers['X-Seen'], config[name]?.sign ?? name].filter(Boolean).join();
  },
});
const middleware = (name: string): ModuleElement => ({
  name,
  middleware: (config: Loose) => (_context: Loose, request: Loose, next: Loose) => {
    request.headers['X-Seen'] = config.sign;
    return next(request);
  },
});
const server: ModuleElement = {
  name: 'hello',
  httpServer: (config: Loose) => () => new Response(config.hello.text),
};
const modules = [modifier('a'), modifier('b'), middleware('c'), server];

describe('plugins listed as in version 4 of the format', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const configOf = (components: object, more: object = {}) => ({
    version: 4,
    host: [backend.url],
    endpoints: [{ endpoint: '/a', extra_config: components, backend: [{ url_pattern: '/b' }] }],
    ...more,
  });
  const list = (...plugins: unknown[]) => ({ 'plugin/req-resp-modifier': { plugins } });
  const seenOf = async (config: object): Promise<string | undefined> => {
    gateway = await startModules(config, modules);
    equal((await gateway.inject('/a')).statusCode, 200);
    return backend.requests.at(-1)!.headers['x-seen'] as string | undefined;
  };

  it('run in their order, with their settings', async () => {
    equal(await seenOf(configOf(list({ name: 'b', config: { sign: 'B' } }, { name: 'a' }))), 'B,a');
  });

  it('can be middleware and servers', async () => {
    const own = { 'plugin/middleware': { plugins: [{ name: 'c', config: { sign: 'C' } }] } };
    equal(await seenOf(configOf(own)), 'C');
    await gateway!.close();
    const plugins = [{ name: 'hello', config: { text: 'Hello' } }];
    gateway = await startModules(configOf({}, { extra_config: { 'plugin/http-server': { plugins } } }), modules);
    equal((await gateway.inject('/nowhere')).body, 'Hello');
  });

  it('can be in the pipes of components', async () => {
    const workflow = { endpoint: '/w', extra_config: list({ name: 'a' }), backend: [{ url_pattern: '/b' }] };
    const config = configOf({}, { endpoints: [] });
    const nested = { url_pattern: '/', extra_config: { workflow } };
    equal(await seenOf({ ...config, endpoints: [{ endpoint: '/a', backend: [nested] }] }), 'a');
  });

  it('have the settings of built-in plugins checked where they are written', async () => {
    const errors = await refusalsOf(startModules(configOf(list({ name: 'ip-filter', config: { CIDR: 7 } })), modules));
    const at = '/endpoints/0/extra_config/plugin~1req-resp-modifier/plugins/0';
    deepEqual(
      errors.map(({ code, pointer }) => [code, pointer]),
      [['SCHEMA_TYPE', `${at}/config/CIDR`]],
    );
    const unknown = await refusalsOf(startModules(configOf(list({ name: 'a' }, { name: 'x' })), modules));
    deepEqual(
      unknown.map(({ code, pointer }) => [code, pointer]),
      [['PLUGIN_UNKNOWN', `${at.slice(0, -1)}1/name`]],
    );
  });

  for (const [what, components, code, pointer] of [
    ['together with the field name of version 3', { plugins: [{ name: 'a' }], name: ['b'] }, 'PLUGIN_FIELD', ''],
    ['twice', { plugins: [{ name: 'a' }, { name: 'a' }] }, 'PLUGIN_DUPLICATE', '/1/name'],
    ['with the name of a field', { plugins: [{ name: 'name', config: ['a'] }] }, 'PLUGIN_FIELD', '/0/name'],
    ['with the name of the list', { plugins: [{ name: 'plugins', config: [] }] }, 'PLUGIN_FIELD', '/0/name'],
    ['without a name', { plugins: [{ config: {} }] }, 'SCHEMA_REQUIRED', '/0'],
    ['as text', { plugins: ['a'] }, 'SCHEMA_TYPE', '/0'],
    ['with an unknown key', { plugins: [{ name: 'a', settings: {} }] }, 'SCHEMA_UNKNOWN_KEY', '/0/settings'],
    ['as an object', { plugins: { a: {} } }, 'SCHEMA_TYPE', ''],
  ] as const) {
    it(`are rejected ${what}`, async () => {
      const config = configOf({ 'plugin/req-resp-modifier': components });
      const [error] = await refusalsOf(startModules(config, modules));
      const at = '/endpoints/0/extra_config/plugin~1req-resp-modifier/plugins';
      deepEqual([error?.code, error?.pointer], [code, at + pointer]);
    });
  }

  it('treat names of members of prototypes as plain data', async () => {
    const proto = JSON.parse('{"name": "__proto__", "config": {"polluted": true}}');
    const errors = await refusalsOf(startModules(configOf(list(proto)), modules));
    deepEqual(
      errors.map(({ code }) => code),
      ['PLUGIN_UNKNOWN'],
    );
    equal(({} as Loose).polluted, undefined);
  });

  it('cause a warning about on_load_error, except for "critical"', async () => {
    const entries = [
      { name: 'a', on_load_error: 'passthrough' },
      { name: 'b', on_load_error: 'critical' },
    ];
    const root = { plugin: { pattern: '.js', on_load_default_error: 'error' } };
    gateway = await startModules(configOf(list(...entries), root), modules);
    deepEqual(
      gateway.status.warnings.filter(({ code }) => code === 'OPTION_UNUSED').map(({ pointer }) => pointer),
      ['/endpoints/0/extra_config/plugin~1req-resp-modifier/plugins/0/on_load_error', '/plugin/on_load_default_error'],
    );
  });
});
