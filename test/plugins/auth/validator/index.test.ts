import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { claimsSlot, offer, Reply, tokenChecks } from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { rememberingLog } from '../../../support/log.ts';
import { type Gate, issue, makeKeyFiles, makeSigner, openGate, type Signer } from '../fixture.ts';

describe('auth/validator:', () => {
  const files = makeKeyFiles();
  let signer: Signer;
  let path: string;
  let gate: Gate | undefined;

  before(async () => {
    signer = await makeSigner('HS256');
    path = files.write({ keys: [signer.jwk] });
  });
  after(() => files.remove());
  afterEach(async () => {
    mock.timers.reset();
    if (gate) deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    gate = undefined;
  });

  const open = async (config: object = {}, options: Parameters<typeof openGate>[1] = {}) => {
    gate = await openGate({ alg: 'HS256', jwk_local_path: path, ...config }, options);
    return gate;
  };
  const statusOf = async (config: object, claims: object | string) =>
    (await open(config)).status(await issue(signer, claims));

  describe('the source of the token', () => {
    it('is the Authorization header, with or without "Bearer" in any letter case and extra white space', async () => {
      const token = await issue(signer);
      await open();
      for (const value of [
        `Bearer ${token}`,
        `bEaReR ${token}`,
        token,
        `Bearer   ${token} `,
        token.replace('.', ' .'),
      ]) {
        equal((await gate!.send({ headers: { Authorization: value } })).status, 200, value);
      }
      for (const value of ['Bearer', 'Bearer ', 'Basic YTpi', `Token ${token}`]) {
        equal((await gate!.send({ headers: { Authorization: value } })).status, 401, value);
      }
    });

    it('is the cookie access_token if the header is absent or empty', async () => {
      const token = await issue(signer);
      await open();
      for (const cookie of [`access_token=${token}`, `a=b; access_token="${token}"; c=d`]) {
        equal(await gate!.status(undefined, { Cookie: cookie }), 200);
        equal(await gate!.status(undefined, { Cookie: cookie, Authorization: '' }), 200);
      }
    });

    it('is not the cookie if the header is present, even with an invalid token', async () => {
      await open();
      const headers = { Authorization: 'bearer not.a.token', Cookie: `access_token=${await issue(signer)}` };
      equal((await gate!.send({ headers })).status, 401);
    });

    it('can be another header and another cookie', async () => {
      const token = await issue(signer);
      await open({ auth_header_name: 'x-Token', cookie_key: 'sid' });
      equal(await gate!.status(undefined, { 'X-TOKEN': token }), 200);
      equal(await gate!.status(undefined, { Cookie: `sid=${token}` }), 200);
      equal(await gate!.status(token, { Cookie: `access_token=${token}` }), 401);
    });

    it('can contain the JSON form with exactly one signature', async () => {
      const [header, payload, signature] = (await issue(signer)).split('.');
      await open();
      const flat = { payload, protected: header, signature };
      const one = { protected: header, signature };
      equal(await gate!.status(JSON.stringify(flat)), 200);
      equal(await gate!.status(JSON.stringify({ payload, signatures: [one] })), 200);
      for (const bad of [
        { payload, signatures: [one, one] },
        { payload, signatures: [] },
        { payload, signatures: {} },
        { ...flat, signatures: [one] },
        { ...flat, header: { kid: 'HS256' } },
        { payload, signature },
      ]) {
        equal(await gate!.status(JSON.stringify(bad)), 401, JSON.stringify(bad));
      }
      equal(await gate!.status('{'), 401);
    });

    it('can be missing: the response is a 401 with an empty body and no additional header', async () => {
      const reply = await (await open()).send('GET /');
      deepEqual(
        [reply.status, reply.body, reply.data, reply.complete, reply.headers.list],
        [401, null, null, null, []],
      );
    });
  });

  describe('issuer and audience', () => {
    const wants = { issuer: 'me', audience: ['x', 'y'] };
    for (const [claims, status] of [
      [{ iss: 'me', aud: ['x', 'y', 'z'] }, 200],
      [{ iss: 'me', aud: ['x'] }, 401],
      [{ iss: 'me', aud: 'x' }, 401],
      [{ iss: 'me' }, 401],
      [{ iss: 'Me', aud: ['x', 'y'] }, 401],
      [{ iss: ['me'], aud: ['x', 'y'] }, 401],
      [{ aud: ['x', 'y'] }, 401],
      [{ iss: 'me', aud: ['x', 'y', 1] }, 401],
      [{ iss: 'me', aud: { x: 1, y: 1 } }, 401],
    ] as const) {
      it(`respond with ${status} to the claims ${JSON.stringify(claims)}`, async () =>
        equal(await statusOf(wants, claims), status));
    }

    it('must have the correct type even if they are not validated', async () => {
      await open();
      for (const claims of [{ iss: 1 }, { iss: null }, { aud: 1 }, { aud: [1] }, { aud: null }]) {
        equal(await gate!.status(await issue(signer, claims)), 401, JSON.stringify(claims));
      }
    });

    it('accept a string as an audience with one entry', async () =>
      equal(await statusOf({ audience: ['x'] }, { aud: 'x' }), 200));
  });

  describe('time claims', () => {
    const now = 1_800_000_000;
    beforeEach(() => mock.timers.enable({ apis: ['Date'], now: now * 1000 }));

    for (const [claims, leeway, status] of [
      [{ exp: now - 3 }, '1s', 401],
      [{ exp: now - 3 }, '10s', 200],
      [{ exp: now - 1 }, '1s', 200],
      [{ exp: now - 0.5 }, '1s', 200],
      [{ exp: now - 1.9 }, '1s', 401],
      [{ nbf: now + 2 }, '1s', 401],
      [{ nbf: now + 2 }, '2s', 200],
      [{ iat: now + 2 }, '1s', 401],
      [{ iat: now + 1 }, '1s', 200],
      [{}, '1s', 200],
    ] as const) {
      it(`return ${status} at the time ${now} with a leeway of ${leeway} for ${JSON.stringify(claims)}`, async () =>
        equal(await statusOf({ leeway }, claims), status));
    }

    it('are checked for every request, even if the token is cached', async () => {
      const token = await issue(signer, { exp: now + 10 });
      await open();
      equal(await gate!.status(token), 200);
      mock.timers.setTime((now + 12) * 1000);
      equal(await gate!.status(token), 401);
    });

    for (const odd of ['"1900000000"', 'null', 'true', '[1900000000]', '{}', '1e400', '-1e400']) {
      it(`are rejected if exp, nbf or iat is ${odd}`, async () => {
        await open();
        for (const name of ['exp', 'nbf', 'iat']) {
          equal(await gate!.status(await issue(signer, `{"${name}":${odd}}`)), 401, name);
        }
      });
    }
  });

  describe('roles', () => {
    for (const [claims, config, status] of [
      [{ roles: ['a', 'b'] }, {}, 200],
      [{ roles: ['z'] }, {}, 403],
      [{ roles: 'x c' }, {}, 200],
      [{ roles: 'x' }, {}, 403],
      [{ roles: [] }, {}, 403],
      [{ roles: { a: 1 } }, {}, 403],
      [{ roles: 1 }, {}, 403],
      [{ roles: [1, null, 'a'] }, {}, 200],
      [{ roles: [['a']] }, {}, 403],
      [{}, {}, 403],
      [{ r: { s: ['a'] } }, { roles_key: 'r.s', roles_key_is_nested: true }, 200],
      [{ 'r.s': ['a'] }, { roles_key: 'r.s', roles_key_is_nested: true }, 403],
      [{ 'r.s': ['a'] }, { roles_key: 'r.s' }, 200],
      [{ 'http://x.y/roles': ['a'] }, { roles_key: 'http://x.y/roles', roles_key_is_nested: true }, 200],
      [{}, { roles_key: '__proto__.constructor.name', roles_key_is_nested: true, roles: ['Object'] }, 403],
      [{}, { roles_key: 'constructor' }, 403],
    ] as const) {
      it(`return ${status} with ${JSON.stringify(config)} for the claims ${JSON.stringify(claims)}`, async () =>
        equal(await statusOf({ roles: ['a', 'c'], ...config }, claims), status));
    }

    it('are not checked unless configured', async () => equal(await statusOf({ roles: [] }, {}), 200));
  });

  describe('scopes', () => {
    const scopes = ['r', 'w'];
    for (const [claims, config, status] of [
      [{ s: 'r w x' }, { scopes_matcher: 'all' }, 200],
      [{ s: ['r'] }, { scopes_matcher: 'all' }, 403],
      [{ s: ['r'] }, {}, 200],
      [{ s: 'x' }, {}, 403],
      [{}, {}, 403],
      [{ s: '' }, {}, 403],
      [{ s: 1 }, {}, 403],
      [{ a: { b: 'w' } }, { scopes_key: 'a.b' }, 200],
      [{ 'a.b': 'w' }, { scopes_key: 'a.b' }, 403],
      [{ 'http://x.y/s': 'w' }, { scopes_key: 'http://x.y/s' }, 200],
    ] as const) {
      it(`return ${status} with ${JSON.stringify(config)} for the claims ${JSON.stringify(claims)}`, async () =>
        equal(await statusOf({ scopes, scopes_key: 's', ...config }, claims), status));
    }
  });

  describe('propagated claims', () => {
    const endpoint = { input_headers: ['*'] };
    const passOn = async (claims: object | string, pairs: string[][], config: object = {}, headers = {}) => {
      await open({ propagate_claims: pairs, ...config }, { endpoint });
      equal(await gate!.status(await issue(signer, claims), headers), 200);
      return gate!.passed[0]!.client.headers;
    };

    it('replace headers that the client sent, in any spelling', async () => {
      const headers = await passOn({ sub: 'ada' }, [['sub', 'X-User']], {}, { 'x-uSer': 'root' });
      deepEqual(headers.getAll('x-user'), ['ada']);
    });

    it('become an empty header if they are missing, so that clients cannot send their own', async () => {
      const headers = await passOn({}, [['nick', 'X-Nick']], {}, { 'X-Nick': 'root' });
      deepEqual(headers.getAll('x-nick'), ['']);
    });

    for (const [written, text] of [
      ['"a b"', 'a b'],
      ['7', '7'],
      ['7.0000000001', '7'],
      ['-0', '0'],
      ['1.5', '1.500000'],
      ['12345678901234567890', '12345678901234567890'],
      ['1e21', '1000000000000000000000'],
      ['true', 'true'],
      ['null', 'null'],
      ['["a",1,null]', 'a,1,null'],
      ['{"b":1,"a":{"d":2,"c":3}}', '{"a":{"c":3,"d":2},"b":1}'],
    ] as const) {
      it(`are converted to text: ${written} becomes ${text}`, async () =>
        equal((await passOn(`{"c":${written}}`, [['c', 'X-C']])).get('x-c'), text));
    }

    it('are addressed with dots, except for claims whose name is a URL', async () => {
      const claims = { a: { b: 'deep' }, 'a.b': 'flat', 'http://x.y/z': 'url' };
      const headers = await passOn(claims, [
        ['a.b', 'X-A'],
        ['http://x.y/z', 'X-Url'],
        ['__proto__.toString', 'X-Proto'],
        ['constructor', 'X-Constructor'],
      ]);
      deepEqual([...headers].slice(-4), [
        ['X-A', 'deep'],
        ['X-Url', 'url'],
        ['X-Proto', ''],
        ['X-Constructor', ''],
      ]);
    });

    it('become several header values if arrays are kept', async () => {
      const headers = await passOn(
        { r: ['a', 'b,c'], e: [] },
        [
          ['r', 'X-R'],
          ['e', 'X-E'],
        ],
        {
          propagate_claims_preserve_array: true,
        },
      );
      deepEqual([headers.getAll('x-r'), headers.getAll('x-e')], [['a', 'b,c'], ['']]);
    });

    it('never create a second header', async () => {
      const headers = await passOn({ c: 'a\r\nX-Admin: 1\u0000\u0085é' }, [['c', 'X-C']]);
      equal(headers.get('x-c'), Buffer.from('a  X-Admin: 1 \u0085é').toString('latin1'));
      equal(headers.has('x-admin'), false);
    });

    it('reserve the names of their headers, so that similar headers of clients are dropped', async () => {
      await open({ propagate_claims: [['sub', 'X-User']] }, { endpoint });
      deepEqual(gate!.attached.sets, ['X-User']);
    });

    it('are available to other components, read-only', async () => {
      let claims: unknown;
      await open(
        {},
        {
          next: (_request, call) => {
            claims = call.get(claimsSlot);
            return Reply.data({});
          },
        },
      );
      await gate!.status(await issue(signer, { sub: 'ada', a: { b: [1] } }));
      deepEqual(claims, { sub: 'ada', a: { b: [1] } });
      equal(Object.isFrozen((claims as { a: { b: object } }).a.b), true);
    });
  });

  describe('token checks of other components', () => {
    const checked = async (...responses: (() => boolean | Promise<boolean>)[]) => {
      const offers = responses.map((check, at) => offer(tokenChecks, { name: `check ${at}`, check }));
      await open({ roles: ['a'] }, { offers });
      return gate!.status(await issue(signer, { roles: ['a'] }));
    };

    it('must all succeed, whether synchronous or asynchronous', async () =>
      equal(
        await checked(
          () => true,
          async () => true,
        ),
        200,
      ));
    it('reject with 401', async () =>
      equal(
        await checked(
          () => true,
          () => false,
        ),
        401,
      ));
    it('reject if they throw', async () => {
      equal(
        await checked(() => {
          throw new Error('broken');
        }),
        401,
      );
    });

    it('run before the role check', async () => {
      await open({ roles: ['a'] }, { offers: [offer(tokenChecks, { name: 'no', check: () => false })] });
      equal(await gate!.status(await issue(signer)), 401);
    });
  });

  describe('the log', () => {
    it('contains the reason of a rejection if operation_debug is set, but no part of the token', async () => {
      const log = rememberingLog();
      await open({ operation_debug: true }, { services: { log } });
      const token = await issue(signer, { sub: 'secret-name', exp: 1 });
      equal(await gate!.status(token), 401);
      equal(await gate!.status('not.a.token'), 401);
      const errors = log.lines.filter((line) => line.startsWith('ERROR'));
      equal(errors.length, 2);
      match(errors[0]!, /\[JWTValidator\] token refused: the token has expired$/);
      for (const segment of [...token.split('.'), 'secret-name']) equal(log.lines.join().includes(segment), false);
    });

    it('contains no rejections by default', async () => {
      const log = rememberingLog();
      await open({}, { services: { log } });
      equal(await gate!.status('not.a.token'), 401);
      deepEqual(
        log.lines.filter((line) => line.startsWith('ERROR')),
        [],
      );
    });
  });

  describe('the configuration check', () => {
    const base = () => ({ alg: 'HS256', jwk_local_path: path });
    const refusal = async (config: object) => {
      const error: unknown = await openGate(config).then(
        () => null,
        (thrown) => thrown,
      );
      if (!(error instanceof ConfigErrors)) throw new Error('it was not refused');
      return error.errors.map(({ code, pointer }) => `${code} ${pointer}`);
    };

    for (const [what, change, finding] of [
      ['cache with a file', { cache: true }, 'VALIDATOR_CACHE /cache'],
      ['scopes without scopes_key', { scopes: ['a'] }, 'VALIDATOR_SCOPES /scopes'],
      ['a leeway below a second', { leeway: '10ms' }, 'VALIDATOR_DURATION /leeway'],
      ['a cooldown below a second', { failed_jwk_key_cooldown: '10ms' }, 'VALIDATOR_DURATION /failed_jwk_key_cooldown'],
      ['an invalid header name', { auth_header_name: 'a b' }, 'VALIDATOR_HEADER /auth_header_name'],
      [
        'a propagated claim with an invalid header name',
        { propagate_claims: [['a', 'a b']] },
        'VALIDATOR_HEADER /propagate_claims/0/1',
      ],
      [
        'a claim propagated as a framing header',
        { propagate_claims: [['a', 'Content-Length']] },
        'VALIDATOR_HEADER /propagate_claims/0/1',
      ],
      [
        'two claims for one header',
        {
          propagate_claims: [
            ['a', 'X-A'],
            ['b', 'x-a'],
          ],
        },
        'VALIDATOR_HEADER /propagate_claims/1/1',
      ],
      ['a secret_url without a cypher_key', { secret_url: 'base64key://a' }, 'KEYS_SECRET /secret_url'],
      ['a cypher_key without a secret_url', { cypher_key: 'a' }, 'KEYS_SECRET /cypher_key'],
      ['a file that does not exist', { jwk_local_path: '/gone.json' }, 'KEYS_FILE /jwk_local_path'],
      ['a file that is not a key set', { jwk_local_path: 'package.json' }, 'KEYS_FILE /jwk_local_path'],
      ['a file without a key for the algorithm', { alg: 'RS256' }, 'VALIDATOR_KEYS /jwk_local_path'],
      ...['awskms', 'azurekeyvault', 'gcpkms', 'hashivault'].map(
        (scheme) =>
          [
            `keys in ${scheme}`,
            { secret_url: `${scheme}://a`, cypher_key: 'YQ==' },
            'KEYS_SECRET /secret_url',
          ] as const,
      ),
    ] as const) {
      it(`rejects ${what}`, async () => deepEqual(await refusal({ ...base(), ...change }), [finding]));
    }

    for (const change of [
      { alg: 'none' },
      { alg: 'hs256' },
      { jwk_url: 'https://a.test' },
      { jwk_local_path: undefined },
      { key_identify_strategy: 'x' },
      { scopes_matcher: 'some', scopes: ['a'], scopes_key: 's' },
      { propagate_claims: [['a']] },
      { propagate_claims: [['a', 'b', 'c']] },
      { audiences: ['a'] },
      { cipher_suites: [1] },
    ]) {
      it(`rejects ${JSON.stringify(change)}`, () => rejects(openGate({ ...base(), ...change }), ConfigErrors));
    }

    const url = { alg: 'RS256', jwk_url: 'https://a.test/keys' };
    for (const [what, config, finding] of [
      ['an invalid URL', { ...url, jwk_url: 'a' }, 'KEYS_URL /jwk_url'],
      ['a URL with another scheme', { ...url, jwk_url: 'file:///a' }, 'KEYS_URL /jwk_url'],
      ['an invalid fingerprint', { ...url, jwk_fingerprints: ['abc'] }, 'KEYS_PIN /jwk_fingerprints/0'],
      ['a CA file that does not exist', { ...url, jwk_local_ca: '/gone.pem' }, 'KEYS_CA /jwk_local_ca'],
      ['a CA file without a certificate', { ...url, jwk_local_ca: 'package.json' }, 'KEYS_CA /jwk_local_ca'],
      [
        'a secret_url without a local file',
        { ...url, secret_url: 'base64key://a', cypher_key: 'a' },
        'KEYS_SECRET /secret_url',
      ],
      [
        'fingerprints with disabled certificate verification',
        { ...url, disable_jwk_security: true, jwk_fingerprints: [`${'A'.repeat(43)}=`] },
        'KEYS_PIN /jwk_fingerprints',
      ],
    ] as const) {
      it(`rejects ${what}`, async () => deepEqual(await refusal(config), [finding]));
    }

    it('warns about keys over plain HTTP, with which every request is rejected', async () => {
      gate = await openGate({ ...url, jwk_url: 'http://127.0.0.1:9/keys' });
      deepEqual(
        gate.warnings.map(({ code, pointer }) => [code, pointer]),
        [['KEYS_INSECURE', '/jwk_url']],
      );
      equal(await gate.status(await issue(signer)), 401);
    });

    for (const [what, change, code] of [
      ['a propagated header that no backend receives', { propagate_claims: [['a', 'X-A']] }, 'VALIDATOR_HEADER_UNUSED'],
      ['scopes_key without scopes', { scopes_key: 'a' }, 'VALIDATOR_UNUSED'],
      ['roles_key without roles', { roles_key: 'a' }, 'VALIDATOR_UNUSED'],
      ['a fingerprint with a file', { jwk_fingerprints: [`${'A'.repeat(43)}=`] }, 'KEYS_UNUSED'],
    ] as const) {
      it(`warns about ${what}`, async () => {
        await open(change);
        deepEqual(
          gate!.warnings.map((warning) => warning.code),
          [code],
        );
      });
    }

    it('warns about a key shorter than the hash', async () => {
      gate = await openGate({ alg: 'HS256', jwk_local_path: files.write({ keys: [{ kty: 'oct', k: 'YWJj' }] }) });
      deepEqual(
        gate.warnings.map(({ code }) => code),
        ['VALIDATOR_WEAK_KEY'],
      );
    });
  });
});
