import { deepEqual, equal } from 'node:assert/strict';
import type { OwnRoute, RouterOptions } from '#contract';
import { OwnRoutes } from '../../../kernel/server/routing/destinations.ts';

describe('the routes of built-in endpoints', () => {
  const routes = [
    { method: 'GET', path: '/health' },
    { method: 'GET', path: '/both' },
    { method: 'POST', path: '/both' },
    { path: '/any' },
    { path: '/below/*' },
    { method: 'PUT', path: '/narrow/*' },
    { method: 'GET', path: '/dir/' },
  ] as unknown as OwnRoute[];
  const ownRoutes = (options: Partial<RouterOptions> = {}) => new OwnRoutes(routes, options as RouterOptions);

  const results: [line: string, path: string | undefined][] = [
    ['GET /health', '/health'],
    ['POST /health', undefined],
    ['GET /health/', undefined],
    ['POST /both', '/both'],
    ['DELETE /any', '/any'],
    ['GET /below/', '/below/*'],
    ['DELETE /below/a/b', '/below/*'],
    ['GET /below', undefined],
    ['PUT /narrow/a', '/narrow/*'],
    ['GET /narrow/a', undefined],
  ];
  for (const [line, path] of results) {
    it(`are found as ${path ?? 'nothing'} for ${line}`, () => {
      const [method, target] = line.split(' ') as [string, string];
      equal(ownRoutes().find(method, target)?.path, path);
    });
  }

  it('have the method of the request if they support several', () => {
    equal(ownRoutes().find('GET', '/both')?.method, 'GET');
    equal(ownRoutes().find('POST', '/both')?.method, 'POST');
  });

  const redirect = (path: string) => ({ kind: 'redirect', path, slashOnly: true });
  const near: [path: string, outcome: object | undefined][] = [
    ['/both', { kind: 'method', allow: ['GET', 'POST'] }],
    ['/narrow/a', { kind: 'method', allow: ['PUT'] }],
    ['/health/', redirect('/health')],
    ['/dir', redirect('/dir/')],
    ['/below', redirect('/below/')],
    ['/any/', redirect('/any')],
    ['/other', undefined],
    ['/other/below', undefined],
    ['/health/x', undefined],
  ];
  for (const [path, outcome] of near) {
    it(`suggest ${outcome ? JSON.stringify(outcome) : 'nothing'} near ${path}`, () => {
      deepEqual(ownRoutes().near(path), outcome);
    });
  }

  it('list no methods under disable_handle_method_not_allowed', () => {
    equal(ownRoutes({ disable_handle_method_not_allowed: true }).near('/both'), undefined);
  });

  it('are the target of redirects unless both kinds of redirects are disabled', () => {
    for (const one of [{ disable_redirect_trailing_slash: true }, { disable_redirect_fixed_path: true }]) {
      deepEqual(ownRoutes(one).near('/health/'), redirect('/health'));
    }
    const both = { disable_redirect_trailing_slash: true, disable_redirect_fixed_path: true };
    equal(ownRoutes(both).near('/health/'), undefined);
  });
});
