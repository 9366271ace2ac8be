import { deepEqual, equal, match } from 'node:assert/strict';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Operations } from '#kernel';
import { createFolder } from '../../kernel/cli/command.ts';
import { ask } from '../../kernel/server/ask.ts';
import { Secure } from '../../kernel/server/secure.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('server/virtualhost', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let port = 0;
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      response.end(JSON.stringify({ from: target }));
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const to = (endpoint: string, url_pattern: string, more: object = {}) => ({
    endpoint,
    input_query_strings: ['*'],
    backend: [{ url_pattern }],
    ...more,
  });
  const aliases = { aliased_hosts: { users: 'u.x.io:9000', shop: 's.x.io' } };
  const endpoints = [
    to('/__virtual/users/foo', '/A'),
    to('/__virtual/shop/foo', '/B'),
    to('/foo', '/C'),
    to('/only', '/D'),
  ];
  const config = (hosts: object | null, list: object[] = endpoints, extra: object = {}) => ({
    host: [backend.url],
    endpoints: list,
    extra_config: { ...(hosts && { 'server/virtualhost': hosts }), ...extra },
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given), { sinks });
    port = (await gateway.listen()).port;
  };
  const requested = (host: string, line: string) =>
    ask(port, line.includes(' ') ? line : `GET ${line}`, { headers: { host } });
  const from = async (host: string, line: string) => {
    const { status, text } = await requested(host, line);
    return status === 200 ? JSON.parse(text).from : status;
  };

  it('uses the endpoint of the host, in any letter case and with the default port', async () => {
    await start(aliases);
    equal(await from('u.x.io:9000', '/foo'), '/A');
    equal(await from('U.X.IO:9000', '/foo'), '/A');
    equal(await from('s.x.io:443', '/foo?a=1'), '/B?a=1');
    equal(await from('s.x.io.:80', '/foo'), '/B');
    equal(await from('u.x.io', '/foo'), '/C');
    equal(await from('u.x.io:9001', '/foo'), '/C');
  });

  it('serves the endpoints without a host for any other host', async () => {
    await start(aliases);
    equal(await from('other', '/foo'), '/C');
    equal(await from('s.x.io', '/only'), '/D');
    equal(await from('s.x.io', '/nothing'), 404);
  });

  it('ignores X-Forwarded-Host', async () => {
    await start(aliases);
    const { text } = await ask(port, 'GET /foo', { headers: { host: 'other', 'x-forwarded-host': 's.x.io' } });
    equal(JSON.parse(text).from, '/C');
  });

  it('returns 405 with the methods of both endpoints', async () => {
    await start(aliases, [
      ...endpoints,
      to('/foo', '/put', { method: 'PUT' }),
      to('/__virtual/shop/foo', '/del', { method: 'DELETE' }),
    ]);
    const { status, headers } = await requested('s.x.io', 'POST /foo');
    deepEqual([status, headers['allow']], [405, 'DELETE, GET, HEAD, PUT']);
    equal(await from('s.x.io', 'PUT /foo'), '/put');
  });

  it('never reveals the internal path to a client', async () => {
    await start(aliases, [...endpoints, to('/__catchall', '/all'), to('/{a}/{b}/{c}', '/three')]);
    for (const path of [
      '/__virtual/users/foo',
      '/%5f_virtual/users/foo',
      '/%5F%5Fvirtual%2fusers/foo',
      '//__virtual/users/foo',
      '/./__virtual/users/foo',
    ]) {
      for (const host of ['u.x.io:9000', 'other']) equal(await from(host, path), 404, path);
    }
  });

  it("redirects to the client's path", async () => {
    await start(aliases, [to('/__virtual/shop/foo', '/B')]);
    const { status, headers } = await requested('s.x.io', '/foo/?a=1');
    deepEqual([status, headers['location']], [301, '/foo?a=1']);
    equal((await requested('s.x.io', '/FOO')).headers['location'], '/foo');
  });

  it('accepts hosts with ports and placeholders', async () => {
    await start({ hosts: ['a.x.io', 'b.x.io:9000', '[::1]:9000'] }, [
      to('/__virtual/a.x.io/p/{id}', '/p/{id}'),
      to('/__virtual/b.x.io:9000/p/{name}', '/q/{name}'),
      to('/__virtual/[::1]:9000/p', '/six'),
      to('/__virtual/a.x.io/w/*', '/rest'),
      to('/__virtual/a.x.io/', '/root'),
    ]);
    equal(await from('a.x.io', '/p/7'), '/p/7');
    equal(await from('b.x.io:9000', '/p/7'), '/q/7');
    equal(await from('[::1]:9000', '/p'), '/six');
    equal(await from('a.x.io', '/w/x/y'), '/rest/x/y');
    equal(await from('a.x.io', '/'), '/root');
    equal(await from('other', '/'), 404);
  });

  it("does not affect the gateway's own paths", async () => {
    await start(aliases);
    equal((await requested('s.x.io', '/__health')).status, 200);
  });

  it("is logged in the access log with the client's path", async () => {
    sinks.lines.length = 0;
    await start(aliases);
    await requested('s.x.io', '/foo?logged=1');
    await until(() => sinks.lines.some((line) => line.includes('/foo')));
    match(sinks.lines.find((line) => line.includes('/foo'))!, /"?\/foo/);
  });

  it('applies the CORS settings of the endpoints of the host', async () => {
    const cors = (origin: string) => ({ extra_config: { 'security/cors': { allow_origins: [origin] } } });
    await start(aliases, [to('/__virtual/shop/foo', '/B', cors('https://shop.example')), to('/foo', '/C')], {
      'security/cors': { allow_origins: ['https://all.example'] },
    });
    const allowed = async (host: string, origin: string) =>
      (await ask(port, 'GET /foo', { headers: { host, origin } })).headers['access-control-allow-origin'];
    equal(await allowed('s.x.io', 'https://shop.example'), 'https://shop.example');
    equal(await allowed('other', 'https://shop.example'), undefined);
    equal(await allowed('other', 'https://all.example'), 'https://all.example');
  });

  it('runs after url-rewrite, which cannot reach internal paths either', async () => {
    const rewrites = { literal: { '/old': '/foo', '/inside': '/__virtual/users/foo' }, regexp: [['^/v/(.*)$', '/$1']] };
    await start(aliases, endpoints, {
      'plugin/http-server': { name: ['url-rewrite'], 'url-rewrite': rewrites },
    });
    equal(await from('s.x.io', '/old'), '/B');
    equal(await from('other', '/old'), '/C');
    equal(await from('s.x.io', '/v/foo'), '/B');
    for (const path of ['/inside', '/v/__virtual/users/foo']) {
      for (const host of ['u.x.io:9000', 'other']) equal(await from(host, path), 404, path);
    }
  });

  it("runs after static files, which use the client's path", async () => {
    const folder = createFolder();
    folder.write('foo', 'a file');
    await start(aliases, endpoints, {
      'server/static-filesystem': { path: folder.path(''), prefix: '/', skip: ['/only'] },
    });
    equal((await requested('s.x.io', '/foo')).text, 'a file');
    equal((await requested('s.x.io', '/only')).status, 200);
    equal(await from('s.x.io', '/only'), '/D');
    folder.remove();
  });

  it('selects certificates by TLS server name only, and endpoints by Host only', async () => {
    const secure = new Secure();
    const shop = secure.made.issue('shop', secure.authority, 'DNS:s.x.io');
    gateway = await startGateway({ ...config(aliases), ...secure.tls({}, secure.server, shop) });
    ({ port } = await gateway.listen());
    equal(await secure.shown(port, 's.x.io'), 'shop');
    equal(await secure.shown(port, 'u.x.io'), 'server');
    const ca = secure.authority.certificatePem;
    const answer = (servername: string, host: string) =>
      new Promise<[number, string]>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/foo', ca, agent: false, servername, headers: { host } };
        request(options, (response) => {
          text(response).then((body) => resolve([response.statusCode!, JSON.parse(body).from]), reject);
        })
          .once('error', reject)
          .end();
      });
    deepEqual(await answer('s.x.io', 's.x.io'), [200, '/B']);
    deepEqual(await answer('s.x.io', 'u.x.io:9000'), [200, '/A']);
    deepEqual(await answer('localhost', 's.x.io'), [200, '/B']);
    await secure.close();
  });

  it('is accepted in its legacy form, inside plugin/http-server', async () => {
    await start(null, [to('/__virtual/a.x.io/p', '/p')], {
      'plugin/http-server': { name: ['virtualhost'], virtualhost: { hosts: ['a.x.io'] } },
    });
    equal(await from('a.x.io', '/p'), '/p');
    equal(gateway!.status.warnings[0]?.code, 'CONFIG_OLD_PLUGIN');
  });

  it('warns about a host without endpoints', async () => {
    await start(aliases, [to('/__virtual/other/foo', '/X')]);
    deepEqual(
      gateway!.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['ROUTE_UNREACHABLE', '/endpoints/0/endpoint']],
    );
    await gateway!.close();
    await start(null);
    equal(gateway!.status.warnings.length, 2);
    equal(await from('s.x.io', '/__virtual/shop/foo'), 404);
    equal(await from('s.x.io', '/foo'), '/C');
  });

  describe('is rejected', () => {
    const at = '/extra_config/server~1virtualhost';
    const refused = async (hosts: object, list: object[] = []) =>
      (await refusalsOf(startGateway(config(hosts, list)))).map(({ code, pointer }) => [code, pointer]);

    it('with both fields, with neither of them, and with unknown fields', async () => {
      equal((await refused({}))[0]![1], at);
      equal((await refused({ hosts: ['a'], ...aliases })).length, 1);
      equal((await refused({ hosts: ['a'], host: 'b' })).length, 1);
    });

    it('for an invalid alias or host, and for a duplicate host', async () => {
      deepEqual(await refused({ aliased_hosts: { Shop: 'a' } }), [['VIRTUAL_ALIAS', `${at}/aliased_hosts/Shop`]]);
      deepEqual(await refused({ hosts: ['a/b'] }), [['VIRTUAL_HOST', `${at}/hosts/0`]]);
      deepEqual(await refused({ hosts: ['a.io', 'A.io:443'] }), [['VIRTUAL_HOST', `${at}/hosts/1`]]);
    });

    it('for an endpoint whose host is a variable', async () => {
      deepEqual(await refused({ hosts: ['a'] }, [to('/__virtual/{host}/p', '/p')]), [
        ['ROUTE_PATH', '/endpoints/0/endpoint'],
      ]);
    });
  });
});
