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

describe('auth/signer', () => {
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
    it(`signs with ${alg} what another implementation verifies, in both forms`, async () => {
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

  describe('the signed value', () => {
    it('case 1: objects of the named fields become tokens, the rest stays', async () => {
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

    it('case 2: stays as it is unless it is an object', async () => {
      for (const value of ['already-text', 1, true, null, [{ sub: 'a' }]]) {
        deepEqual(await signed({ access_token: value }), { access_token: value });
        await gate!.close();
      }
      gate = undefined;
    });

    it('case 3: a field that is missing is passed over', async () =>
      deepEqual(await signed({ user: 'x' }), { user: 'x' }));

    it('case 8: the JSON form is a text', async () => {
      const { access_token: token } = await signed({ access_token: {} }, { full: true });
      ok(token.startsWith('{"payload":"e30","protected":"'));
      deepEqual(Object.keys(JSON.parse(token)), ['payload', 'protected', 'signature']);
    });

    it('signs an empty object, and adds nothing to it', async () => equal(await payloadOf('{}'), '{}'));

    it('sorts keys at every depth, those that look like numbers too', async () =>
      equal(
        await payloadOf('{"b":[{"z":1,"a":2}],"10":1,"9":{"d":1,"c":2},"-":0}'),
        '{"-":0,"10":1,"9":{"c":2,"d":1},"b":[{"a":2,"z":1}]}',
      ));

    it('escapes what could end a script element, in keys too', async () =>
      equal(await payloadOf('{"<&>":"</script>&"}'), '{"\\u003c\\u0026\\u003e":"\\u003c/script\\u003e\\u0026"}'));

    it('keeps the digits of numbers', async () =>
      equal(
        await payloadOf('{"exp":1735689600,"big":12345678901234567890,"long":0.1234567890123456789}'),
        '{"big":12345678901234567890,"exp":1735689600,"long":0.1234567890123456789}',
      ));

    it('signs claims named like parts of the prototype as plain data', async () =>
      equal(
        await payloadOf('{"constructor":1,"__proto__":{"admin":true},"toString":"a"}'),
        '{"__proto__":{"admin":true},"constructor":1,"toString":"a"}',
      ));

    it('does not take what the prototype has for a field', async () => {
      const names = ['__proto__', 'constructor'];
      deepEqual(await signed({ user: 'x' }, { keys_to_sign: names }), { user: 'x' });
      await gate!.close();
      const response = await signed(JSON.parse('{"__proto__":{"sub":"a"}}'), { keys_to_sign: names });
      match(Object.getOwnPropertyDescriptor(response, '__proto__')!.value, /^\w+\.\w+\.[\w-]+$/);
    });

    it('writes another typ where one is given', async () => {
      const { access_token: token } = await signed({ access_token: {} }, { typ: 'at+jwt' });
      equal(decoded(token.split('.')[0]), '{"alg":"HS256","kid":"HS256","typ":"at+jwt"}');
    });

    it('leaves the data it was given alone: others may have it', async () => {
      const data = { access_token: { sub: 'ada' } };
      await signed(data);
      deepEqual(data, { access_token: { sub: 'ada' } });
    });
  });

  describe('the response', () => {
    it('has the status and the first value of each header, and is never kept by caches', async () => {
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
        'a backend that fails',
        () => Reply.failed(new BackendError('TEST', 'invalid status code 401', { upstreamStatus: 401 })),
        'Proxy response: invalid status code 401',
      ],
      [
        'an answer with an error beside data',
        () => Object.assign(Reply.data({ access_token: {} }, false), { errors: [new CallError('TEST', 'one failed')] }),
        'Proxy response: one failed',
      ],
      [
        'an answer that is not complete',
        () => Reply.data({ access_token: {} }, false),
        'Proxy response: it is not complete',
      ],
      ['an answer of nothing', () => Reply.data(null), 'Empty proxy response'],
    ] as const) {
      it(`is 400 without a body after ${what}`, async () => {
        const { status, body, data, headers, complete, errors } = await (await open({}, responding(reply))).send(
          'POST /',
        );
        deepEqual([status, body, data, headers.list, complete, errors], [400, null, null, [], null, []]);
        ok(log.lines.includes(`ERROR [JWTSigner] ${line}`), log.lines.join('\n'));
      });
    }

    it('is 400 where claims are nested too deep to be written', async () => {
      let claims: object = {};
      for (let depth = 0; depth < 100_000; depth++) claims = { a: claims };
      await open({}, responding(Reply.data({ access_token: claims } as never)));
      equal((await gate!.send('POST /')).status, 400);
      ok(log.lines.some((line) => line.startsWith('ERROR [JWTSigner] Signing fields: ')));
    });

    it('of what refuses inside, such as a limit, is that refusal', async () => {
      const limit: Step<ClientRequest> = () => refuse(429, { headers: new HeaderBag(['Retry-After', '1']) });
      await open({});
      const reply = await gate!.attached.endpoint!(limit)({} as never, {} as never);
      deepEqual([reply.status, reply.headers.get('retry-after')], [429, '1']);
    });

    it('shows nothing of claims and keys in the log', async () => {
      await signed({ access_token: { secret: 'of-ada' } });
      const text = log.lines.join('\n');
      ok(text.includes('Signer enabled'));
      equal(text.includes('of-ada'), false);
    });
  });

  describe('check', () => {
    const rsa = async () => [await privateJwk(signers.get('RS256')!), signers.get('RS256')!.jwk] as const;

    for (const [what, change, finding] of [
      ['case 7: a key that is not in the file', { kid: 'nope' }, 'SIGNER_KEY /kid'],
      ['a key of another kind', { alg: 'RS256' }, 'SIGNER_KEY /alg'],
      ['a key of another curve', { alg: 'ES384', kid: 'ES256' }, 'SIGNER_KEY /alg'],
      ['a file that is not there', { jwk_local_path: '/gone.json' }, 'KEYS_FILE /jwk_local_path'],
      ['a file that is no key set', { jwk_local_path: 'package.json' }, 'KEYS_FILE /jwk_local_path'],
      ['a secret without a key', { secret_url: 'base64key://a' }, 'KEYS_SECRET /secret_url'],
    ] as const) {
      it(`refuses ${what}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'endpoint', { ...base(), ...change })), [finding]));
    }

    it('names the key that is missing, and the one that may be meant', async () => {
      const error = await openHarness(plugin, 'endpoint', { ...base(), kid: 'HS265' }).catch((thrown) => thrown);
      match(error.errors[0].message, /key "HS265" does not exist in the set/);
      match(error.errors[0].hint, /did you mean "HS256"/);
    });

    it('refuses a public key', async () => {
      const [, jwk] = await rsa();
      const config = { ...base(), alg: 'RS256', kid: 'RS256', jwk_local_path: files.write({ keys: [jwk] }) };
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), ['SIGNER_KEY /kid']);
    });

    it('refuses a private key with something missing, and an empty one', async () => {
      const [{ p: _p, ...broken }] = await rsa();
      for (const [alg, jwk] of [
        ['RS256', broken],
        ['HS256', { kty: 'oct', kid: 'RS256', k: '' }],
      ] as const) {
        const config = { ...base(), alg, kid: 'RS256', jwk_local_path: files.write({ keys: [jwk] }) };
        deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), ['SIGNER_KEY /kid']);
      }
    });

    it('refuses a private key that belongs to another public one', async () => {
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

    it('refuses an RSA key that is too short for the hash', async () => {
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
      it(`refuses ${JSON.stringify(change)}`, () =>
        rejects(openHarness(plugin, 'endpoint', { ...base(), ...change }), ConfigErrors));
    }

    for (const field of ['alg', 'kid', 'keys_to_sign', 'jwk_local_path']) {
      it(`refuses a configuration without ${field}`, () =>
        rejects(openHarness(plugin, 'endpoint', { ...base(), [field]: undefined }), ConfigErrors));
    }

    for (const [what, change, options, finding] of [
      ['another output than JSON', {}, { endpoint: { output_encoding: 'xml' } }, 'SIGNER_OUTPUT '],
      ['a name with dots', { keys_to_sign: ['data.token'] }, {}, 'SIGNER_NESTED /keys_to_sign/0'],
      ['a leeway', { leeway: '5s' }, {}, 'OPTION_UNUSED /leeway'],
      ['an authority beside a file', { jwk_local_ca: 'a.pem' }, {}, 'KEYS_UNUSED /jwk_local_ca'],
    ] as const) {
      it(`warns of ${what}`, async () => {
        await open(change, options);
        deepEqual(
          gate!.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
          [finding],
        );
      });
    }

    it('warns of a symmetric key that is shorter than the hash', async () => {
      await open({ kid: 'a', jwk_local_path: files.write({ keys: [{ kty: 'oct', kid: 'a', k: 'YWJj' }] }) });
      deepEqual(
        gate!.warnings.map(({ code }) => code),
        ['SIGNER_WEAK_KEY'],
      );
    });
  });
});
