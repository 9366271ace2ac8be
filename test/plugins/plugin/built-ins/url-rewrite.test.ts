import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/plugin/http-server.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

async function faultsOf(settings: object): Promise<string[]> {
  try {
    await (await openHarness(plugin, 'service', { name: ['url-rewrite'], 'url-rewrite': settings })).close();
    return [];
  } catch (error) {
    return (error as { errors: { code: string; pointer: string }[] }).errors.map(
      ({ code, pointer }) => `${code} ${pointer.replace(/^.*url-rewrite/, '')}`,
    );
  }
}

describe('the plugin "url-rewrite"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(({ target, method }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ method, target }));
    });
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const start = async (settings: object, name = ['url-rewrite'], options = {}) => {
    const input_query_strings = ['x'];
    gateway = await startGateway(
      {
        host: [backend.url],
        endpoints: [
          { endpoint: '/hello', input_query_strings, backend: [{ url_pattern: '/hello' }] },
          { endpoint: '/hello', method: 'POST', backend: [{ url_pattern: '/hello' }] },
          { endpoint: '/git/{user}', backend: [{ url_pattern: '/git/{user}' }] },
          {
            endpoint: '/seen',
            backend: [{ url_pattern: '/seen' }],
            extra_config: { 'validation/cel': [{ check_expr: "req_path == '/seen'" }] },
          },
        ],
        extra_config: { 'plugin/http-server': { name, 'url-rewrite': settings } },
      },
      options,
    );
  };
  const ask = async (url: string, method: 'GET' | 'POST' = 'GET') => {
    const response = await gateway.inject({ url, method });
    return response.statusCode === 200 ? response.json().target : response.statusCode;
  };

  it('serves an endpoint under another path with the same query and method', async () => {
    await start({ literal: { '/hi': '/hello' } });
    deepEqual(
      [await ask('/hi?x=1'), await ask('/hi', 'POST'), await ask('/hello')],
      ['/hello?x=1', '/hello', '/hello'],
    );
  });

  it('matches the whole path case-sensitively', async () => {
    await start({ literal: { '/hi': '/hello' } });
    deepEqual([await ask('/hi/'), await ask('/HI'), await ask('/hi/a')], [404, 404, 404]);
  });

  it('inserts groups of a regular expression into the path', async () => {
    await start({ regexp: [['^/u-([a-z]+)$', '/git/$' + '{1}']] });
    deepEqual([await ask('/u-ann'), await ask('/u-7')], ['/git/ann', 404]);
  });

  it('keeps the rest of the path', async () => {
    await start({ regexp: [['/p/([a-z]{3})', '/git/$1']] });
    equal(await ask('/p/abcdef'), '/git/abcdef');
  });

  it('prefers literal paths over regular expressions', async () => {
    await start({ literal: { '/a': '/hello' }, regexp: [['^/a', '/git/x']] });
    deepEqual([await ask('/a'), await ask('/ab')], ['/hello', '/git/xb']);
  });

  it('treats placeholders literally', async () => {
    await start({ literal: { '/g': '/git/{user}' } });
    equal(await ask('/g'), '/git/%7Buser%7D');
  });

  it('has no effect unless it is listed', async () => {
    await start({ literal: { '/hi': '/hello' } }, []);
    equal(await ask('/hi'), 404);
  });

  it('rewrites a path only once, and serves nothing if the new path has no endpoint', async () => {
    await start({
      literal: { '/x': '/y', '/y': '/hello' },
      regexp: [
        ['^/z', '/x'],
        ['^/z', '/hello'],
      ],
    });
    deepEqual([await ask('/x'), await ask('/y'), await ask('/z')], [404, '/hello', 404]);
  });

  it('matches decoded paths and writes them encoded', async () => {
    await start({ literal: { '/grüße': '/hello' }, regexp: [['^/n/(.*)$', '/git/$1']] });
    deepEqual([await ask('/gr%C3%BC%C3%9Fe'), await ask('/n/a%20b%2B')], ['/hello', '/git/a%20b+']);
  });

  it('cannot bypass the rejection of invalid paths', async () => {
    await start({ regexp: [['^/n/(.*)$', '/git/$1']] });
    const { port } = await gateway.listen();
    for (const path of ['/n/%2e%2e/hello', '/n/..%2fhello', '/n/a/../../hello', '/n/%00', '/n/a%3Fb', '/n/%zz']) {
      const requested = request({ port, path, agent: false }).end();
      const [response] = (await once(requested, 'response')) as [IncomingMessage];
      response.resume();
      const { statusCode, headers } = response;
      ok(statusCode === 400 || (statusCode === 301 && headers.location === '/hello'), `${path}: ${statusCode}`);
    }
  });

  it('shows the new path to components, and the original path in the access log', async () => {
    const sinks = rememberingSinks();
    await start({ literal: { '/old': '/seen' } }, ['url-rewrite'], { sinks });
    equal(await ask('/old'), '/seen');
    const line = sinks.lines.find((each) => each.includes('/old'));
    ok(line && !line.includes('/seen'), line);
  });

  it('is rejected with the location of the error', async () => {
    deepEqual(await faultsOf({}), ['URL_REWRITE_EMPTY ']);
    deepEqual(await faultsOf({ regexp: [['(', '/a']] }), ['PATTERN_INVALID /regexp/0/0']);
    deepEqual(await faultsOf({ regexp: [['a', 'b']] }), ['URL_REWRITE_PATH /regexp/0/1']);
    deepEqual(await faultsOf({ literal: { '/a': 'b' } }), ['URL_REWRITE_PATH /literal/~1a']);
    deepEqual(await faultsOf({ literal: { a: '/b' } }), ['URL_REWRITE_PATH /literal/a']);
    for (const regexp of [[['a']], [['a', '/b', 'c']], [['a', 1]], ['a']]) {
      equal((await faultsOf({ regexp })).length, 1, JSON.stringify(regexp));
    }
  });

  it('runs before or after modules according to its name', async () => {
    const filter = { 'ip-filter': { CIDR: ['10.0.0.1'], client_ip_headers: [] } };
    const gate = await openHarness(plugin, 'service', {
      name: ['url-rewrite', 'ip-filter'],
      'url-rewrite': { literal: { '/hi': '/hello' } },
      ...filter,
    });
    equal((await gate.send('GET /hi')).status, 200);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
