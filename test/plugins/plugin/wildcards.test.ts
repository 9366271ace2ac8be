import { deepEqual, equal, match } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { ask as askRaw } from '../../kernel/server/ask.ts';
import { startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('the KrakenD plugin "wildcard"', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target.includes('missing')) response.writeHead(404);
      response.end(seen.target);
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const client = { extra_config: { 'plugin/http-client': { name: 'wildcard' } } };
  const receiving = (path: string, url_pattern: string, more: object = {}) => ({
    endpoint: path,
    output_encoding: 'no-op',
    input_query_strings: ['*'],
    backend: [{ url_pattern, ...client }],
    ...more,
  });
  const config = (wildcard: unknown, endpoints: object[], name: string | string[] = ['wildcard']) => ({
    host: [backend.url],
    endpoints,
    extra_config: { 'plugin/http-server': { name, wildcard } },
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given));
  };
  const ask = async (url: string, options: object = {}) => {
    const { statusCode, body } = await gateway!.inject({ url, ...options });
    return statusCode === 200 ? body : statusCode;
  };
  const refusals = async (...given: Parameters<typeof config>) =>
    (await refusalsOf(startGateway(config(...given)))).map(({ code, pointer }) => [code, pointer]);
  const at = '/extra_config/plugin~1http-server/wildcard';

  it('serves every prefix and the paths below it, but no longer the declared path', async () => {
    await start({ endpoints: { '/__wildcard/foo': ['/foo', '/aliasfoo'] } }, [receiving('/__wildcard/foo', '/base')]);
    equal(await ask('/foo/a'), '/base/a');
    equal(await ask('/aliasfoo/a/b?x=1'), '/base/a/b?x=1');
    equal(await ask('/foo'), '/base');
    equal(await ask('/foo/'), '/base/');
    equal(await ask('/foobar'), 404);
    equal(await ask('/__wildcard/foo'), 404);
    equal(await ask('/foo/a%20b%2Fc'), '/base/a%20b%2Fc');
    const { port } = await gateway!.listen();
    equal((await askRaw(port, 'GET /foo/%2e%2e/admin')).status, 400);
  });

  it('warns with the equivalent native configuration', async () => {
    await start({ endpoints: { '/__wildcard/foo': ['/foo'] } }, [receiving('/__wildcard/foo', '/')]);
    const [warning] = gateway!.status.warnings;
    deepEqual([warning?.code, warning?.pointer], ['CONFIG_OLD_PLUGIN', `${at}/endpoints/~1__wildcard~1foo/0`]);
    match(warning?.hint ?? '', /"endpoint": "\/foo\/\*"/);
  });

  it('prefers the longest prefix, and an endpoint with the exact path', async () => {
    const endpoints = [
      receiving('/w/a', '/one'),
      receiving('/w/b', '/two'),
      { ...receiving('/foo/own', '/own'), backend: [{ url_pattern: '/own' }] },
    ];
    await start({ endpoints: { '/w/a': ['/foo'], '/w/b': ['/foo/bar'] } }, endpoints);
    deepEqual(
      [await ask('/foo/x'), await ask('/foo/bar/x'), await ask('/foo/own'), await ask('/foo/barx')],
      ['/one/x', '/two/x', '/own', '/one/barx'],
    );
  });

  it('serves declared methods only', async () => {
    const endpoints = [receiving('/w', '/get'), receiving('/w', '/post', { method: 'POST' })];
    await start({ endpoints: { '/w': ['/foo'] } }, endpoints);
    deepEqual(
      [await ask('/foo/x'), await ask('/foo/x', { method: 'POST' }), await ask('/foo/x', { method: 'PUT' })],
      ['/get/x', '/post/x', 405],
    );
  });

  it('does not replace an endpoint declared at a prefix', async () => {
    const own = { ...receiving('/foo', '/own'), backend: [{ url_pattern: '/own' }] };
    await start({ endpoints: { '/w': ['/foo'] } }, [receiving('/w', '/w'), own]);
    deepEqual([await ask('/foo'), await ask('/foo/x')], ['/own', '/w/x']);
  });

  it('forwards a 404', async () => {
    await start({ endpoints: { '/w': ['/foo'] } }, [receiving('/w', '/')]);
    equal(await ask('/foo/missing'), 404);
  });

  it('warns about backends that do not use the rest of the path', async () => {
    const plain = { ...receiving('/w', '/'), backend: [{ url_pattern: '/plain' }] };
    await start({ endpoints: { '/w': ['/foo'] } }, [plain]);
    deepEqual(gateway!.status.warnings[0]?.pointer, '/endpoints/0/backend/0');
    equal(await ask('/foo/x'), '/plain/x');
  });

  it('reports errors of its endpoints at the location in the original configuration', async () => {
    const wrong = { ...receiving('/w', '/'), extra_config: { 'qos/nothing': {} } };
    const endpoints = [receiving('/v', '/'), wrong];
    deepEqual(
      [...new Set((await refusals({ endpoints: { '/v': ['/a'], '/w': ['/foo', '/bar'] } }, endpoints)).map(String))],
      ['NAMESPACE_UNKNOWN,/endpoints/1/extra_config/qos~1nothing'],
    );
  });

  it('is rejected if it names an endpoint that does not exist', async () => {
    deepEqual(
      await refusals({ endpoints: { '/x': ['/foo'] } }, [{ ...receiving('/w', '/'), backend: [{ url_pattern: '/' }] }]),
      [['WILDCARD_ENDPOINT', `${at}/endpoints/~1x`]],
    );
  });

  for (const [what, list, code, place] of [
    ['a prefix that ends with a wildcard', ['/foo/*'], 'WILDCARD_PREFIX', '/0'],
    ['a prefix with the path variable {id}', ['/foo/{id}'], 'WILDCARD_PREFIX', '/0'],
    ['the prefix /', ['/'], 'WILDCARD_PREFIX', '/0'],
    ['a prefix that does not begin with a slash', ['foo'], 'WILDCARD_PREFIX', '/0'],
    ['a number', [1], 'WILDCARD_PREFIX', '/0'],
    ['a duplicate prefix', ['/foo', '/foo/'], 'WILDCARD_PREFIX', '/1'],
    ['an empty list', [], 'WILDCARD_PREFIX', ''],
    ['a value that is not a list', '/foo', 'WILDCARD_PREFIX', ''],
  ] as const) {
    it(`is rejected if the prefixes of an endpoint are invalid: ${what}`, async () => {
      const found = await refusals({ endpoints: { '/w': list } }, [receiving('/w', '/')]);
      deepEqual(found[0], [code, `${at}/endpoints/~1w${place}`]);
    });
  }

  it('is rejected if it has no endpoints, or unknown fields', async () => {
    deepEqual((await refusals({}, [receiving('/w', '/')]))[0], ['WILDCARD_FORM', at]);
    deepEqual((await refusals(undefined, [receiving('/w', '/')]))[0], [
      'WILDCARD_FORM',
      '/extra_config/plugin~1http-server',
    ]);
    const more = { endpoints: { '/w': ['/foo'] }, more: 1, '@comment': 'no matter' };
    deepEqual(await refusals(more, [receiving('/w', '/')]), [['WILDCARD_FORM', `${at}/more`]]);
  });

  it('is rejected for a client whose endpoint has no prefix', async () => {
    deepEqual(await refusals({ endpoints: { '/w': ['/foo'] } }, [receiving('/w', '/'), receiving('/v', '/')]), [
      ['WILDCARD_CLIENT', '/endpoints/1/backend/0/extra_config/plugin~1http-client/name'],
    ]);
  });
});

describe('built-in clients of KrakenD', () => {
  let backend: TestBackend;

  before(async () => {
    backend = await startBackend((_seen, response) => response.writeHead(302, { Location: '/elsewhere' }).end());
  });
  after(() => backend.close());

  const config = (client: object, more: object = {}) => ({
    host: [backend.url],
    endpoints: [
      {
        endpoint: '/a',
        output_encoding: 'no-op',
        backend: [{ url_pattern: '/', extra_config: { 'plugin/http-client': client, ...more } }],
      },
    ],
  });
  const at = '/endpoints/0/backend/0/extra_config/plugin~1http-client';

  it('include "no-redirect", which is converted to backend/http/client with a warning', async () => {
    const gateway = await startGateway(config({ name: 'no-redirect' }));
    equal((await gateway.inject('/a')).statusCode, 302);
    deepEqual(
      gateway.status.warnings.map(({ code, pointer, hint }) => [code, pointer, hint]),
      [['CONFIG_OLD_PLUGIN', `${at}/name`, '"backend/http/client": {"no_redirect":true}']],
    );
    await gateway.close();
  });

  for (const client of [
    { name: 'http-proxy', proxy_address: 'http://127.0.0.1:1' },
    { name: 'http-proxy', 'http-proxy': { proxy_address: 'http://127.0.0.1:1' } },
  ]) {
    it(`include "http-proxy", which is converted to backend/http/client: ${JSON.stringify(client)}`, async () => {
      const gateway = await startGateway(config(client));
      equal((await gateway.inject('/a')).statusCode, 500);
      await gateway.close();
    });
  }

  it('report errors at the location in the original configuration', async () => {
    const [refusal] = await refusalsOf(startGateway(config({ name: 'http-proxy', proxy_address: 'nowhere' })));
    deepEqual([refusal?.code, refusal?.pointer], ['HTTP_PROXY_ADDRESS', `${at}/proxy_address`]);
  });

  for (const name of ['http-logger']) {
    it(`do not include "${name}", which is rejected by its name`, async () => {
      const [refusal] = await refusalsOf(startGateway(config({ name })));
      deepEqual([refusal?.code, refusal?.pointer], ['CONFIG_NOT_SUPPORTED', `${at}/name`]);
    });
  }
});
