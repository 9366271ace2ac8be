import { deepEqual, equal } from 'node:assert/strict';
import type { ServiceConfig } from '#contract';
import type { Route } from '../../../kernel/pipeline/compile/route.ts';
import { type Outcome, Router } from '../../../kernel/server/routing/router.ts';

/** Endpoints, each a method and a path. */
function routesOf(lines: readonly string[]): Route[] {
  return lines.map((line) => {
    const [method, endpoint] = line.split(' ');
    return { endpoint: { method, endpoint } } as Route;
  });
}

function routerOf(lines: readonly string[], router: object = {}): Promise<Router> {
  return Router.build({ router } as ServiceConfig, routesOf(lines));
}

/** The variables of the endpoint that a path matches; null if it matches none. */
function paramsOf(outcome: Outcome): object | null {
  return outcome.kind === 'route' ? { ...outcome.params } : null;
}

describe('the router of endpoint paths', () => {
  it('returns the decoded variables of a path', async () => {
    const router = await routerOf([
      'GET /u/{id}',
      'GET /m/{id}/{user-id}',
      'GET /w/{user-id}/{a-}/{-b}',
      'GET /f/{id}/*',
      'GET /e/*',
    ]);
    const cases: [path: string, params: object][] = [
      ['/u/7', { Id: '7' }],
      ['/u/a%20b', { Id: 'a b' }],
      ['/w/7/8/9', { 'User-id': '7', 'A-': '8', '-b': '9' }],
      ['/m/7/8', { Id: '7', 'User-id': '8' }],
      ['/f/7/a%20b/c', { Id: '7', Wildcard: 'a%20b/c' }],
      ['/e/', { Wildcard: '' }],
    ];
    for (const [path, params] of cases) deepEqual(paramsOf(router.find('GET', path)), params, path);
  });

  it('finds the same routes if its tree is built at the first lookup', async () => {
    const lines = ['GET /u/{id}', 'POST /u/{id}', 'GET /u/me', 'GET /e/*', 'GET /__catchall'];
    const config = { router: {} } as ServiceConfig;
    const routes = routesOf(lines);
    const built = await Router.build(config, routes);
    for (const path of ['/u/7', '/u/me', '/U/me', '/e/a/b', '/nothing']) {
      deepEqual(Router.later(config, routes).find('GET', path), built.find('GET', path), path);
      deepEqual(Router.later(config, routes).methodsOf(path), built.methodsOf(path), path);
    }
    const again = await Router.build(config, routes, '', Router.later(config, routes));
    deepEqual(again.find('GET', '/u/7'), built.find('GET', '/u/7'));
  });

  it('prefers a path without variables, and matches its method', async () => {
    const lines = [
      'GET /{a}/b',
      'GET /a/{b}',
      'GET /a/*',
      'GET /a/b',
      'POST /a/{b}',
      'GET /a/b.c~d-e_f',
      'GET /ä/c',
      'GET /x/{id}/y',
      'GET /x/1/z',
    ];
    const router = await routerOf(lines);
    const found = (method: string, path: string) => {
      const outcome = router.find(method, path);
      return outcome.kind === 'route'
        ? `${outcome.route.endpoint.method} ${outcome.route.endpoint.endpoint}`
        : outcome.kind;
    };
    const cases: [method: string, path: string, to: string][] = [
      ['GET', '/a/b', 'GET /a/b'],
      ['GET', '/a/%62', 'GET /a/b'],
      ['GET', '/a/bc', 'GET /a/{b}'],
      ['GET', '/a/b/c', 'GET /a/*'],
      ['GET', '/b/b', 'GET /{a}/b'],
      ['POST', '/a/b', 'POST /a/{b}'],
      ['GET', '/a/b.c~d-e_f', 'GET /a/b.c~d-e_f'],
      ['GET', '/%C3%A4/c', 'GET /ä/c'],
      ['GET', '/x/1/z', 'GET /x/1/z'],
      ['GET', '/x/1/y', 'GET /x/{id}/y'],
      ['GET', '/x/1', 'none'],
      ['PUT', '/a/b', 'method'],
      ['PATCH', '/x/1/z', 'method'],
      ['GET', '/X/1/Z', 'redirect'],
      ['GET', '/x/1/z/', 'redirect'],
      ['constructor', '/a/b', 'method'],
      ['GET', '/constructor', 'none'],
    ];
    for (const [method, path, to] of cases) equal(found(method, path), to, `${method} ${path}`);
    deepEqual(router.methodsOf('/a/b'), ['GET', 'POST']);
    deepEqual(paramsOf(router.find('GET', '/a/b')), {});
  });

  it('passes the path after the first slash to the catch-all', async () => {
    const router = await routerOf(['GET /__catchall']);
    deepEqual(paramsOf(router.find('POST', '/a%20b/c')), { Wildcard: 'a%20b/c' });
  });

  it('does not check the catch-all for double encoding if that is disabled', async () => {
    const checked = await routerOf(['GET /__catchall']);
    equal(checked.find('GET', '/a%252Fb').kind, 'refused');
    const unchecked = await routerOf(['GET /__catchall'], { disable_path_decoding: true });
    deepEqual(paramsOf(unchecked.find('GET', '/a%252Fb')), { Wildcard: 'a%252Fb' });
  });

  it('checks a variable of any name for double encoding', async () => {
    const router = await routerOf(['GET /u/{wildcard}']);
    deepEqual(paramsOf(router.find('GET', '/u/a%20b')), { Wildcard: 'a b' });
    for (const path of ['/u/a%252Fb', '/u/a%3Fb']) {
      deepEqual(router.find('GET', path), { kind: 'refused', text: 'error: encoded url params' }, path);
    }
  });

  it('accepts a value of any length for a variable', async () => {
    const router = await routerOf(['GET /u/{id}']);
    const id = 'x'.repeat(900_000);
    deepEqual(paramsOf(router.find('GET', `/u/${id}`)), { Id: id });
  });

  it('names the part of a path with invalid percent-encoding', async () => {
    const router = await routerOf([]);
    const cases: [path: string, part: string][] = [
      ['/x%zz1', '%zz'],
      ['/x%4', '%4'],
      ['/x%', '%'],
      ['/%41%4x', '%4x'],
      ['/%ff', '/%ff'],
    ];
    for (const [path, segment] of cases) {
      deepEqual(router.find('GET', path), { kind: 'refused', text: `error: invalid URL escape "${segment}"` }, path);
    }
  });

  it('lists the methods of a path in alphabetical order', async () => {
    const router = await routerOf(['PUT /x/{id}', 'POST /x/*', 'GET /x/{id}']);
    deepEqual(router.find('DELETE', '/x/7'), { kind: 'method', allow: ['GET', 'POST', 'PUT'] });
    deepEqual(router.methodsOf('/x/%37'), ['GET', 'POST', 'PUT']);
  });

  it('includes the method of a wildcard only for paths that it matches', async () => {
    const router = await routerOf(['GET /x/*', 'PUT /x/{id}'], { disable_redirect_fixed_path: true });
    deepEqual(router.find('DELETE', '/x/..'), { kind: 'method', allow: ['PUT'] });
    deepEqual(router.methodsOf('/x//y'), []);
  });

  it('lists no methods for a path with invalid percent-encoding', async () => {
    deepEqual((await routerOf(['GET /x/{id}'])).methodsOf('/x/%zz'), []);
  });

  it('adds a missing slash before a wildcard, even if the correction of letter case is disabled', async () => {
    const router = await routerOf(['GET /f/*', 'GET /v/{id}/'], { disable_redirect_fixed_path: true });
    deepEqual(router.find('GET', '/f'), { kind: 'redirect', path: '/f/', slashOnly: true });
    deepEqual(router.find('GET', '/v/..'), { kind: 'redirect', path: '/v/../', slashOnly: true });
    deepEqual(router.find('GET', '/f/..'), { kind: 'none' });
  });

  it('corrects letter case to the declared path, preferring paths without variables', async () => {
    const router = await routerOf(['GET /Foo/{id}', 'GET /foo/Bar', 'GET /foo/{id}/x', 'GET /FOO/bar', 'GET /Tail/*']);
    const cases: [path: string, to: string | null][] = [
      ['/foO/bAr', '/foo/Bar'],
      ['/fOO/Other', '/Foo/Other'],
      ['/FOO/BAR/', '/foo/Bar'],
      ['/tAil/Some/Thing', '/Tail/Some/Thing'],
      ['/fo/bar', null],
    ];
    for (const [path, to] of cases) {
      const outcome = router.find('GET', path);
      equal(outcome.kind === 'redirect' ? outcome.path : null, to, path);
    }
  });

  it('redirects only to declared paths', async () => {
    const router = await routerOf(['GET /x', 'PUT /y']);
    for (const path of ['/', '//', '/z', '/z/', '/Y']) equal(router.find('GET', path).kind, 'none', path);
  });

  it('lets other work run while its tree is built', async () => {
    const lines = Array.from({ length: 5_000 }, (_none, at) => `GET /${at}/{id}`);
    let turns = 0;
    const turning = setInterval(() => turns++);
    await routerOf(lines);
    clearInterval(turning);
    equal(turns > 0, true);
  });
});
