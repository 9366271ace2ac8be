import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { atEndpoint, type ConfigError, definePlugin } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';
import { backends, pointedAt, service } from './findings.ts';

const nothing = { type: 'object', properties: {} } as const;

/** A component that reads data, and one that responds by itself. */
const reader = definePlugin({
  name: 'test/reader',
  description: 'Reads.',
  places: [atEndpoint(nothing, () => ({ readsData: true, terminal: true, endpoint: (next) => next }))],
});

/** A component that runs closer to the backend than the other one. */
const inner = definePlugin({
  name: 'test/inner',
  description: 'Stands inside.',
  places: [atEndpoint(nothing, () => ({ proxy: (next) => next }))],
});

const plugged = {
  ...catalogue,
  compatibility: {
    ...catalogue.compatibility!,
    namespaces: [...catalogue.compatibility!.namespaces, 'modifier/earlier', 'modifier/later'],
    successors: { ...catalogue.compatibility!.successors, 'modifier/earlier': 'modifier/later' },
  },
  plugins: {
    ...catalogue.plugins,
    'test/reader': async () => ({ plugin: reader }),
    'test/inner': async () => ({ plugin: inner }),
  },
};

describe('checking components', () => {
  let registry: Registry;

  before(() => {
    registry = new Registry(plugged, toolServices());
  });
  after(() => registry.close());

  async function all(document: object): Promise<readonly ConfigError[]> {
    const { errors, warnings } = await examine(document, {}, registry, true);
    return [...errors, ...warnings];
  }

  async function result(document: object, code: string): Promise<ConfigError> {
    const list = await all(document);
    const match = list.find((each) => each.code === code);
    ok(match, list.map((each) => `${each.code} ${each.message}`).join('\n'));
    return match;
  }

  const atRoot = (extra: object) => service([], { extra_config: extra });
  const onEndpoint = (extra: object, fields: object = {}) => backends([{}], { extra_config: extra, ...fields });
  const schemaFault = (schema: object, code = 'JSON_SCHEMA_INVALID') =>
    result(onEndpoint({ 'validation/json-schema': schema }), code);

  const SCHEMA = '/endpoints/0/extra_config/validation~1json-schema';

  describe('with a JSON schema', () => {
    it('points to an invalid keyword', async () => {
      const error = await schemaFault({ properties: { age: { minimum: 'x' } } });
      equal(error.pointer, `${SCHEMA}/properties/age/minimum`);
      equal(error.message, '\'minimum\' must be a number, found "x"');
    });
    it('suggests the intended type', async () => {
      const error = await schemaFault({ properties: { age: { type: 'strin' } } });
      deepEqual([error.pointer, error.hint], [`${SCHEMA}/properties/age/type`, 'did you mean "string"?']);
    });
    it('reports errors in plain words', async () => {
      for (const [schema, message] of [
        [{ minLength: -1 }, "'minLength' must be 0 or more, found -1"],
        [{ required: 'name' }, '\'required\' must be a list, found "name"'],
        [{ required: ['a', 'a'] }, "'required' must be a list without repetitions"],
        [{ properties: { a: 5 } }, "'a' must be an object or true or false, found 5"],
        [{ multipleOf: 0 }, "'multipleOf' must be more than 0, found 0"],
      ] as const) {
        equal((await schemaFault(schema)).message, message);
      }
    });
    it('points into an invalid regular expression', async () => {
      const pattern = '^[a-z]+(x$';
      const error = await schemaFault({ properties: { a: { pattern } } }, 'PATTERN_INVALID');
      deepEqual(
        [error.pointer, error.message, error.within],
        [`${SCHEMA}/properties/a/pattern`, "the '(' is never closed", { start: 7, end: 8 }],
      );
    });
    it('points to an invalid escape', async () => {
      const pattern = '(?i)a\\yb';
      equal(pointedAt(pattern, await schemaFault({ pattern }, 'PATTERN_INVALID')), '\\y');
    });
    it('warns about an unknown keyword', async () => {
      const warning = await schemaFault({ properties: { a: { minLenght: 2 } } }, 'JSON_SCHEMA_KEYWORD');
      deepEqual([warning.pointer, warning.hint], [`${SCHEMA}/properties/a/minLenght`, 'did you mean "minLength"?']);
    });
    it('warns about a format that is not checked', async () => {
      const schema = { properties: { a: { format: 'emial' }, b: { format: 'int64' }, c: { format: 'email' } } };
      const warnings = await all(onEndpoint({ 'validation/json-schema': schema }, { method: 'POST' }));
      deepEqual(
        warnings.map(({ code, pointer, message, hint = '' }) => [
          code,
          pointer.slice(SCHEMA.length),
          message,
          hint.slice(0, 22),
        ]),
        [
          [
            'JSON_SCHEMA_FORMAT',
            '/properties/a/format',
            '"emial" is not a format that is checked',
            'did you mean "email"?',
          ],
          [
            'JSON_SCHEMA_FORMAT',
            '/properties/b/format',
            '"int64" is not a format that is checked',
            'checked are date, time',
          ],
        ],
      );
    });
    it('does not warn about a property named format', async () => {
      const schema = { properties: { format: { type: 'string' } }, const: { format: 'x' } };
      deepEqual(await all(onEndpoint({ 'validation/json-schema': schema }, { method: 'POST' })), []);
    });
    it('accepts annotations, extension keywords and property names that resemble keywords', async () => {
      const schema = { 'x-typ': 1, example: {}, nullable: true, '@tpye': 1, properties: { tpye: {}, requird: {} } };
      deepEqual(await all(onEndpoint({ 'validation/json-schema': schema }, { method: 'POST' })), []);
    });
  });

  describe('with a regular expression', () => {
    it('points into a pattern of hosts', async () => {
      const text = 'api(.test';
      const error = await result(
        atRoot({ 'security/http': { allowed_hosts: ['a', text], allowed_hosts_are_regex: true } }),
        'PATTERN_INVALID',
      );
      deepEqual([error.pointer, pointedAt(text, error)], ['/extra_config/security~1http/allowed_hosts/1', '(']);
    });
    it('points into a pattern of logs', async () => {
      const text = '%{time} %{mesage}\n';
      const logging = { level: 'INFO', stdout: true, format: 'custom', custom_format: text };
      const error = await result(atRoot({ 'telemetry/logging': logging }), 'LOGGING_PATTERN');
      equal(pointedAt(text, error), '%{mesage}');
    });
  });

  describe('at the wrong level', () => {
    it('reports the levels at which it works', async () => {
      const error = await result(onEndpoint({ 'telemetry/logging': {} }), 'NAMESPACE_LEVEL');
      equal(
        error.message,
        '"telemetry/logging" has no effect at endpoint level: it belongs in the extra_config of the service or a backend',
      );
    });
    it('reports the router at the wrong level, too', async () => {
      equal(
        (await result(onEndpoint({ router: {} }), 'NAMESPACE_LEVEL')).hint,
        'move it to the extra_config of the service',
      );
    });
  });

  describe('with an unknown name', () => {
    it('offers a fix that renames it', async () => {
      const error = await result(onEndpoint({ 'qos/ratelimit/ruter': {} }), 'NAMESPACE_UNKNOWN');
      deepEqual([error.hint, error.fix], ['did you mean "qos/ratelimit/router"?', { key: 'qos/ratelimit/router' }]);
    });
    it('offers no fix if the intended component exists too', async () => {
      const extra = { 'qos/ratelimit/ruter': {}, 'qos/ratelimit/router': { max_rate: 1 } };
      equal((await result(onEndpoint(extra), 'NAMESPACE_UNKNOWN')).fix, undefined);
    });
    it('suggests the component if only the first part of its name, such as qos/, is missing', async () => {
      const error = await result(backends([{ extra_config: { 'circuit-breaker': {} } }]), 'NAMESPACE_UNKNOWN');
      equal(error.hint, 'did you mean "qos/circuit-breaker"?');
    });
    it('reports the replacement of a component from an older release', async () => {
      const error = await result(atRoot({ 'telemetry/instana': {} }), 'CONFIG_NOT_SUPPORTED');
      equal(error.hint, 'the component was replaced by "telemetry/opentelemetry"');
    });
    it('suggests the closest alternative if that replacement does not exist either', async () => {
      const error = await result(onEndpoint({ 'modifier/earlier': {} }), 'CONFIG_NOT_SUPPORTED');
      match(error.hint ?? '', /^supported in modifier: modifier\//);
    });
  });

  describe('with an unknown encoding', () => {
    it('offers a fix', async () => {
      deepEqual((await result(backends([{ encoding: 'JSON' }]), 'ENCODING_UNKNOWN')).fix, { value: 'json' });
    });
    it('reports it for a backend even if its bytes pass undecoded, but accepts encodings that only write', async () => {
      const raw = (encoding: string) =>
        service([{ output_encoding: 'no-op', backend: [{ host: ['http://a.test'], url_pattern: '/', encoding }] }]);
      const { pointer, fix } = await result(raw('JSON'), 'ENCODING_UNKNOWN');
      deepEqual([pointer, fix], ['/endpoints/0/backend/0/encoding', { value: 'json' }]);
      deepEqual(await all(raw('negotiate')), []);
    });
    it('reports it once at the root', async () => {
      const errors = await all(service([{}, {}], { output_encoding: 'jsn' }));
      deepEqual(
        errors.map(({ code, pointer }) => `${pointer} ${code}`),
        ['/output_encoding ENCODING_UNKNOWN'],
      );
    });
  });

  describe('of an endpoint that conflict with its other settings', () => {
    it('reports a component that reads data which the endpoint does not have', async () => {
      const error = await result(
        onEndpoint({ proxy: { static: { data: { a: 1 }, strategy: 'always' } } }, { output_encoding: 'no-op' }),
        'PROXY_STATIC_RAW',
      );
      deepEqual(
        [error.pointer, error.related],
        ['/endpoints/0/extra_config/proxy/static', ['/endpoints/0/output_encoding']],
      );
    });
    it('reports every shadow backend if the endpoint has only shadow backends', async () => {
      const shadow = { extra_config: { proxy: { shadow: true } } };
      deepEqual((await result(backends([shadow, shadow]), 'ENDPOINT_BACKENDS')).related, [
        '/endpoints/0/backend/0/extra_config/proxy/shadow',
        '/endpoints/0/backend/1/extra_config/proxy/shadow',
      ]);
    });
    it('reports a component that would read undecoded bytes', async () => {
      const error = await result(onEndpoint({ 'test/reader': {} }, { output_encoding: 'no-op' }), 'ENDPOINT_NO_DATA');
      deepEqual(
        [error.pointer, error.related],
        ['/endpoints/0/output_encoding', ['/endpoints/0/extra_config/test~1reader']],
      );
    });
    it('reports components that never run because another one responds first', async () => {
      const warning = await result(onEndpoint({ 'test/reader': {}, 'test/inner': {} }), 'PLUGIN_HIDDEN');
      deepEqual(
        [warning.pointer, warning.related],
        ['/endpoints/0/extra_config/test~1reader', ['/endpoints/0/extra_config/test~1inner']],
      );
    });
    it('suggests the variable for the key of a rate limit', async () => {
      const limit = { client_max_rate: 1, strategy: 'param', key: 'idd' };
      const error = await result(onEndpoint({ 'qos/ratelimit/router': limit }), 'RATELIMIT_KEY');
      deepEqual([error.hint, error.fix], ['did you mean "id"?', { value: 'id' }]);
    });
    it('suggests the strategy of a rate limit', async () => {
      const limit = { client_max_rate: 1, strategy: 'heder', key: 'X-A' };
      deepEqual((await result(onEndpoint({ 'qos/ratelimit/router': limit }), 'RATELIMIT_STRATEGY')).fix, {
        value: 'header',
      });
    });
  });
});
