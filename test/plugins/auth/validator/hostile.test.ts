import { deepEqual, equal, ok } from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { exportJWK } from 'jose';
import { hasTwins } from '../../../../plugins/auth/validator/twins.ts';
import { cost } from '../../../support/cost.ts';
import { forge, type Gate, issue, makeKeyFiles, makeSigner, openGate, type Signer } from '../fixture.ts';

describe('auth/validator with forged tokens', () => {
  const files = makeKeyFiles();
  let signer: Signer;
  let gate: Gate;
  const secret = () => signer.key as Uint8Array;

  before(async () => {
    signer = await makeSigner('HS256', 'k');
    gate = await openGate({ alg: 'HS256', jwk_local_path: files.write({ keys: [signer.jwk] }) });
  });
  after(async () => {
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    files.remove();
  });

  const header = { alg: 'HS256', kid: 'k' };

  for (const alg of [
    'none',
    'None',
    'NONE',
    'nOnE',
    'none ',
    '',
    'hs256',
    'HS256 ',
    'HS384',
    null,
    0,
    true,
    ['HS256'],
    {},
  ]) {
    it(`rejects the algorithm ${JSON.stringify(alg)}, signed or unsigned`, async () => {
      const token = forge({ alg: alg as string, kid: 'k' }, {}, secret());
      equal(await gate.status(token), 401);
      equal(await gate.status(token.slice(0, token.lastIndexOf('.') + 1)), 401);
    });
  }

  it('rejects a token without an algorithm', async () =>
    equal(await gate.status(forge({ kid: 'k' }, {}, secret())), 401));

  it('does not use keys that the token contains or references', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const own = { alg: 'RS256', kid: 'mine', key: privateKey, jwk: await exportJWK(publicKey) };
    const requested = await openGate({
      alg: 'RS256',
      jwk_local_path: files.write({ keys: [(await makeSigner('RS256')).jwk] }),
    });
    const brought = { jwk: own.jwk, jku: 'https://evil.test/keys', x5u: 'https://evil.test/cert', x5c: ['AAAA'] };
    equal(await requested.status(await issue(own, {}, brought)), 401);
    equal(await requested.status(await issue({ ...own, kid: 'RS256' }, {}, brought)), 401);
    await requested.close();
  });

  for (const extra of [
    { crit: ['exp'] },
    { crit: [] },
    { crit: ['b64'], b64: false },
    { b64: false },
    { b64: 'false' },
  ]) {
    it(`rejects the header ${JSON.stringify(extra)}`, async () =>
      equal(await gate.status(forge({ ...header, ...extra }, {}, secret())), 401));
  }

  for (const [what, token] of [
    ['nothing', ''],
    ['a token with one dot', 'a.b'],
    ['dots', '..'],
    ['a token with many dots', '.'.repeat(20_000)],
    ['an encrypted token with five parts', 'eyJhbGciOiJkaXIifQ..a.b.c'],
    ['a header that is not an object', 'W10.e30.'],
    ['a null header', 'bnVsbA.e30.'],
    ['padding', 'eyJhbGciOiJIUzI1NiJ9=.e30=.AAAA'],
    ['standard base64 instead of base64url', 'eyJhbGciOiJIUzI1NiJ9.e30.++//'],
    ['deeply nested claims', `${Buffer.from('{"a":'.repeat(5000)).toString('base64url')}.e30.AAAA`],
  ] as const) {
    it(`rejects a token: ${what}`, async () => equal(await gate.status(token), 401));
  }

  it('rejects a valid token with additional characters', async () => {
    const token = await issue(signer);
    equal(await gate.status(token), 200);
    for (const junk of ['!', '=', '\u00e9', '.', '%20', '\u0000']) {
      for (const at of [3, token.indexOf('.') + 2, token.length]) {
        equal(await gate.status(token.slice(0, at) + junk + token.slice(at)), 401, `${junk} at ${at}`);
      }
    }
  });

  for (const payload of ['[]', 'null', '1', '"a"', '', '{', '{"sub":"a","sub":"b"}', '{"a":1,"\\u0061":2}', '\u0000']) {
    it(`rejects the signed payload ${JSON.stringify(payload)}`, async () =>
      equal(await gate.status(forge(header, payload, secret())), 401));
  }

  it('rejects a header with a duplicate member', async () =>
    equal(await gate.status(forge('{"alg":"none","alg":"HS256","kid":"k"}', {}, secret())), 401));

  it('rejects a payload that is not valid UTF-8', async () => {
    const [head] = forge(header, {}, secret()).split('.');
    const { createHmac } = await import('node:crypto');
    const signed = `${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}`;
    equal(await gate.status(`${signed}.${createHmac('sha256', secret()).update(signed).digest('base64url')}`), 401);
  });

  for (const kid of [
    null,
    1,
    true,
    ['k'],
    { a: 1 },
    '__proto__',
    'constructor',
    '',
    'k\u0000',
    'K',
    'x'.repeat(5000),
  ]) {
    it(`does not resolve the key ID ${JSON.stringify(kid).slice(0, 30)}`, async () =>
      equal(await gate.status(forge({ alg: 'HS256', kid: kid as string }, {}, secret())), 401));
  }

  it('treats claims such as __proto__ as plain data', async () => {
    const token = forge(header, '{"__proto__":{"roles":["admin"]},"constructor":"a","toString":1}', secret());
    equal(await gate.status(token), 200);
    const admins = await openGate({
      alg: 'HS256',
      jwk_local_path: files.write({ keys: [signer.jwk] }),
      roles: ['admin'],
    });
    equal(await admins.status(token), 403);
    await admins.close();
  });

  it('does not decode an oversized token', async () => {
    const good = forge(header, { pad: 'a'.repeat(20_000) }, secret());
    equal(await gate.status(good), 200);
    equal(await gate.status(forge(header, { pad: 'a'.repeat(40_000) }, secret())), 401);
    const huge = 'a.'.repeat(5_000_000);
    let status = 0;
    const spent = cost(() => {
      void gate.send({ headers: { Authorization: huge } }).then((reply) => {
        status = reply.status;
      });
    });
    await gate.status('a');
    equal(status, 401);
    ok(spent < 20, `${spent} ms`);
  });

  describe('when parsing JSON', () => {
    for (const [text, isFound] of [
      ['{}', false],
      ['{"a":1,"b":2}', false],
      ['{"a":1,"a":2}', true],
      ['{"a":{"a":1},"b":[{"a":1}]}', false],
      ['{"a":{"b":1,"b":2}}', false],
      ['{"a":"\\"a\\":1","b":"\\\\"}', false],
      ['{"\\u0061":1,"a":2}', true],
      ['{ "a" : 1 , "a" : 2 }', true],
      ['{"__proto__":1,"__proto__":2}', true],
      ['{"a:b":1,"c":":"}', false],
    ] as const) {
      it(`${isFound ? 'detects' : 'does not report'} a duplicate member in ${text}`, () =>
        equal(hasTwins(text), isFound));
    }
  });
});
