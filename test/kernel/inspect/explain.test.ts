import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { atEndpoint, definePlugin } from '#contract';
import { type Explanation, explainRequest, type Forwarded, type SampleRequest } from '../../../kernel/inspect/index.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import { catalogue } from '../../../plugins/index.ts';
import { json, type SeenRequest, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from '../server/ask.ts';
import { serve } from './serve.ts';

/** Headers that the HTTP client adds to every backend request. */
const framing = new Set(['host', 'connection', 'accept-encoding', 'content-length', 'transfer-encoding']);

function listed(headers: Iterable<readonly [string, string]>): string[] {
  return [...headers]
    .filter(([name]) => !framing.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at]!, raw[2 * at + 1]!]);
}

describe('explainRequest', () => {
  let backend: TestBackend;
  let gateway: Gateway | null = null;

  before(async () => {
    backend = await startBackend(json({ id: 42, user: { name: 'a b' } }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
  });

  const explain = async (config: object, sample: SampleRequest): Promise<Explanation> =>
    explainRequest(await serve(config), sample);

  /** Explains a request, sends it, and returns the explanation and the received backend requests, in order. */
  const both = async (
    config: object,
    line: string,
    sent: Record<string, string | string[]> = {},
    body?: string,
  ): Promise<{ said: readonly Forwarded[]; seen: readonly SeenRequest[] }> => {
    const headers = { Host: 'api.test', ...(body && { 'Content-Length': String(body.length) }), ...sent };
    const [method, target] = line.split(' ') as [string, string];
    const given = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
    const { forwarded } = await explain(config, { method, target, headers: given });
    const first = backend.requests.length;
    gateway = await startGateway(config);
    const { port } = await gateway.listen();
    await ask(port, line, { headers, ...(body && { body }) });
    return { said: forwarded, seen: backend.requests.slice(first) };
  };

  const same = async (...args: Parameters<typeof both>): Promise<readonly Forwarded[]> => {
    const { said, seen } = await both(...args);
    equal(seen.length, said.length);
    for (const [at, { method, urls, headers, body }] of said.entries()) {
      const real = seen[at]!;
      deepEqual([method, urls], [real.method, [backend.url + real.target]]);
      deepEqual(listed(headers), listed(pairs(real.rawHeaders)));
      equal(body, real.body.length > 0);
    }
    return said;
  };

  const one = (endpoint: object, fields: object = {}): object => ({
    endpoints: [{ endpoint: '/e', ...endpoint, backend: [{ host: [backend.url], url_pattern: '/x', ...fields }] }],
  });

  describe('shows the request that a backend receives', () => {
    it('if nothing is forwarded', () =>
      same(one({}), 'GET /e?a=1', { Cookie: 'k=v', 'User-Agent': 'curl', Authorization: 't' }));

    it('with path variables in url_pattern', () =>
      same(one({ endpoint: '/u/{id}/{kind}' }, { url_pattern: '/{kind}/of/{id}?k={kind}' }), 'GET /u/a%20b/caf%C3%A9'));

    it('of a wildcard endpoint', () => same(one({ endpoint: '/f/*' }, { url_pattern: '/base' }), 'GET /f/x/y%20z/'));

    it('of the catch-all endpoint', () =>
      same(one({ endpoint: '/__catchall' }, { url_pattern: '/all' }), 'PUT /any/path?q=1'));

    it('with forwarded query parameters', () =>
      same(one({ input_query_strings: ['b', 'c'] }), 'GET /e?a=1&c=x%20y&b=2&b=3'));

    it('if query parameters replace the query of url_pattern', async () => {
      const config = one({ input_query_strings: ['a'] }, { url_pattern: '/x?own=1' });
      equal((await same(config, 'GET /e?a=1'))[0]!.patternQueryLost, true);
      await gateway!.close();
      equal((await same(config, 'GET /e?z=1'))[0]!.patternQueryLost, false);
    });

    it('with forwarded headers, including repeated ones', () =>
      same(one({ input_headers: ['x-tag', 'User-Agent'] }), 'GET /e', { 'x-tag': ['1', '2'], 'User-Agent': 'curl' }));

    it('with all headers forwarded', () =>
      same(one({ input_headers: ['*'] }), 'GET /e', {
        Connection: 'keep-alive, X-Hop',
        'X-Hop': '1',
        X_Forwarded_For: 'spoofed',
        'X-Forwarded-For': '9.9.9.9',
        Cookie: 'k=v',
        'X-Any': '1',
      }));

    it("with headers and parameters filtered by the backend's own lists", () =>
      same(
        one(
          { input_headers: ['*'], input_query_strings: ['*'] },
          { input_headers: ['Cookie'], input_query_strings: ['a'] },
        ),
        'GET /e?a=1&b=2',
        { Cookie: 'k=v', 'X-Any': '1' },
      ));

    it('with a body', () =>
      same(one({ method: 'POST' }, { method: 'PUT' }), 'POST /e', { 'Content-Type': 'text/x' }, 'hello'));

    it('at a host with a path', () => same(one({}, { host: [`${backend.url}/base`] }), 'GET /e'));

    it('at a host taken from a header', () => {
      const host = [backend.url.replace('127.0.0.1', '{input_headers.X-Where}')];
      return same(one({}, { host, disable_host_sanitize: true }), 'GET /e', { 'X-Where': '127.0.0.1' });
    });

    it('from a client behind a trusted proxy', () =>
      same(
        {
          ...one({}),
          extra_config: { router: { forwarded_by_client_ip: true, trusted_proxies: ['127.0.0.0/8'] } },
        },
        'GET /e',
        { 'X-Forwarded-For': '203.0.113.7' },
      ));

    it('for each of several backends', () =>
      same(
        {
          endpoints: [
            {
              endpoint: '/e/{id}',
              extra_config: { proxy: { sequential: true } },
              backend: [1, 2].map((at) => ({ host: [backend.url], url_pattern: `/b${at}/{id}`, group: `g${at}` })),
            },
          ],
        },
        'GET /e/7',
      ));

    it('in a sequence, with placeholders for values of earlier responses', async () => {
      const config = {
        endpoints: [
          {
            endpoint: '/e',
            extra_config: { proxy: { sequential: true } },
            backend: [
              { host: [backend.url], url_pattern: '/first' },
              { host: [backend.url], url_pattern: '/second/{resp0_id}?name={resp0_user.name}', group: 'g' },
            ],
          },
        ],
      };
      const { said, seen } = await both(config, 'GET /e');
      deepEqual(said[1]!.urls, [`${backend.url}/second/{resp0_id}?name={resp0_user.name}`]);
      const known = said[1]!.urls[0]!.replace('{resp0_id}', '42').replace('{resp0_user.name}', 'a%20b');
      equal(known, backend.url + seen[1]!.target);
    });
  });

  describe('shows the reason why something is not forwarded', () => {
    const config = (): object =>
      one(
        { input_headers: ['X-Listed', 'X-Stopped', 'Content-Type', 'X-Hop'], input_query_strings: ['a', 'b'] },
        { input_headers: ['X-Listed'], input_query_strings: ['a'] },
      );
    const reasons = async (...headers: [string, string][]): Promise<Record<string, string | null>> => {
      const { forwarded } = await explain(config(), { method: 'GET', target: '/e?a=1&b=2&c=3', headers });
      const { clientHeaders, clientQuery } = forwarded[0]!;
      return Object.fromEntries([...clientHeaders, ...clientQuery].map(({ name, why }) => [name, why]));
    };

    for (const [name, why] of [
      ['X-Listed', null],
      ['X-Other', 'not in input_headers of the endpoint'],
      ['X-Stopped', 'not in input_headers of the backend'],
      ['X-Forwarded-For', 'the gateway sets this header itself'],
      ['Te', 'the header belongs to the connection'],
      ['Content-Type', 'the header describes a body, but the request has none'],
    ] as const) {
      it(`for the header ${name}`, async () => equal((await reasons([name, 'x']))[name], why));
    }

    it('for a header named in Connection', async () => {
      equal(
        (await reasons(['Connection', 'x-hop'], ['X-Hop', '1']))['X-Hop'],
        'the Connection header names this header',
      );
    });

    it('for a client header that resembles a header of the gateway, with input_headers set to *', async () => {
      const headers = [['X_Forwarded_For', '1']] as const;
      const { forwarded } = await explain(one({ input_headers: ['*'] }), { method: 'GET', target: '/e', headers });
      equal(
        forwarded[0]!.clientHeaders[0]!.why,
        'some backends treat this name as a header set by the gateway or a component',
      );
    });

    it('for query parameters', async () => {
      const { a, b, c } = await reasons();
      deepEqual(
        { a, b, c },
        {
          a: null,
          b: 'not in input_query_strings of the backend',
          c: 'not in input_query_strings of the endpoint',
        },
      );
    });
  });

  describe('reports no value as dropped if it is used', () => {
    const dropped = async (fields: object, target: string): Promise<string[]> => {
      const headers = [['X-Tenant', 'a'] as const, ['X-Other', 'b'] as const];
      const { forwarded } = await explain(one({}, fields), { method: 'GET', target, headers });
      const { clientHeaders, clientQuery } = forwarded[0]!;
      return [...clientHeaders, ...clientQuery].filter(({ why }) => why !== null).map(({ name }) => name);
    };

    it('in the path, from a header', async () =>
      deepEqual(await dropped({ url_pattern: '/{input_headers.X-Tenant}' }, '/e'), ['X-Other']));
    it('in the host, from a header', async () =>
      deepEqual(await dropped({ host: ['http://{input_headers.X-Tenant}.test'], disable_host_sanitize: true }, '/e'), [
        'X-Other',
      ]));
    it('in the path and the query, from a parameter', async () => {
      const pattern = '/{input_query_strings.a}?c={input_query_strings.b}';
      deepEqual(await dropped({ url_pattern: pattern }, '/e?a=1&b=2&d=3'), ['X-Tenant', 'X-Other', 'd']);
    });
    it('but reports them if forwarded parameters replace the query that contains them', async () => {
      const config = one({ input_query_strings: ['d'] }, { url_pattern: '/x?c={input_query_strings.b}' });
      const { forwarded } = await explain(config, { method: 'GET', target: '/e?b=2&d=3' });
      deepEqual(
        forwarded[0]!.clientQuery.map(({ name, passes }) => [name, passes]),
        [
          ['b', false],
          ['d', true],
        ],
      );
    });
  });

  it('shows that no request is sent if a value is missing', async () => {
    const config = one({}, { url_pattern: '/{input_headers.X-Tenant}' });
    const { forwarded } = await explain(config, { method: 'GET', target: '/e' });
    match(forwarded[0]!.refused!, /lacks a value/);
    deepEqual(forwarded[0]!.urls, []);
  });

  it('lists every host that may be called', async () => {
    const config = one({}, { host: ['http://a.test', 'http://b.test/base', 'http://a.test'] });
    const { forwarded } = await explain(config, { method: 'GET', target: '/e' });
    deepEqual(forwarded[0]!.urls, ['http://a.test/x', 'http://b.test/base/x']);
  });

  it('shows the service name to discover in place of the host', async () => {
    const config = one({}, { host: ['api.service.test'], sd: 'dns', disable_host_sanitize: true });
    const { forwarded } = await explain(config, { method: 'GET', target: '/e' });
    deepEqual([forwarded[0]!.sd, forwarded[0]!.urls], ['dns', ['{dns:api.service.test}/x']]);
  });

  it('shows a claim as its placeholder', async () => {
    const plugin = definePlugin({
      name: 'auth/validator',
      description: 'Stands where a validator would.',
      meaning: () => ({ claims: true }),
      places: [atEndpoint({ type: 'object' }, () => ({}))],
    });
    const plugins = { ...catalogue.plugins, 'auth/validator': async () => ({ plugin }) };
    const config = one({ extra_config: { 'auth/validator': {} } }, { url_pattern: '/of/{JWT.sub}' });
    const served = await serve(config, { ...catalogue, plugins });
    const { forwarded } = await explainRequest(served, { method: 'GET', target: '/e' });
    deepEqual(forwarded[0]!.urls, [`${backend.url}/of/{JWT.sub}`]);
  });

  it('lists the components in the order in which they run', async () => {
    const breaker = { 'qos/circuit-breaker': { interval: 1, timeout: 1, max_errors: 1 } };
    const config = one({ extra_config: { 'qos/ratelimit/router': { max_rate: 1 } } }, { extra_config: breaker });
    const { stages, forwarded } = await explain(config, { method: 'GET', target: '/e' });
    deepEqual(stages, [{ as: 'endpoint', namespace: 'qos/ratelimit/router' }]);
    deepEqual(forwarded[0]!.stages, [
      { as: 'backend', namespace: 'qos/circuit-breaker' },
      { as: 'protocol', namespace: 'backend/http/client' },
    ]);
  });

  it('marks shadow backends', async () => {
    const shadow = { host: [backend.url], url_pattern: '/s', extra_config: { proxy: { shadow: true } } };
    const endpoints = [{ endpoint: '/e', backend: [{ host: [backend.url], url_pattern: '/x' }, shadow] }];
    const { forwarded } = await explain({ endpoints }, { method: 'GET', target: '/e' });
    deepEqual(
      forwarded.map((section) => section.shadow),
      [false, true],
    );
  });

  it('does not call a backend', async () => {
    const before = backend.requests.length;
    await explain(one({}), { method: 'GET', target: '/e' });
    equal(backend.requests.length, before);
  });

  it('lists no requests if no endpoint matches', async () => {
    const { match, forwarded } = await explain(one({}), { method: 'GET', target: '/zzz' });
    notEqual(match.kind, 'route');
    deepEqual(forwarded, []);
  });
});
