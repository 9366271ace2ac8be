import { deepEqual, equal } from 'node:assert/strict';
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { exportJWK } from 'jose';
import { algorithmNames } from '../../../../plugins/clients/keys/algorithms.ts';
import { forge, type Gate, issue, makeKeyFiles, makeSigner, openGate, type Signer } from '../fixture.ts';

describe('the keys and signatures of auth/validator', () => {
  const files = makeKeyFiles();
  const signers = new Map<string, Signer>();
  let gate: Gate | undefined;

  before(async () => {
    for (const alg of algorithmNames) signers.set(alg, await makeSigner(alg));
  });
  after(() => files.remove());
  afterEach(async () => {
    if (gate) deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    gate = undefined;
  });

  const openWith = async (alg: string, keys: readonly object[], config: object = {}) => {
    gate = await openGate({ alg, jwk_local_path: files.write({ keys }), ...config });
    return gate;
  };

  for (const alg of algorithmNames) {
    describe(`with ${alg}`, () => {
      it('accept a token signed by another implementation and reject it with one changed bit', async () => {
        const signer = signers.get(alg)!;
        const token = await issue(signer, { sub: 'ada' });
        const open = await openWith(alg, [signer.jwk]);
        equal(await open.status(token), 200);
        equal(await open.status(token), 200);
        const [header, payload, signature] = token.split('.') as [string, string, string];
        const bytes = Buffer.from(signature, 'base64url');
        bytes[5]! ^= 1;
        equal(await open.status(`${header}.${payload}.${bytes.toString('base64url')}`), 401);
        const other = Buffer.from('{"sub":"eve"}').toString('base64url');
        equal(await open.status(`${header}.${other}.${signature}`), 401);
        equal(await open.status(`${header}.${payload}.`), 401);
        equal(await open.status(`${header}.${payload}.${signature}AAAA`), 401);
      });

      it('reject other algorithms', async () => {
        const open = await openWith(
          alg,
          [...signers.values()].map(({ jwk }) => jwk),
        );
        for (const [other, signer] of signers) {
          equal(await open.status(await issue(signer)), other === alg ? 200 : 401, other);
        }
      });

      it("reject keys of another type under the algorithm's name", async () => {
        const signer = signers.get(alg)!;
        const kindOf = (name: string) => (/^[RP]S/.test(name) ? 'RSA' : name.startsWith('HS') ? 'HS' : name);
        const own = { ...signer.jwk, kid: 'own' };
        for (const [other, { jwk }] of signers) {
          if (kindOf(other) === kindOf(alg)) continue;
          const open = await openWith(alg, [own, { ...jwk, kid: signer.kid }]);
          equal(await open.status(await issue(signer)), 401, other);
          await open.close();
          gate = undefined;
        }
      });
    });
  }

  it('verify with the public part of a private key', async () => {
    const signer = signers.get('RS256')!;
    const open = await openWith('RS256', [{ ...(await exportJWK(signer.key)), kid: signer.kid }]);
    equal(await open.status(await issue(signer)), 200);
  });

  it('ignore "alg" and "use" of a key', async () => {
    const signer = signers.get('HS256')!;
    const open = await openWith('HS256', [{ ...signer.jwk, alg: 'A128KW', use: 'enc' }]);
    equal(await open.status(await issue(signer)), 200);
  });

  it('do not use the text of a public key as a symmetric secret', async () => {
    const signer = signers.get('RS256')!;
    const open = await openWith('RS256', [signer.jwk]);
    const kid = signer.kid;
    for (const secret of [JSON.stringify(signer.jwk), signer.jwk.n!, Buffer.from(signer.jwk.n!, 'base64url'), '']) {
      equal(await open.status(forge({ alg: 'HS256', kid }, {}, secret)), 401);
      equal(await open.status(forge({ alg: 'RS256', kid }, {}, secret)), 401);
    }
  });

  it('reject signatures that consist of zeros', async () => {
    for (const alg of algorithmNames) {
      const signer = signers.get(alg)!;
      const open = await openWith(alg, [signer.jwk]);
      const [header, payload, signature] = (await issue(signer)).split('.');
      const zeros = Buffer.alloc(Buffer.from(signature!, 'base64url').length).toString('base64url');
      equal(await open.status(`${header}.${payload}.${zeros}`), 401, alg);
      await open.close();
      gate = undefined;
    }
  });

  it('reject an empty secret', async () => {
    const good = signers.get('HS256')!.jwk;
    const open = await openWith('HS256', [
      { ...good, kid: 'good' },
      { kty: 'oct', kid: 'a', k: '' },
    ]);
    equal(await open.status(forge({ alg: 'HS256', kid: 'a' }, {}, '')), 401);
  });

  it('reject points that are not on the curve, or at its limits', async () => {
    const p256 = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff';
    const encode = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
    const zero = encode('00'.repeat(32));
    const signer = signers.get('ES256')!;
    for (const point of [
      { x: zero, y: zero },
      { x: signer.jwk.x!, y: zero },
      { x: encode(p256), y: zero },
      { x: encode('ff'.repeat(32)), y: encode('ff'.repeat(32)) },
      { x: '', y: '' },
      { x: signer.jwk.x! },
    ]) {
      const open = await openWith('ES256', [
        { ...signer.jwk, kid: 'good' },
        { kty: 'EC', crv: 'P-256', kid: signer.kid, ...point },
      ]);
      equal(await open.status(await issue(signer)), 401, JSON.stringify(point));
      await open.close();
      gate = undefined;
    }
  });

  it('reject points of small order, which verify any signature', async () => {
    const signer = signers.get('EdDSA')!;
    const forged = `${Buffer.from('{"alg":"EdDSA","kid":"weak"}').toString('base64url')}.e30`;
    for (const y of ['01'.padEnd(64, '0'), '00'.repeat(32), `ec${'ff'.repeat(30)}7f`, `00${'00'.repeat(30)}80`]) {
      const weak = { kty: 'OKP', crv: 'Ed25519', kid: 'weak', x: Buffer.from(y, 'hex').toString('base64url') };
      const open = await openWith('EdDSA', [signer.jwk, weak]);
      for (const r of ['01'.padEnd(64, '0'), '00'.repeat(32), y]) {
        const signature = Buffer.from(r + '00'.repeat(32), 'hex').toString('base64url');
        equal(await open.status(`${forged}.${signature}`), 401);
      }
      await open.close();
      gate = undefined;
    }
  });

  describe('with key IDs', () => {
    const sha1 = createHash('sha1').update('certificate').digest();
    const sha256 = createHash('sha256').update('certificate').digest();

    for (const [strategy, jwk, header] of [
      ['x5t', { x5t: sha1.toString('base64url') }, { x5t: sha1.toString('base64url') }],
      ['x5t', { x5t: sha1.toString('hex') }, { x5t: sha1.toString('base64url') }],
      ['x5t#S256', { 'x5t#S256': sha256.toString('hex') }, { 'x5t#S256': sha256.toString('base64url') }],
      ['kid_x5t', { kid: 'a', x5t: sha1.toString('base64url') }, { kid: 'a', x5t: sha1.toString('base64url') }],
      ['x5t', { x5t: 'same' }, { kid: 'same' }],
      ['kid', { kid: '' }, {}],
    ] as const) {
      it(`find the key ${JSON.stringify(jwk)} for the token header ${JSON.stringify(header)} with the strategy ${strategy}`, async () => {
        const signer = signers.get('HS256')!;
        const { kid: _, ...plain } = signer.jwk;
        const open = await openWith('HS256', [{ ...plain, ...jwk }], { key_identify_strategy: strategy });
        equal(await open.status(forge({ alg: 'HS256', ...header }, {}, signer.key as Uint8Array)), 200);
        equal(await open.status(forge({ alg: 'HS256', kid: 'other' }, {}, signer.key as Uint8Array)), 401);
      });
    }

    it('use the last of several keys with the same ID', async () => {
      const [one, other] = [await makeSigner('HS256', 'a'), await makeSigner('HS256', 'a')];
      const open = await openWith('HS256', [one.jwk, other.jwk]);
      deepEqual([await open.status(await issue(one)), await open.status(await issue(other))], [401, 200]);
    });
  });

  describe('from an encrypted file', () => {
    const secret = randomBytes(32);
    const dataKey = randomBytes(40);
    const seal = () => {
      const nonce = randomBytes(24);
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(dataKey)]).toString('base64');
    };
    const encrypt = (text: string) => {
      const key = createHash('md5').update(dataKey).digest('hex');
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    };
    const config = (content: Buffer, change: object = {}) => ({
      alg: 'HS256',
      jwk_local_path: files.write(content),
      secret_url: `base64key://${secret.toString('base64url')}=`,
      cypher_key: seal(),
      ...change,
    });
    const codeOf = async (settings: object) =>
      openGate(settings).then(
        () => '',
        ({ errors }) => errors[0].code + errors[0].pointer,
      );

    it('are decrypted with the configured secret', async () => {
      const signer = signers.get('HS256')!;
      gate = await openGate(config(encrypt(JSON.stringify({ keys: [signer.jwk] }))));
      equal(await gate.status(await issue(signer)), 200);
    });

    it('are rejected if the secret, the key or the content does not match', async () => {
      const file = encrypt('{}');
      equal(await codeOf(config(file)), 'KEYS_FILE/jwk_local_path');
      equal(await codeOf(config(Buffer.from('short'))), 'KEYS_CYPHER/jwk_local_path');
      equal(await codeOf(config(file, { cypher_key: 'AAAA' })), 'KEYS_CYPHER/cypher_key');
      equal(
        await codeOf(config(file, { secret_url: `base64key://${randomBytes(32).toString('base64url')}` })),
        'KEYS_CYPHER/cypher_key',
      );
      equal(await codeOf(config(file, { secret_url: 'base64key://AAAA' })), 'KEYS_SECRET/secret_url');
      file[20]! ^= 1;
      equal(await codeOf(config(file)), 'KEYS_CYPHER/jwk_local_path');
    });
  });
});
