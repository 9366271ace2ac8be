import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import type { Data } from '#contract';
import { type NormalizeOptions, notSupportedYet, parseDocument } from '../../../kernel/config/index.ts';
import { known, normalize } from '../../support/known.ts';

const backend = { url_pattern: '/', host: ['http://h'] };
const accept = (document: unknown, options?: NormalizeOptions) => {
  const result = normalize(document, options);
  deepEqual(
    result.errors.map(({ message }) => message),
    [],
  );
  return result;
};
const withEndpoint = (fields: object, root: object = {}) =>
  accept({ version: 3, ...root, endpoints: [{ endpoint: '/a', backend: [backend], ...fields }] });
const withBackend = (fields: object, root: object = {}) =>
  withEndpoint({ backend: [{ ...backend, ...fields }] }, root).config.endpoints[0]!.backend[0]!;
const warnings = (result: { warnings: readonly { code: string; pointer: string }[] }) =>
  result.warnings.map(({ code, pointer }) => `${code} ${pointer}`);

describe('the root of a configuration', () => {
  it('needs only a version', () => equal(accept({ version: 3, endpoints: [] }).config.port, 8080));
  it('keeps port 0, which means any free port', () => equal(accept({ version: 3, port: 0 }).config.port, 0));
  it('has its port overridden by the flag', () =>
    equal(accept({ version: 3, port: 81 }, { port: 82 }).config.port, 82));
  it('has its port overridden by the flag even if that is 0', () =>
    equal(accept({ version: 3, port: 81 }, { port: 0 }).config.port, 0));
  it('has the debug endpoint enabled by the flag', () =>
    ok(accept({ version: 3 }, { debug: true }).config.debug_endpoint));
  it('accepts comment keys', () => {
    const { config } = accept({ version: 3, '@c': 'x', _n: 1, '#': 0, $schema: 's', endpoints: [] });
    deepEqual(
      [Object.hasOwn(config, '@c'), Object.hasOwn(config, '_n'), Object.hasOwn(config, '#')],
      [false, false, false],
    );
  });
  it('ignores comment keys among namespaces', () => {
    deepEqual(accept({ version: 3, extra_config: { _off: {}, 'a/b': { _c: 1 } } }).config.extra_config, {
      'a/b': { _c: 1 },
    });
  });
  it('accepts an IPv6 address to listen on', () =>
    equal(accept({ version: 3, listen_ip: '::1' }).config.listen_ip, '::1'));
  it('accepts unsupported fields with their default values', () => {
    accept({ version: 3, use_h2c: false, tls: null, async_agent: [], dns_cache_ttl: '30s' });
  });
  it('leaves the source document unchanged', () => {
    const document = { version: 2, endpoints: [{ endpoint: '/a', headers_to_pass: ['A'], backend: [backend] }] };
    const before = structuredClone(document);
    accept(document);
    deepEqual(document, before);
  });
  it('is frozen at every level', () => {
    const { config } = withEndpoint({});
    throws(() => (config.endpoints[0]!.backend[0]!.host as string[]).push('x'), TypeError);
  });
  it('must be an object', () => equal(normalize([]).errors[0]!.code, 'SCHEMA_TYPE'));
  it('is rejected with the position of excessive or circular nesting', () => {
    const held: { [key: string]: unknown } = {};
    held['a'] = held;
    let deep: object = {};
    for (let level = 0; level < 500; level++) deep = { a: deep };
    for (const value of [deep, held]) {
      const { errors } = normalize({ version: 3, extra_config: value });
      const [error] = errors;
      deepEqual(
        [errors.length, error!.code, error!.message, error!.pointer],
        [1, 'CONFIG_SYNTAX', 'nested deeper than 200 levels', `/extra_config${'/a'.repeat(200)}`],
      );
    }
  });
  it('reports all errors together', () => {
    const bad = {
      version: 1,
      timeout: '2',
      endpoints: [{ endpoint: '/:a', x: 1, backend: [{ url_pattern: '/{b}' }] }, 5],
    };
    deepEqual(
      normalize(bad).errors.map(({ pointer }) => pointer),
      [
        '/version',
        '/timeout',
        '/endpoints/0/x',
        '/endpoints/1',
        '/endpoints/0/endpoint',
        '/endpoints/0/backend/0/url_pattern',
      ],
    );
  });
});

describe('durations of a configuration', () => {
  it('are converted to milliseconds', () =>
    equal(withEndpoint({ timeout: '90us' }).config.endpoints[0]!.timeout, 0.09));
  it('are inherited from the service', () => {
    equal(withEndpoint({}, { timeout: '3s' }).config.endpoints[0]!.timeout, 3000);
  });
  it('are inherited from the service if they are zero', () => {
    equal(withEndpoint({ timeout: '0s' }, { timeout: '3s' }).config.endpoints[0]!.timeout, 3000);
    equal(withEndpoint({ cache_ttl: '0s' }, { cache_ttl: '1h' }).config.endpoints[0]!.cache_ttl, 3_600_000);
  });
  it('default to two seconds', () => {
    equal(withEndpoint({}, { timeout: '0s' }).config.endpoints[0]!.timeout, 2000);
    equal(withEndpoint({}).config.endpoints[0]!.timeout, 2000);
  });
  it('of a backend are not inherited, and zero counts as unset', () => {
    equal(withBackend({ timeout: '1s' }).timeout, 1000);
    equal(withBackend({ timeout: '0s' }).timeout, undefined);
  });
});

describe('an endpoint in a configuration', () => {
  it('is rejected for a misspelled key, but not for a comment key', () => {
    const { errors } = normalize({
      version: 3,
      endpoints: [{ _note: 1, ednpoint: '/b', endpoint: '/a', backend: [backend] }],
    });
    deepEqual(
      errors.map(({ pointer, hint }) => [pointer, hint]),
      [['/endpoints/0/ednpoint', 'endpoint']],
    );
  });
  it('inherits the encoding of the service', () => {
    equal(withEndpoint({}, { output_encoding: 'xml' }).config.endpoints[0]!.output_encoding, 'xml');
  });
  it('passes its method on to its backends', () =>
    equal(withEndpoint({ method: 'PUT' }).config.endpoints[0]!.backend[0]!.method, 'PUT'));
  it('makes its backends pass bytes through if its output is no-op', () => {
    equal(withEndpoint({ output_encoding: 'no-op' }).config.endpoints[0]!.backend[0]!.encoding, 'no-op');
  });
  it('can have static segments where another endpoint has variables, and other variable names for other methods', () => {
    const routes = [
      'GET /user/{a}',
      'GET /user/new',
      'POST /user/{b}/x',
      'GET /user/{a}/x',
      'GET /user/*',
      'GET /__catchall',
    ];
    accept({
      version: 3,
      endpoints: routes.map((route) => ({
        method: route.split(' ')[0],
        endpoint: route.split(' ')[1],
        backend: [backend],
      })),
    });
  });
  for (const path of ['/v1/file.{ext}', '/{a}.json', '/x.{a}/b', '/{a}-{b}', '/v{a}.{b}/x-{c}-y/*']) {
    it(`can have the path ${path} with disable_rest`, () =>
      void withEndpoint({ endpoint: path }, { disable_rest: true }));
  }
  for (const path of ['/{a}{b}', '/x{a}{b}.json', '/{a}-{a}', '/{a}-{b', '/{a}.{b c}']) {
    it(`cannot have the path ${path} with disable_rest`, () => {
      const { errors } = normalize({
        version: 3,
        disable_rest: true,
        endpoints: [{ endpoint: path, backend: [backend] }],
      });
      deepEqual(
        errors.map(({ code }) => code),
        ['ROUTE_PATH'],
      );
    });
  }
  it('cannot use the path to which the health endpoint was moved', () => {
    const document = {
      version: 3,
      extra_config: { router: { health_path: '/up' } },
      endpoints: [{ endpoint: '/up', backend: [backend] }],
    };
    deepEqual(
      normalize(document).errors.map(({ code }) => code),
      ['ROUTE_RESERVED'],
    );
  });
  it('named /__catchall forwards everything, with warnings about settings that say otherwise', () => {
    const result = withEndpoint({ endpoint: '/__catchall', input_headers: ['A'], output_encoding: 'json' });
    const { output_encoding, input_headers, input_query_strings } = result.config.endpoints[0]!;
    deepEqual([output_encoding, input_headers, input_query_strings], ['no-op', ['*'], ['*']]);
    deepEqual(warnings(result), [
      'ROUTE_CATCHALL_FORCED /endpoints/0/output_encoding',
      'ROUTE_CATCHALL_FORCED /endpoints/0/input_headers',
    ]);
  });
  it('causes a warning if a list contains * and other names', () => {
    deepEqual(warnings(withEndpoint({ input_headers: ['*', 'A'] })), [
      'FORWARD_ALL_AND_SOME /endpoints/0/input_headers',
    ]);
  });
  it('causes a warning for concurrent calls with a writing method', () => {
    deepEqual(warnings(withEndpoint({ method: 'POST', concurrent_calls: 2 })), [
      'CONCURRENT_UNSAFE /endpoints/0/concurrent_calls',
    ]);
  });
  it('causes a warning for concurrent calls with the method ANY', () => {
    deepEqual(
      withEndpoint({ method: 'ANY', concurrent_calls: 2 }).warnings.map(({ message }) => message),
      ["ANY /a sends 2 equal calls with the client's method to its backend"],
    );
  });
  it('causes a warning if the service times out before its response', () => {
    deepEqual(warnings(withEndpoint({ timeout: '5s' }, { write_timeout: '3s' })), ['TIMEOUT_CUT /endpoints/0']);
  });
});

describe('a backend in a configuration', () => {
  const hosts: readonly (readonly [written: string, used: string])[] = [
    ['api.local:9000/', 'http://api.local:9000'],
    ['https://api', 'https://api'],
    ['http://h/base/', 'http://h/base'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['http://[2001:db8::1]', 'http://[2001:db8::1]'],
    ['HTTP://Api', 'http://Api'],
    ['my_service', 'http://my_service'],
  ];
  for (const [written, used] of hosts) {
    it(`is called at ${used} if its host is ${written}`, () =>
      deepEqual(withBackend({ host: [written] }).host, [used]));
  }
  it('has its host unchanged with disable_host_sanitize', () => {
    deepEqual(withBackend({ host: ['amqp://q/'], disable_host_sanitize: true }).host, ['amqp://q/']);
  });
  it('inherits the hosts of the service', () => {
    deepEqual(withBackend({ host: undefined }, { host: ['a/', 'b'] }).host, ['http://a', 'http://b']);
  });
  it('keeps a repeated host, for its larger share', () =>
    deepEqual(withBackend({ host: ['a', 'a', 'b'] }).host.length, 3));
  it('gets a leading slash in its pattern', () => equal(withBackend({ url_pattern: 'x' }).url_pattern, '/x'));
  it('has keys renamed even if they look like comments', () =>
    deepEqual(withBackend({ mapping: { _id: 'id' } }).mapping, { _id: 'id' }));
  it('keeps the digits of numbers in its components', () => {
    const text =
      '{"version":3,"endpoints":[{"endpoint":"/a","backend":[{"url_pattern":"/","extra_config":{"x/y":{"id":12345678901234567890}}}]}]}';
    const { config } = accept(parseDocument(text, 'g.json').data);
    equal(JSON.stringify(config.endpoints[0]!.backend[0]!.extra_config), '{"x/y":{"id":12345678901234567890}}');
  });
  it('can drop all headers', () => deepEqual(withBackend({ input_headers: [''] }).input_headers, ['']));
  it('can use every form of placeholder that has a value', () => {
    const pattern =
      '/{id}/{JWT.https://x/claim}/{input_headers.X-Tenant}/{input_query_strings.q}?a={resp0_a.b.0}&f={"a":1}';
    withEndpoint({
      endpoint: '/a/{id}',
      extra_config: { 'auth/validator': {}, proxy: { sequential: true } },
      backend: [backend, { ...backend, url_pattern: pattern }],
    });
  });
});

describe('the router in a configuration', () => {
  it('has defaults', () => equal(accept({ version: 3 }).config.router.health_path, '/__health'));
  it('is separate from the components', () => {
    const { config } = accept({ version: 3, extra_config: { router: { return_error_msg: true }, 'a/b': {} } });
    deepEqual([config.router.return_error_msg, config.extra_config], [true, { 'a/b': {} }]);
  });
  it('keeps error bodies unchanged, including comment keys', () => {
    const body = { _id: 1, error: 'none' } as Data;
    deepEqual(
      accept({ version: 3, extra_config: { router: { error_body: { 404: body } } } }).config.router.error_body,
      { 404: body },
    );
  });
  it('causes a warning if forwarded_by_client_ip is set without trusted_proxies', () => {
    const result = accept({ version: 3, extra_config: { router: { forwarded_by_client_ip: true } } });
    deepEqual(warnings(result), ['ROUTER_NO_TRUSTED_PROXIES /extra_config/router/forwarded_by_client_ip']);
  });
  it('causes a warning if trusted_proxies has no effect', () => {
    const found = (router: object) =>
      warnings(accept({ version: 3, extra_config: { router: { trusted_proxies: ['::1'], ...router } } }));
    deepEqual(found({}), ['ROUTER_PROXIES_UNUSED /extra_config/router/trusted_proxies']);
    deepEqual(found({ request_id: 'X-Request-Id' }), []);
  });
  it('accepts addresses and ranges of both families', () => {
    accept({
      version: 3,
      extra_config: { router: { forwarded_by_client_ip: true, trusted_proxies: ['10.0.0.0/8', '::1', 'fd00::/8'] } },
    });
  });
});

describe('an unknown namespace', () => {
  it('is reported with its name if it is a namespace of KrakenD', () => {
    equal(
      notSupportedYet('telemetry/instana', '/x', [], known.compatibility)?.message,
      "'telemetry/instana' is not supported yet",
    );
  });
  it('is not reported as unsupported if KrakenD does not have it either', () =>
    equal(notSupportedYet('telemetry/nothing', '/x', [], known.compatibility), undefined));
});
