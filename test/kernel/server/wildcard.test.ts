import { deepEqual, equal, rejects } from 'node:assert/strict';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../kernel/sluice.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';

describe('a wildcard endpoint', () => {
  let backend: TestBackend;
  let gateway: Gateway | null = null;
  let port: number;

  before(async () => {
    backend = await startBackend((seen, response) => {
      const status = seen.target.includes('missing') ? 404 : 200;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"a":1}');
    });
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    (backend.requests as unknown[]).length = 0;
  });

  const start = (...endpoints: [endpoint: string, pattern: string, more?: object][]): Promise<void> =>
    startWith({}, ...endpoints);
  const startWith = async (
    router: object,
    ...endpoints: [endpoint: string, pattern: string, more?: object][]
  ): Promise<void> => {
    gateway = await startGateway({
      host: [backend.url],
      extra_config: { router },
      endpoints: endpoints.map(([endpoint, pattern, more]) => ({
        endpoint,
        output_encoding: 'no-op',
        input_query_strings: ['*'],
        backend: [{ url_pattern: pattern }],
        ...more,
      })),
    });
    ({ port } = await gateway.listen());
  };

  /** Returns the target of the backend request; if no backend is called, the status and location of the response. */
  const leadsTo = async (target: string, method = 'GET'): Promise<unknown> => {
    const before = backend.requests.length;
    const { status, headers } = await ask(port, `${method} ${target}`);
    if (backend.requests.length > before) return backend.requests.at(-1)!.target;
    return headers.location === undefined ? status : [status, headers.location];
  };

  const cases: [endpoints: [string, string][], target: string, result: unknown][] = [
    [[['/fake/*', '/']], '/fake/hotels/1.json', '/hotels/1.json'],
    [[['/fake/*', '/v2/']], '/fake/a/b', '/v2/a/b'],
    [[['/fake/*', '/']], '/fakes/a', 404],
    [[['/t/{tenant}/*', '/{tenant}/api']], '/t/acme/x/y', '/acme/api/x/y'],
    [[['/fake/*', '/']], '/fake/a%20b%2Fc', '/a%20b%2Fc'],
    [[['/fake/*', '/']], '/fake/%2e%2e/admin', 400],
    [[['/fake/*', '/']], '/fake/a/%2E%2e', 400],
    [[['/fake/*', '/']], '/fake/a%2f..%2fb', 400],
    [[['/fake/*', '/']], '/fake/a%5Cb', 400],
    [[['/fake/*', '/']], '/fake/a\\b', 400],
    [[['/fake/*', '/']], '/fake/a%00b', 400],
    [[['/fake/*', '/']], '/fake/a%252Fb', 400],
    [[['/fake/*', '/']], '/fake/a%252e%252e/b', 400],
    [[['/fake/*', '/']], '/fake/a%3Fb', 400],
    [[['/fake/*', '/']], '/fake', [301, '/fake/']],
    [[['/fake/*', '/']], '/fake/', '/'],
    [[['/fake/*', '/base']], '/fake/', '/base/'],
    [[['/fake/*', '/base/']], '/fake/', '/base/'],
    [[['/fake/*', '/base']], '/fake/a/', '/base/a/'],
    [[['/fake/*', '/base']], '/fake/a/b?x=1&y=%20', '/base/a/b?x=1&y=+'],
    [[['/fake/*', '/base?k=v']], '/fake/a', '/base/a?k=v'],
    [[['/fake/*', '/']], '/FAKE/aB/C', [301, '/fake/aB/C']],
    [[['/fake/*', '/']], '/fake//x', [301, '/fake/x']],
    [[['/fake/*', '/']], '/fake/a/../x', [301, '/fake/x']],
    [[['/fake/*', '/']], '/fake/../x', 404],
    [[['/t/{a}/*', '/{a}']], '/t//x', [301, '/t/x/']],
    [[['/fake/*', '/']], '/fake/..;/x', 404],
    [[['/fake/*', '/']], '/fake/a/..;v=1/x', [301, '/fake/x']],
    [[['/fake/*', '/']], '/fake/.;/x', [301, '/fake/x']],
    [[['/fake/*', '/']], '/fake/;v=1/x', [301, '/fake/x']],
    [[['/fake/*', '/']], '/fake/%2e%2e;/x', 400],
    [[['/fake/*', '/']], '/fake/..%3Bv/x', 404],
    [[['/fake/*', '/']], '/fake/a;v=1/x', '/a;v=1/x'],
    [[['/fake/*', '/']], '/fake/...;/x', '/...;/x'],
  ];
  for (const [endpoints, target, result] of cases) {
    it(`with the pattern ${endpoints[0]![0]} and url_pattern ${endpoints[0]![1]} answers ${target} with ${JSON.stringify(result)}`, async () => {
      await start(...endpoints);
      deepEqual(await leadsTo(target), result);
    });
  }

  it('is overridden by a more specific endpoint, but not for longer paths', async () => {
    await start(['/fake/*', '/wild'], ['/fake/new', '/explicit']);
    equal(await leadsTo('/fake/new'), '/explicit');
    equal(await leadsTo('/fake/newer'), '/wild/newer');
    equal(await leadsTo('/fake/new/er'), '/wild/new/er');
  });

  it('cannot be used to bypass a more specific endpoint', async () => {
    await start(['/area/*', '/wild'], ['/area/private/x', '/guarded']);
    for (const target of ['/area//private/x', '/area/./private/x', '/area/y/../private/x', '/area//private//x']) {
      deepEqual(await leadsTo(target), [301, '/area/private/x'], target);
    }
    for (const target of ['/area/%2e/private/x', '/area%2F%2e%2Fprivate/x', '/area/y/%2e%2e/private/x']) {
      equal(await leadsTo(target), 400, target);
    }
    equal(await leadsTo('/area/private%2Fx'), '/guarded');
    equal(await leadsTo('/area/%70rivate/x'), '/guarded');
  });

  it('receives the rest of the cleaned path with remove_extra_slash', async () => {
    await startWith({ remove_extra_slash: true }, ['/f/*', '/base'], ['/f/{a}/v/*', '/{a}']);
    const cases: [target: string, result: unknown][] = [
      ['/z/../f/secret', '/base/secret'],
      ['//f/x', '/base/x'],
      ['/f//x//', '/base/x/'],
      ['/f/a/../b%20c', '/base/b%20c'],
      ['/%2e%2e%2ff/./x', '/base/x'],
      ['/f/..;v=1/f/x', '/base/x'],
      ['/f/../../../f/x', '/base/x'],
      ['/f/a/b%2Fc', '/base/a/b%2Fc'],
      ['//f/1/v/x', '/1/x'],
      ['/f/', '/base/'],
    ];
    for (const [target, result] of cases) deepEqual(await leadsTo(target), result, target);
  });

  it('is less specific than static segments and variables; among wildcards, the longest prefix wins', async () => {
    await start(['/a/*', '/1'], ['/a/b/*', '/2'], ['/a/{v}/c', '/3'], ['/a/b/s', '/4']);
    equal(await leadsTo('/a/x'), '/1/x');
    equal(await leadsTo('/a/b/x'), '/2/x');
    equal(await leadsTo('/a/b/c'), '/2/c');
    equal(await leadsTo('/a/z/c'), '/3');
    equal(await leadsTo('/a/b/s'), '/4');
    equal(await leadsTo('/a/z/d'), '/1/z/d');
  });

  it('is overridden by an endpoint for the prefix itself', async () => {
    await start(['/a/*', '/1'], ['/a/', '/2']);
    deepEqual([await leadsTo('/a/'), await leadsTo('/a/x')], ['/2', '/1/x']);
  });

  it('serves only its own method', async () => {
    await start(['/fake/*', '/'], ['/fake/*', '/put', { method: 'PUT' }]);
    equal(await leadsTo('/fake/x', 'POST'), 405);
    equal(await leadsTo('/fake/x', 'PUT'), '/put/x');
    equal((await ask(port, 'POST /fake/x')).headers.allow, 'GET, HEAD, PUT');
  });

  it('passes the rest of the path to each of several backends', async () => {
    const backend = [{ url_pattern: '/1' }, { url_pattern: '/2/' }];
    await start(['/fake/*', '/', { output_encoding: 'json', backend }]);
    equal((await ask(port, 'GET /fake/x/y')).status, 200);
  });

  it('forwards a 404 under no-op, and turns it into 500 otherwise', async () => {
    await start(['/raw/*', '/'], ['/json/*', '/', { output_encoding: 'json' }]);
    equal((await ask(port, 'GET /raw/missing')).status, 404);
    equal((await ask(port, 'GET /json/missing')).status, 500);
  });

  it('is logged by its pattern, never by the request path', async () => {
    const sinks = rememberingSinks();
    gateway = await startGateway(
      { host: ['http://127.0.0.1:1'], endpoints: [{ endpoint: '/fake/*', backend: [{ url_pattern: '/' }] }] },
      { sinks },
    );
    await gateway.inject('/fake/secret');
    const errors = sinks.lines.filter((line) => line.includes('ERROR'));
    deepEqual(
      errors.map((line) => [line.includes('[ENDPOINT: /fake/*]'), line.includes('secret')]),
      [[true, false]],
    );
  });

  it('is rejected if another one has the same prefix, or if its star is alone or not at the end', async () => {
    for (const endpoints of [[['/a/*'], ['/a/*']], [['/*']], [['/a/*/b']], [['/a*']], [['/*/a']], [['/a/**']]]) {
      const all = endpoints.map(([endpoint]) => ({ endpoint, backend: [{ url_pattern: '/' }] }));
      await rejects(startGateway({ host: [backend.url], endpoints: all }), ConfigErrors, JSON.stringify(endpoints));
    }
  });
});
