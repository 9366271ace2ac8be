import { deepEqual, equal } from 'node:assert/strict';
import { parseDocument } from '../../../kernel/config/index.ts';
import { listRoutes, positionsIn, type RouteView, type Served } from '../../../kernel/inspect/index.ts';
import { serve } from './serve.ts';

const hosts = ['http://127.0.0.1:9'];
const config = {
  version: 3,
  extra_config: { 'security/http': { frame_deny: true } },
  endpoints: [
    {
      endpoint: '/shop/{id}',
      timeout: '1500ms',
      output_encoding: 'xml',
      extra_config: {
        proxy: { sequential: true, static: { data: { a: 1 }, strategy: 'always' } },
        'qos/ratelimit/router': { max_rate: 1 },
        'validation/json-schema': {},
      },
      backend: [
        {
          host: hosts,
          url_pattern: '/a/{id}',
          method: 'POST',
          encoding: 'yaml',
          extra_config: {
            'backend/http': { return_error_details: 'a' },
            'qos/circuit-breaker': { interval: 1, timeout: 1, max_errors: 1 },
          },
        },
        { host: hosts, url_pattern: 'b' },
      ],
    },
    { endpoint: '/raw', method: 'PUT', output_encoding: 'no-op', backend: [{ host: hosts, url_pattern: '/' }] },
  ],
};

describe('listRoutes', () => {
  let served: Served;
  let routes: readonly RouteView[];

  before(async () => {
    served = await serve(config);
    routes = listRoutes(served);
  });

  it('returns the properties of an endpoint', () => {
    const { id, method, pattern, outputEncoding, timeoutMs, pointer } = routes[0]!;
    deepEqual(
      { id, method, pattern, outputEncoding, timeoutMs, pointer },
      {
        id: 'GET /shop/{id}',
        method: 'GET',
        pattern: '/shop/{id}',
        outputEncoding: 'xml',
        timeoutMs: 1500,
        pointer: '/endpoints/0',
      },
    );
  });

  it('returns the requests to its backends', () => {
    const asked = routes[0]!.backends.map(({ method, hosts, urlPattern, encoding, pointer }) => {
      return { method, hosts, urlPattern, encoding, pointer };
    });
    deepEqual(asked, [
      { method: 'POST', hosts, urlPattern: '/a/{id}', encoding: 'yaml', pointer: '/endpoints/0/backend/0' },
      { method: 'GET', hosts, urlPattern: '/b', encoding: 'json', pointer: '/endpoints/0/backend/1' },
    ]);
  });

  it('lists components in the order in which they run', () => {
    deepEqual(routes[0]!.namespaces, ['qos/ratelimit/router', 'validation/json-schema', 'proxy']);
    deepEqual(routes[0]!.backends[0]!.namespaces, ['qos/circuit-breaker', 'backend/http', 'backend/http/client']);
  });

  it('lists the HTTP client for a backend without components', () => {
    deepEqual(routes[0]!.backends[1]!.namespaces, ['backend/http/client']);
  });

  it('omits components that do nothing in the pipeline', async () => {
    const idle = { ...config.endpoints[1], extra_config: { proxy: { sequential: true } } };
    deepEqual(listRoutes(await serve({ endpoints: [idle] }))[0]!.namespaces, []);
  });

  it('shows the encoding of a no-op endpoint’s backend as no-op', () =>
    equal(routes[1]!.backends[0]!.encoding, 'no-op'));

  for (const [filter, results] of [
    [{ method: 'PUT' }, ['PUT /raw']],
    [{ prefix: '/shop' }, ['GET /shop/{id}']],
    [{ namespace: 'proxy' }, ['GET /shop/{id}']],
    [{ namespace: 'qos/circuit-breaker' }, ['GET /shop/{id}']],
    [{ namespace: 'backend/http/client', method: 'PUT' }, ['PUT /raw']],
    [{ namespace: 'auth/validator' }, []],
  ] as const) {
    it(`filters by ${JSON.stringify(filter)}`, () => {
      deepEqual(
        listRoutes(served, filter).map(({ id }) => id),
        results,
      );
    });
  }

  it('returns the positions of endpoints and backends in the file', () => {
    const document = parseDocument(JSON.stringify(config, null, 2), 'gateway.json');
    const [, raw] = listRoutes(served, {}, positionsIn(document));
    const line = document.text.split('\n').findIndex((text) => text.includes('"/raw"'));
    deepEqual([raw!.file, raw!.line, raw!.column], ['gateway.json', line, 5]);
    equal(raw!.backends[0]!.line, line + 5);
  });
});
