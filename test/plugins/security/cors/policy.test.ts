import { deepEqual, equal, rejects } from 'node:assert/strict';
import { HeaderBag, makeRequest } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/cors/index.ts';
import { originTest } from '../../../../plugins/security/cors/origins.ts';
import { preflight } from './fixture.ts';

async function asked(config: object, headers: Record<string, string | string[]>) {
  const gate = await openHarness(plugin, 'service', config);
  const lines = Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
  const { headers: given } = await gate.send(makeRequest({ method: 'OPTIONS', headers: new HeaderBag(lines) }));
  await gate.close();
  return given;
}

describe('an origin', () => {
  for (const [entry, origin, isAllowed] of [
    ['https://a.io', 'https://a.io', true],
    ['https://a.io', 'HTTPS://A.IO', true],
    ['HTTPS://A.IO', 'https://a.io', true],
    ['https://a.io', 'https://a.io.evil.io', false],
    ['https://*.a.io', 'https://b.c.a.io', true],
    ['https://*.a.io', 'https://a.io', false],
    ['https://*.a.io', 'http://b.a.io', false],
    ['http://a*a', 'http://a', false],
    ['http://a*a', 'http://aa', true],
    ['http*', 'https://a.io:8443', true],
    ['null', 'null', true],
    ['https://a.io', '__proto__', false],
  ] as const) {
    it(`"${origin}" is ${isAllowed ? '' : 'not '}allowed by "${entry}"`, () => {
      equal(originTest([entry])!(origin), isAllowed);
    });
  }

  it('of any kind is allowed by "*" and by an empty list', () => {
    deepEqual([originTest(['https://a.io', '*']), originTest([])], [null, null]);
  });
});

describe('the answer to a preflight', () => {
  const all = { allow_origins: ['*'] };
  const naming = (names: string | string[]) => preflight('GET', { 'Access-Control-Request-Headers': names });

  it('allows GET, HEAD and POST where no methods are given, and OPTIONS always', async () => {
    for (const [method, isAllowed] of [
      ['GET', true],
      ['HEAD', true],
      ['POST', true],
      ['OPTIONS', true],
      ['PUT', false],
      ['get', false],
    ] as const) {
      equal((await asked(all, preflight(method))).get('access-control-allow-methods'), isAllowed ? method : undefined);
    }
  });

  for (const allow_headers of [undefined, [], ['*'], ['X-A', '*']]) {
    it(`allows every header with allow_headers ${JSON.stringify(allow_headers)}`, async () => {
      const given = await asked({ ...all, ...(allow_headers && { allow_headers }) }, naming('X-B, x-c'));
      equal(given.get('access-control-allow-headers'), 'X-B, x-c');
    });
  }

  for (const [names, allowed] of [
    ['x-a', 'x-a'],
    ['X-A,x-b', 'X-A,x-b'],
    [' x-a ,, origin', 'x-a ,, origin'],
    ['x-c', undefined],
    ['x-a, x-c', undefined],
    ['x-a b', undefined],
    [['x-a', 'x-b'], 'x-a, x-b'],
    [['x-a', 'x-c'], undefined],
  ] as const) {
    it(`${allowed ? 'allows' : 'refuses'} the headers ${JSON.stringify(names)} where X-A and X-B are allowed`, async () => {
      const given = await asked({ ...all, allow_headers: ['X-A', 'X-B'] }, naming(names as string));
      equal(given.get('access-control-allow-headers')?.trim(), allowed);
      equal(given.has('access-control-allow-origin'), allowed !== undefined);
    });
  }

  it('names no headers if none are requested', async () => {
    equal((await asked(all, naming(' , '))).has('access-control-allow-headers'), false);
  });

  it('says nothing without an origin', async () => {
    const given = await asked(all, { 'Access-Control-Request-Method': 'GET' });
    deepEqual(
      [...given].map(([name]) => name),
      ['Vary'],
    );
  });

  it('allows configured credentials, together with the origin itself', async () => {
    const given = await asked({ allow_origins: ['http*'], allow_credentials: true }, preflight('GET'));
    equal(given.get('access-control-allow-credentials'), 'true');
    equal(given.get('access-control-allow-origin'), 'https://a.io');
  });

  it('allows a private network where that is allowed and asked for', async () => {
    const asking = preflight('GET', { 'Access-Control-Request-Private-Network': 'true' });
    const name = 'access-control-allow-private-network';
    const given = await asked({ ...all, allow_private_network: true }, asking);
    equal(given.get(name), 'true');
    equal(given.get('vary')!.endsWith(', Access-Control-Request-Private-Network'), true);
    equal((await asked({ ...all, allow_private_network: true }, preflight('GET'))).has(name), false);
    const other = await asked(all, asking);
    deepEqual([other.has(name), other.get('vary')!.includes('Private')], [false, false]);
  });

  for (const [max_age, seconds] of [
    ['0s', undefined],
    ['90s', '90'],
    ['1500ms', '1'],
    ['12h', '43200'],
    ['-1s', '0'],
    ['-5m', '0'],
  ] as const) {
    it(`may be remembered for ${max_age}: ${seconds ?? 'nothing is said'}`, async () => {
      equal((await asked({ ...all, max_age }, preflight('GET'))).get('access-control-max-age'), seconds);
    });
  }
});

describe('check of security/cors', () => {
  const at = (config: object, level: 'service' | 'endpoint' = 'service') => openHarness(plugin, level, config);

  for (const [what, config, code, pointer] of [
    ['two wildcards in one origin', { allow_origins: ['https://a.io', '*.*'] }, 'CORS_ORIGIN', '/allow_origins/1'],
    ['a header that is no name', { allow_origins: ['*'], allow_headers: ['X A'] }, 'CORS_HEADER', '/allow_headers/0'],
    [
      'a shown header that is no name',
      { allow_origins: ['*'], expose_headers: [''] },
      'CORS_HEADER',
      '/expose_headers/0',
    ],
    ['no origins at the service', {}, 'CORS_ORIGINS', ''],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await rejects(at(config), ({ errors: [error] }) => {
        deepEqual([error.code, error.pointer], [code, pointer]);
        return true;
      });
    });
  }

  for (const [what, wrong] of Object.entries({
    'a method in lower case': { allow_methods: ['get'] },
    'a duration that cannot be read': { max_age: 'soon' },
    'a number for a duration': { max_age: 60 },
    'a status that is no success': { options_success_status: 302 },
    'an origin that is no list': { allow_origins: '*' },
    'an unknown field': { allowed_origins: ['*'] },
  })) {
    it(`refuses ${what}`, () => rejects(at({ allow_origins: ['*'], ...wrong }), { code: 'CONFIG_INVALID' }));
  }

  for (const [what, config, code, pointer] of [
    [
      'credentials for every origin',
      { allow_origins: ['*'], allow_credentials: true },
      'CORS_CREDENTIALS',
      '/allow_credentials',
    ],
    ['an origin beside "*"', { allow_origins: ['*', 'https://a.io'] }, 'CORS_UNUSED', '/allow_origins/1'],
    ['an origin without scheme', { allow_origins: ['a.io'] }, 'CORS_ORIGIN_NEVER', '/allow_origins/0'],
    ['an origin with a path', { allow_origins: ['https://a.io/'] }, 'CORS_ORIGIN_NEVER', '/allow_origins/0'],
    ['less than a second', { allow_origins: ['*'], max_age: '10ms' }, 'CORS_MAX_AGE', '/max_age'],
    [
      'a status that the router decides',
      { allow_origins: ['*'], options_passthrough: true, options_success_status: 200 },
      'CORS_UNUSED',
      '/options_success_status',
    ],
  ] as const) {
    it(`warns of ${what}`, async () => {
      const gate = await at(config);
      deepEqual(
        gate.warnings.map((warning) => [warning.code, warning.pointer]),
        [[code, pointer]],
      );
    });
  }

  it('warns of nothing in origins that browsers send', async () => {
    const gate = await at({ allow_origins: ['null', 'http://localhost:3000', 'app://-', 'https://*.a.io', '*.a.io'] });
    deepEqual(gate.warnings, []);
  });
});
