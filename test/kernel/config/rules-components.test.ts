import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { atEndpoint, type ConfigError, definePlugin } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';
import { backends, pointedAt, service } from './findings.ts';

const nothing = { type: 'object', properties: {} } as const;

/** Reads data, and answers by itself. */
const reader = definePlugin({
  name: 'test/reader',
  description: 'Reads.',
  places: [atEndpoint(nothing, () => ({ readsData: true, terminal: true, endpoint: (next) => next }))],
});

/** Stands further in. */
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

describe('definitions that components compile', () => {
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

  describe('a JSON schema', () => {
    it('is pointed at where a keyword is wrong', async () => {
      const error = await schemaFault({ properties: { age: { minimum: 'x' } } });
      equal(error.pointer, `${SCHEMA}/properties/age/minimum`);
      equal(error.message, '\'minimum\' must be a number, found "x"');
    });
    it('is reported with the type that is meant', async () => {
      const error = await schemaFault({ properties: { age: { type: 'strin' } } });
      deepEqual([error.pointer, error.hint], [`${SCHEMA}/properties/age/type`, 'did you mean "string"?']);
    });
    it('is rejected in plain words', async () => {
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
    it('is pointed at inside its pattern', async () => {
      const pattern = '^[a-z]+(x$';
      const error = await schemaFault({ properties: { a: { pattern } } }, 'PATTERN_INVALID');
      deepEqual(
        [error.pointer, error.message, error.within],
        [`${SCHEMA}/properties/a/pattern`, "the '(' is never closed", { start: 7, end: 8 }],
      );
    });
    it('is reported with the place of an invalid escape', async () => {
      const pattern = '(?i)a\\yb';
      equal(pointedAt(pattern, await schemaFault({ pattern }, 'PATTERN_INVALID')), '\\y');
    });
    it('is warned about an unknown keyword', async () => {
      const warning = await schemaFault({ properties: { a: { minLenght: 2 } } }, 'JSON_SCHEMA_KEYWORD');
      deepEqual([warning.pointer, warning.hint], [`${SCHEMA}/properties/a/minLenght`, 'did you mean "minLength"?']);
    });
    it('is warned of a format that is not checked', async () => {
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
    it('is not warned of a property named format', async () => {
      const schema = { properties: { format: { type: 'string' } }, const: { format: 'x' } };
      deepEqual(await all(onEndpoint({ 'validation/json-schema': schema }, { method: 'POST' })), []);
    });
    it('may have words of other tools and names of its own', async () => {
      const schema = { 'x-typ': 1, example: {}, nullable: true, '@tpye': 1, properties: { tpye: {}, requird: {} } };
      deepEqual(await all(onEndpoint({ 'validation/json-schema': schema }, { method: 'POST' })), []);
    });
  });

  describe('a pattern of another component', () => {
    it('of a host is pointed at', async () => {
      const text = 'api(.test';
      const error = await result(
        atRoot({ 'security/http': { allowed_hosts: ['a', text], allowed_hosts_are_regex: true } }),
        'PATTERN_INVALID',
      );
      deepEqual([error.pointer, pointedAt(text, error)], ['/extra_config/security~1http/allowed_hosts/1', '(']);
    });
    it('of a log is pointed at', async () => {
      const text = '%{time} %{mesage}\n';
      const logging = { level: 'INFO', stdout: true, format: 'custom', custom_format: text };
      const error = await result(atRoot({ 'telemetry/logging': logging }), 'LOGGING_PATTERN');
      equal(pointedAt(text, error), '%{mesage}');
    });
  });

  describe('a component out of place', () => {
    it('is reported with the places where it works', async () => {
      const error = await result(onEndpoint({ 'telemetry/logging': {} }), 'NAMESPACE_LEVEL');
      equal(
        error.message,
        '"telemetry/logging" does nothing at endpoint level: it works in the extra_config of the service or a backend',
      );
    });
    it('may be the router', async () => {
      equal(
        (await result(onEndpoint({ router: {} }), 'NAMESPACE_LEVEL')).hint,
        'move it to the extra_config of the service',
      );
    });
  });

  describe('an unknown component', () => {
    it('is renamed by its fix', async () => {
      const error = await result(onEndpoint({ 'qos/ratelimit/ruter': {} }), 'NAMESPACE_UNKNOWN');
      deepEqual([error.hint, error.fix], ['did you mean "qos/ratelimit/router"?', { key: 'qos/ratelimit/router' }]);
    });
    it('has no other fix than the one for the intended name', async () => {
      const extra = { 'qos/ratelimit/ruter': {}, 'qos/ratelimit/router': { max_rate: 1 } };
      equal((await result(onEndpoint(extra), 'NAMESPACE_UNKNOWN')).fix, undefined);
    });
    it('may lack its family', async () => {
      const error = await result(backends([{ extra_config: { 'circuit-breaker': {} } }]), 'NAMESPACE_UNKNOWN');
      equal(error.hint, 'did you mean "qos/circuit-breaker"?');
    });
    it('of an older release is reported with its replacement', async () => {
      const error = await result(atRoot({ 'telemetry/instana': {} }), 'CONFIG_NOT_SUPPORTED');
      equal(error.hint, 'it is an old component: "telemetry/opentelemetry" took its place');
    });
    it('of an older release is reported with the closest alternative if its replacement is missing too', async () => {
      const error = await result(onEndpoint({ 'modifier/earlier': {} }), 'CONFIG_NOT_SUPPORTED');
      match(error.hint ?? '', /^supported in modifier: modifier\//);
    });
  });

  describe('an unknown encoding', () => {
    it('is replaced by its fix', async () => {
      deepEqual((await result(backends([{ encoding: 'JSON' }]), 'ENCODING_UNKNOWN')).fix, { value: 'json' });
    });
    it('of a backend is reported even if its bytes pass undecoded; one that only writes is allowed there', async () => {
      const raw = (encoding: string) =>
        service([{ output_encoding: 'no-op', backend: [{ host: ['http://a.test'], url_pattern: '/', encoding }] }]);
      const { pointer, fix } = await result(raw('JSON'), 'ENCODING_UNKNOWN');
      deepEqual([pointer, fix], ['/endpoints/0/backend/0/encoding', { value: 'json' }]);
      deepEqual(await all(raw('negotiate')), []);
    });
    it('of the root is reported once, at the root', async () => {
      const errors = await all(service([{}, {}], { output_encoding: 'jsn' }));
      deepEqual(
        errors.map(({ code, pointer }) => `${pointer} ${code}`),
        ['/output_encoding ENCODING_UNKNOWN'],
      );
    });
  });

  describe('an endpoint whose parts do not go together', () => {
    it('is reported with the component that has nothing to read', async () => {
      const error = await result(
        onEndpoint({ proxy: { static: { data: { a: 1 }, strategy: 'always' } } }, { output_encoding: 'no-op' }),
        'PROXY_STATIC_RAW',
      );
      deepEqual(
        [error.pointer, error.related],
        ['/endpoints/0/extra_config/proxy/static', ['/endpoints/0/output_encoding']],
      );
    });
    it('is reported with every shadow backend if it has no others', async () => {
      const shadow = { extra_config: { proxy: { shadow: true } } };
      deepEqual((await result(backends([shadow, shadow]), 'ENDPOINT_BACKENDS')).related, [
        '/endpoints/0/backend/0/extra_config/proxy/shadow',
        '/endpoints/0/backend/1/extra_config/proxy/shadow',
      ]);
    });
    it('is reported with the component that reads undecoded bytes', async () => {
      const error = await result(onEndpoint({ 'test/reader': {} }, { output_encoding: 'no-op' }), 'ENDPOINT_NO_DATA');
      deepEqual(
        [error.pointer, error.related],
        ['/endpoints/0/output_encoding', ['/endpoints/0/extra_config/test~1reader']],
      );
    });
    it('is reported with what a component that responds by itself hides', async () => {
      const warning = await result(onEndpoint({ 'test/reader': {}, 'test/inner': {} }), 'PLUGIN_HIDDEN');
      deepEqual(
        [warning.pointer, warning.related],
        ['/endpoints/0/extra_config/test~1reader', ['/endpoints/0/extra_config/test~1inner']],
      );
    });
    it('is reported with the variable that a limiter means', async () => {
      const limit = { client_max_rate: 1, strategy: 'param', key: 'idd' };
      const error = await result(onEndpoint({ 'qos/ratelimit/router': limit }), 'RATELIMIT_KEY');
      deepEqual([error.hint, error.fix], ['did you mean "id"?', { value: 'id' }]);
    });
    it('is reported with the strategy that a limiter means', async () => {
      const limit = { client_max_rate: 1, strategy: 'heder', key: 'X-A' };
      deepEqual((await result(onEndpoint({ 'qos/ratelimit/router': limit }), 'RATELIMIT_STRATEGY')).fix, {
        value: 'header',
      });
    });
  });
});
