import { deepEqual, equal, rejects } from 'node:assert/strict';
import { HeaderBag, makeRequest } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/cors/index.ts';
import { originTest } from '../../../../plugins/security/cors/origins.ts';
import { preflight } from './fixture.ts';

async function requested(config: object, headers: Record<string, string | string[]>) {
  const gate = await openHarness(plugin, 'service', config);
  const lines = Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
  const { headers: given } = await gate.send(makeRequest({ method: 'OPTIONS', headers: new HeaderBag(lines) }));
  await gate.close();
  return given;
}

describe('an origin in security/cors', () => {
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

  it('is always allowed by "*" and by an empty list', () => {
    deepEqual([originTest(['https://a.io', '*']), originTest([])], [null, null]);
  });
});

describe('a preflight response of security/cors', () => {
  const all = { allow_origins: ['*'] };
  const naming = (names: string | string[]) => preflight('GET', { 'Access-Control-Request-Headers': names });

  it('allows GET, HEAD and POST by default, and OPTIONS always', async () => {
    for (const [method, isAllowed] of [
      ['GET', true],
      ['HEAD', true],
      ['POST', true],
      ['OPTIONS', true],
      ['PUT', false],
      ['get', false],
    ] as const) {
      equal(
        (await requested(all, preflight(method))).get('access-control-allow-methods'),
        isAllowed ? method : undefined,
      );
    }
  });

  for (const allow_headers of [undefined, [], ['*'], ['X-A', '*']]) {
    it(`allows every header with allow_headers ${JSON.stringify(allow_headers)}`, async () => {
      const given = await requested({ ...all, ...(allow_headers && { allow_headers }) }, naming('X-B, x-c'));
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
    it(`${allowed ? 'allows' : 'rejects'} the headers ${JSON.stringify(names)} if X-A and X-B are allowed`, async () => {
      const given = await requested({ ...all, allow_headers: ['X-A', 'X-B'] }, naming(names as string));
      equal(given.get('access-control-allow-headers')?.trim(), allowed);
      equal(given.has('access-control-allow-origin'), allowed !== undefined);
    });
  }

  it('lists no headers if none are requested', async () => {
    equal((await requested(all, naming(' , '))).has('access-control-allow-headers'), false);
  });

  it('has no CORS headers for a request without an origin', async () => {
    const given = await requested(all, { 'Access-Control-Request-Method': 'GET' });
    deepEqual(
      [...given].map(([name]) => name),
      ['Vary'],
    );
  });

  it('allows credentials together with the specific origin', async () => {
    const given = await requested({ allow_origins: ['http*'], allow_credentials: true }, preflight('GET'));
    equal(given.get('access-control-allow-credentials'), 'true');
    equal(given.get('access-control-allow-origin'), 'https://a.io');
  });

  it('allows a private network if configured and requested', async () => {
    const asking = preflight('GET', { 'Access-Control-Request-Private-Network': 'true' });
    const name = 'access-control-allow-private-network';
    const given = await requested({ ...all, allow_private_network: true }, asking);
    equal(given.get(name), 'true');
    equal(given.get('vary')!.endsWith(', Access-Control-Request-Private-Network'), true);
    equal((await requested({ ...all, allow_private_network: true }, preflight('GET'))).has(name), false);
    const other = await requested(all, asking);
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
    it(`has the max age ${seconds ?? 'unset'} for ${max_age}`, async () => {
      equal((await requested({ ...all, max_age }, preflight('GET'))).get('access-control-max-age'), seconds);
    });
  }
});

describe('check of security/cors', () => {
  const at = (config: object, level: 'service' | 'endpoint' = 'service') => openHarness(plugin, level, config);

  for (const [what, config, code, pointer] of [
    ['two wildcards in one origin', { allow_origins: ['https://a.io', '*.*'] }, 'CORS_ORIGIN', '/allow_origins/1'],
    ['an invalid allowed header', { allow_origins: ['*'], allow_headers: ['X A'] }, 'CORS_HEADER', '/allow_headers/0'],
    ['an invalid exposed header', { allow_origins: ['*'], expose_headers: [''] }, 'CORS_HEADER', '/expose_headers/0'],
    ['missing origins at the root', {}, 'CORS_ORIGINS', ''],
  ] as const) {
    it(`rejects ${what}`, async () => {
      await rejects(at(config), ({ errors: [error] }) => {
        deepEqual([error.code, error.pointer], [code, pointer]);
        return true;
      });
    });
  }

  for (const [what, wrong] of Object.entries({
    'a lowercase method': { allow_methods: ['get'] },
    'a malformed duration': { max_age: 'soon' },
    'a number instead of a duration': { max_age: 60 },
    'a status other than 2xx': { options_success_status: 302 },
    'a string instead of a list of origins': { allow_origins: '*' },
    'an unknown field': { allowed_origins: ['*'] },
  })) {
    it(`rejects ${what}`, () => rejects(at({ allow_origins: ['*'], ...wrong }), { code: 'CONFIG_INVALID' }));
  }

  for (const [what, config, code, pointer] of [
    [
      'credentials for every origin',
      { allow_origins: ['*'], allow_credentials: true },
      'CORS_CREDENTIALS',
      '/allow_credentials',
    ],
    [
      'an origin in a list that contains "*"',
      { allow_origins: ['*', 'https://a.io'] },
      'CORS_UNUSED',
      '/allow_origins/1',
    ],
    ['an origin without scheme', { allow_origins: ['a.io'] }, 'CORS_ORIGIN_NEVER', '/allow_origins/0'],
    ['an origin with a path', { allow_origins: ['https://a.io/'] }, 'CORS_ORIGIN_NEVER', '/allow_origins/0'],
    ['a max age below one second', { allow_origins: ['*'], max_age: '10ms' }, 'CORS_MAX_AGE', '/max_age'],
    [
      'a status that the router determines',
      { allow_origins: ['*'], options_passthrough: true, options_success_status: 200 },
      'CORS_UNUSED',
      '/options_success_status',
    ],
  ] as const) {
    it(`warns about ${what}`, async () => {
      const gate = await at(config);
      deepEqual(
        gate.warnings.map((warning) => [warning.code, warning.pointer]),
        [[code, pointer]],
      );
    });
  }

  it('does not warn about origins that browsers send', async () => {
    const gate = await at({ allow_origins: ['null', 'http://localhost:3000', 'app://-', 'https://*.a.io', '*.a.io'] });
    deepEqual(gate.warnings, []);
  });
});
