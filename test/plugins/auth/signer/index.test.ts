import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { compactVerify, flattenedVerify, importJWK } from 'jose';
import { BackendError, CallError, type ClientRequest, HeaderBag, Reply, refuse, type Step } from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import type { Harness, HarnessOptions } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/signer/index.ts';
import { algorithmNames } from '../../../../plugins/clients/keys/algorithms.ts';
import { openHarness } from '../../../support/harness.ts';
import { rememberingLog } from '../../../support/log.ts';
import { findingsOf, makeKeyFiles, makeSigner, privateJwk, type Signer } from '../fixture.ts';

describe('auth/signer:', () => {
  const files = makeKeyFiles();
  const signers = new Map<string, Signer>();
  let path: string;
  let gate: Harness | undefined;
  let log: ReturnType<typeof rememberingLog>;

  before(async () => {
    for (const alg of algorithmNames) signers.set(alg, await makeSigner(alg));
    path = files.write({ keys: await Promise.all([...signers.values()].map(privateJwk)) });
  });
  after(() => files.remove());
  beforeEach(() => {
    log = rememberingLog();
  });
  afterEach(async () => {
    if (gate) deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    gate = undefined;
  });

  const base = () => ({ alg: 'HS256', kid: 'HS256', keys_to_sign: ['access_token'], jwk_local_path: path });
  const open = async (config: object, options: HarnessOptions = {}) => {
    gate = await openHarness(plugin, 'endpoint', { ...base(), ...config }, { services: { log }, ...options });
    return gate;
  };
  const responding = (reply: Reply | (() => Reply)): HarnessOptions => ({
    next: () => (reply instanceof Reply ? reply : reply()),
  });
  const signed = async (data: object, config: object = {}) => {
    const { body, status } = await (await open(config, responding(Reply.data(data as never)))).send('POST /token');
    equal(status, 200);
    return JSON.parse(Buffer.from(body as Uint8Array).toString());
  };
  const decoded = (encoded: string) => Buffer.from(encoded, 'base64url').toString();
  const payloadOf = async (text: string) => {
    const claims = JSON.parse(text, (_key, value, { source }) =>
      typeof value === 'number' ? JSON.rawJSON(source!) : value,
    );
    return decoded((await signed({ access_token: claims })).access_token.split('.')[1]);
  };

  for (const alg of algorithmNames) {
    it(`signs with ${alg} in compact and JSON form, verifiable by another implementation`, async () => {
      const { key, jwk } = signers.get(alg)!;
      const verifying = key instanceof Uint8Array ? key : await importJWK(jwk, alg);
      for (const full of [false, true]) {
        const { access_token: token } = await signed({ access_token: { sub: 'ada' } }, { alg, kid: alg, full });
        equal(typeof token, 'string');
        const { payload, protectedHeader } = full
          ? await flattenedVerify(JSON.parse(token), verifying)
          : await compactVerify(token, verifying);
        deepEqual(protectedHeader, { alg, kid: alg, typ: 'JWT' });
        equal(Buffer.from(payload).toString(), '{"sub":"ada"}');
      }
    });
  }

  describe('the claims to sign', () => {
    it('are the objects in the configured fields; other fields stay unchanged', async () => {
      const response = await signed(
        { access_token: { sub: 'u1', exp: 2000000000 }, exp: 2000000000 },
        { keys_to_sign: ['access_token', 'refresh_token'] },
      );
      deepEqual(Object.keys(response), ['access_token', 'exp']);
      equal(response.exp, 2000000000);
      const [header, payload, signature] = response.access_token.split('.');
      equal(decoded(header), '{"alg":"HS256","kid":"HS256","typ":"JWT"}');
      equal(decoded(payload), '{"exp":2000000000,"sub":"u1"}');
      match(signature, /^[\w-]{43}$/);
    });

    it('are left unchanged unless they are an object', async () => {
      for (const value of ['already-text', 1, true, null, [{ sub: 'a' }]]) {
        deepEqual(await signed({ access_token: value }), { access_token: value });
        await gate!.close();
      }
      gate = undefined;
    });

    it('are skipped if their field is missing', async () => deepEqual(await signed({ user: 'x' }), { user: 'x' }));

    it('become a string in the JSON form', async () => {
      const { access_token: token } = await signed({ access_token: {} }, { full: true });
      ok(token.startsWith('{"payload":"e30","protected":"'));
      deepEqual(Object.keys(JSON.parse(token)), ['payload', 'protected', 'signature']);
    });

    it('can be nested, with dots in its name', async () => {
      const data = { data: { tokens: { access: { sub: 'u1' }, kind: 'jwt' } }, user: 'x' };
      const { data: signedData, user } = await signed(data, { keys_to_sign: ['data.tokens.access', 'data.tokens'] });
      equal(user, 'x');
      const [, payload] = signedData.tokens.split('.');
      const outer = JSON.parse(decoded(payload));
      deepEqual([outer.kind, decoded(outer.access.split('.')[1])], ['jwt', '{"sub":"u1"}']);
    });

    it('are read from a field with the whole dotted name if the response has one', async () => {
      const data = { 'a.b': { sub: 'flat' }, a: { b: { sub: 'nested' } } };
      const response = await signed(data, { keys_to_sign: ['a.b'] });
      equal(decoded(response['a.b'].split('.')[1]), '{"sub":"flat"}');
      deepEqual(response.a, data.a);
    });

    for (const data of [{ a: 1 }, { a: [{ b: {} }] }, { a: { b: 'text' } }, { a: {} }, { a: null }]) {
      it(`leave ${JSON.stringify(data)} without a nested object as it is`, async () =>
        deepEqual(
          await signed(data, { keys_to_sign: ['a.b', 'constructor.prototype', '__proto__.x', 'a..b', '.'] }),
          data,
        ));
    }

    it('can be an empty object, which is signed without additions', async () => equal(await payloadOf('{}'), '{}'));

    it('are serialized with sorted keys at every depth, including numeric keys', async () =>
      equal(
        await payloadOf('{"b":[{"z":1,"a":2}],"10":1,"9":{"d":1,"c":2},"-":0}'),
        '{"-":0,"10":1,"9":{"c":2,"d":1},"b":[{"a":2,"z":1}]}',
      ));

    it('are serialized with HTML characters escaped, even in keys', async () =>
      equal(await payloadOf('{"<&>":"</script>&"}'), '{"\\u003c\\u0026\\u003e":"\\u003c/script\\u003e\\u0026"}'));

    it('keep the digits of numbers', async () =>
      equal(
        await payloadOf('{"exp":1735689600,"big":12345678901234567890,"long":0.1234567890123456789}'),
        '{"big":12345678901234567890,"exp":1735689600,"long":0.1234567890123456789}',
      ));

    it('with names like __proto__ are plain data', async () =>
      equal(
        await payloadOf('{"constructor":1,"__proto__":{"admin":true},"toString":"a"}'),
        '{"__proto__":{"admin":true},"constructor":1,"toString":"a"}',
      ));

    it('are not read from the object prototype', async () => {
      const names = ['__proto__', 'constructor'];
      deepEqual(await signed({ user: 'x' }, { keys_to_sign: names }), { user: 'x' });
      await gate!.close();
      const response = await signed(JSON.parse('{"__proto__":{"sub":"a"}}'), { keys_to_sign: names });
      match(Object.getOwnPropertyDescriptor(response, '__proto__')!.value, /^\w+\.\w+\.[\w-]+$/);
    });

    it('are signed with another "typ" if configured', async () => {
      const { access_token: token } = await signed({ access_token: {} }, { typ: 'at+jwt' });
      equal(decoded(token.split('.')[0]), '{"alg":"HS256","kid":"HS256","typ":"at+jwt"}');
    });

    it('are not modified in place, because other components can share them', async () => {
      const data = { access_token: { sub: 'ada' } };
      await signed(data);
      deepEqual(data, { access_token: { sub: 'ada' } });
    });
  });

  describe('the response', () => {
    it('has the status and the first value of each header, and forbids caching', async () => {
      const reply = () => {
        const made = Reply.data({ access_token: {} });
        made.status = 201;
        made.headers = new HeaderBag(['X-A', '1', 'x-a', '2', 'Cache-Control', 'public, max-age=60', 'X-B', '3']);
        return made;
      };
      const { status, headers, complete } = await (await open({}, responding(reply))).send('POST /token');
      deepEqual(
        [status, headers.list, complete],
        [
          201,
          ['X-A', '1', 'X-B', '3', 'Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
          null,
        ],
      );
    });

    for (const [what, reply, line] of [
      [
        'a failed backend',
        () => Reply.failed(new BackendError('TEST', 'invalid status code 401', { upstreamStatus: 401 })),
        'Proxy response: invalid status code 401',
      ],
      [
        'a response with data and an error',
        () => Object.assign(Reply.data({ access_token: {} }, false), { errors: [new CallError('TEST', 'one failed')] }),
        'Proxy response: one failed',
      ],
      [
        'an incomplete response',
        () => Reply.data({ access_token: {} }, false),
        'Proxy response: the response is incomplete',
      ],
      ['an empty response', () => Reply.data(null), 'Empty proxy response'],
    ] as const) {
      it(`is 400 without a body for ${what}`, async () => {
        const { status, body, data, headers, complete, errors } = await (await open({}, responding(reply))).send(
          'POST /',
        );
        deepEqual([status, body, data, headers.list, complete, errors], [400, null, null, [], null, []]);
        ok(log.lines.includes(`ERROR [JWTSigner] ${line}`), log.lines.join('\n'));
      });
    }

    it('is 400 if claims are nested too deeply to be serialized', async () => {
      let claims: object = {};
      for (let depth = 0; depth < 100_000; depth++) claims = { a: claims };
      await open({}, responding(Reply.data({ access_token: claims } as never)));
      equal((await gate!.send('POST /')).status, 400);
      ok(log.lines.some((line) => line.startsWith('ERROR [JWTSigner] Signing fields: ')));
    });

    it('is the original error response if another component, such as a rate limiter, rejects the request', async () => {
      const limit: Step<ClientRequest> = () => refuse(429, { headers: new HeaderBag(['Retry-After', '1']) });
      await open({});
      const reply = await gate!.attached.endpoint!(limit)({} as never, {} as never);
      deepEqual([reply.status, reply.headers.get('retry-after')], [429, '1']);
    });

    it('is logged without claims and keys', async () => {
      await signed({ access_token: { secret: 'of-ada' } });
      const text = log.lines.join('\n');
      ok(text.includes('Signer enabled'));
      equal(text.includes('of-ada'), false);
    });
  });

  describe('the configuration check', () => {
    const rsa = async () => [await privateJwk(signers.get('RS256')!), signers.get('RS256')!.jwk] as const;

    for (const [what, change, finding] of [
      ['a key ID that is not in the file', { kid: 'nope' }, 'SIGNER_KEY /kid'],
      ['a key of another type', { alg: 'RS256' }, 'SIGNER_KEY /alg'],
      ['a key for another curve', { alg: 'ES384', kid: 'ES256' }, 'SIGNER_KEY /alg'],
      ['a file that does not exist', { jwk_local_path: '/gone.json' }, 'KEYS_FILE /jwk_local_path'],
      ['a file that is not a key set', { jwk_local_path: 'package.json' }, 'KEYS_FILE /jwk_local_path'],
      ['a secret_url without a cypher_key', { secret_url: 'base64key://a' }, 'KEYS_SECRET /secret_url'],
    ] as const) {
      it(`rejects ${what}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'endpoint', { ...base(), ...change })), [finding]));
    }

    it('reports a missing key ID and suggests a similar one', async () => {
      const error = await openHarness(plugin, 'endpoint', { ...base(), kid: 'HS265' }).catch((thrown) => thrown);
      match(error.errors[0].message, /the key set does not contain the key "HS265"/);
      match(error.errors[0].hint, /did you mean "HS256"/);
    });

    it('rejects a public key', async () => {
      const [, jwk] = await rsa();
      const config = { ...base(), alg: 'RS256', kid: 'RS256', jwk_local_path: files.write({ keys: [jwk] }) };
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), ['SIGNER_KEY /kid']);
    });

    it('rejects incomplete and empty private keys', async () => {
      const [{ p: _p, ...broken }] = await rsa();
      for (const [alg, jwk] of [
        ['RS256', broken],
        ['HS256', { kty: 'oct', kid: 'RS256', k: '' }],
      ] as const) {
        const config = { ...base(), alg, kid: 'RS256', jwk_local_path: files.write({ keys: [jwk] }) };
        deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), ['SIGNER_KEY /kid']);
      }
    });

    it('rejects a private key whose public part does not match', async () => {
      const { d: _d, ...shown } = await privateJwk(signers.get('ES256')!);
      const { d } = await privateJwk(await makeSigner('ES256'));
      const config = {
        ...base(),
        alg: 'ES256',
        kid: 'ES256',
        jwk_local_path: files.write({ keys: [{ ...shown, d }] }),
      };
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), ['SIGNER_KEY /kid']);
    });

    it('rejects an RSA key that is too short for the hash', async () => {
      const { generateKeyPairSync } = await import('node:crypto');
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
      const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'short' };
      const config = { ...base(), alg: 'PS512', kid: 'short', jwk_local_path: files.write({ keys: [jwk] }) };
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), ['SIGNER_KEY /kid']);
    });

    for (const change of [
      { alg: 'none' },
      { alg: 'hs256' },
      { kid: '' },
      { keys_to_sign: [] },
      { keys_to_sign: ['a', 'a'] },
      { keys_to_sign: 'a' },
      { jwk_url: 'https://a.test' },
      { full: 'yes' },
      { unknown: 1 },
    ]) {
      it(`rejects ${JSON.stringify(change)}`, () =>
        rejects(openHarness(plugin, 'endpoint', { ...base(), ...change }), ConfigErrors));
    }

    for (const field of ['alg', 'kid', 'keys_to_sign', 'jwk_local_path']) {
      it(`rejects a configuration without ${field}`, () =>
        rejects(openHarness(plugin, 'endpoint', { ...base(), [field]: undefined }), ConfigErrors));
    }

    for (const [what, change, options, finding] of [
      ['an output encoding other than JSON', {}, { endpoint: { output_encoding: 'xml' } }, 'SIGNER_OUTPUT '],
      ['a leeway', { leeway: '5s' }, {}, 'OPTION_UNUSED /leeway'],
      ['a CA certificate with a local file', { jwk_local_ca: 'a.pem' }, {}, 'KEYS_UNUSED /jwk_local_ca'],
    ] as const) {
      it(`warns about ${what}`, async () => {
        await open(change, options);
        deepEqual(
          gate!.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
          [finding],
        );
      });
    }

    it('warns about a symmetric key shorter than the hash', async () => {
      await open({ kid: 'a', jwk_local_path: files.write({ keys: [{ kty: 'oct', kid: 'a', k: 'YWJj' }] }) });
      deepEqual(
        gate!.warnings.map(({ code }) => code),
        ['SIGNER_WEAK_KEY'],
      );
    });
  });
});
