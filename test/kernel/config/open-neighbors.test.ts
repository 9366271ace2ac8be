import { deepEqual, match, ok } from 'node:assert/strict';
import { cost } from '../../support/cost.ts';
import { normalize } from '../../support/known.ts';
import { finding, findings, service } from './findings.ts';

const CODE = 'ROUTE_PATH_PARAMETERS';
const guarded = { extra_config: { 'auth/basic': { htpasswd_path: 'users' } } };
const elsewhere = { backend: [{ url_pattern: '/', host: ['http://other.test'] }] };

describe('an unprotected endpoint that also matches paths of a protected one', () => {
  const wild = { endpoint: '/area/private/*', ...guarded };

  it('is reported if it serves the protected path with path parameters', () => {
    const { pointer, message, hint, related } = finding(service([wild, { endpoint: '/area/*' }]), CODE);
    deepEqual([pointer, related], ['/endpoints/1/endpoint', ['/endpoints/0/endpoint']]);
    match(
      message,
      /^GET \/area\/\* serves \/area\/private;a=b\/x without the access control of GET \/area\/private\/\*:/,
    );
    match(hint!, /"path_parameters": "refuse"/);
  });

  for (const [what, neighbor, path] of [
    ['the catch-all', { endpoint: '/__catchall' }, '/area;a=b/private/x'],
    ['a variable', { endpoint: '/area/{name}/{id}' }, '/area/private;a=b/x'],
    ['every method', { endpoint: '/area/*', method: 'ANY' }, '/area/private;a=b/x'],
  ] as const) {
    it(`is reported: ${what}`, () => ok(finding(service([wild, neighbor]), CODE).message.includes(` ${path} `)));
  }

  for (const [protected_, open, path] of [
    ['/area/private/*', '/area/{name}/y', '/area/private;a=b/y'],
    ['/area/{id}/x', '/{any}/fixed/x', '/area;a=b/fixed/x'],
    ['/area/private/*', '/area/{name}/y/*', '/area/private;a=b/y/x'],
    ['/{tenant}/private', '/{tenant}/{any}', '/x/private;a=b'],
  ] as const) {
    it(`is reported: ${open} if ${protected_} is protected`, () => {
      const { message } = finding(service([{ endpoint: protected_, ...guarded }, { endpoint: open }]), CODE);
      ok(message.includes(` ${path} `), message);
    });
  }

  it('is not reported if other protected endpoints match all such paths', () => {
    const other = { endpoint: '/area/{name}/*', ...guarded };
    const third = { endpoint: '/{name}/private/*', ...guarded };
    deepEqual(findings(service([wild, other, third, { endpoint: '/area/*' }]), CODE), []);
  });

  it('is reported once for several protected endpoints', () => {
    const more = [wild, { endpoint: '/area/admin', ...guarded }, { endpoint: '/area/*' }];
    match(finding(service(more), CODE).message, /GET \/area\/private\/\* and 1 more:/);
  });

  for (const [what, endpoints, fields] of [
    ['has access control itself', [wild, { endpoint: '/area/*', ...guarded }]],
    ['has another method', [{ ...wild, method: 'POST' }, { endpoint: '/area/*' }]],
    ['has backends on other hosts', [wild, { endpoint: '/area/*', ...elsewhere }]],
    ['has other fixed segments', [wild, { endpoint: '/area/private/x' }, { endpoint: '/b/*' }]],
    [
      'gets no such request',
      [wild, { endpoint: '/area/*' }],
      { extra_config: { router: { path_parameters: 'refuse' } } },
    ],
  ] as const) {
    it(`is not reported if it ${what}`, () => deepEqual(findings(service(endpoints, fields), CODE), []));
  }

  it('is searched for in time proportional to the endpoints', () => {
    const large = (count: number) =>
      service(
        Array.from({ length: count }, (_, at) => [
          { endpoint: `/a${at}/private/*`, ...guarded },
          { endpoint: `/a${at}/{x}/y` },
        ]).flat(),
      );
    const costOf = (count: number) => cost(() => void normalize(large(count)));
    const small = costOf(300);
    ok(costOf(2400) < 30 * small, 'eight times the endpoints, thirty times the time');
  });
});
