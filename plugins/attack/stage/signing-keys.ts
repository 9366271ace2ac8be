import { createHash, createHmac, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';

/** Identifier of the sandbox's keys. */
export const KEY_ID = 'sandbox';

/** A key of the sandbox, in place of one of the identity provider. */
export interface SigningKey {
  /** The key as a member of a key set: public, or symmetric. */
  readonly jwk: JsonWebKey;
  /** Public key in PEM, as a forger knows it; undefined for a symmetric key. */
  readonly pem: string | undefined;
  sign(text: string): string;
}

const made = new Map<string, SigningKey>();

/** Returns the sandbox's key for an algorithm. It is created on first use; generating RSA keys takes time. */
export function signingKey(alg: string): SigningKey {
  const known = made.get(alg);
  if (known) return known;
  const key = createKey(alg);
  made.set(alg, key);
  return key;
}

/** Creates another key for an algorithm, which no key set contains. */
export function createKey(alg: string): SigningKey {
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('HS')) return symmetric(alg, createHash('sha512').update(`sandbox ${made.size}`).digest(), hash);
  const { publicKey, privateKey } = keyPair(alg);
  return {
    jwk: { ...publicKey.export({ format: 'jwk' }), ...names, alg },
    pem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    sign: (text) => signWith(privateKey, alg, hash, text),
  };
}

/** The identifiers by which components find a key. */
const names = {
  kid: KEY_ID,
  x5t: createHash('sha1').update(KEY_ID).digest('base64url'),
  'x5t#S256': createHash('sha256').update(KEY_ID).digest('base64url'),
  use: 'sig',
};

/** Header of a token that is signed with the sandbox's key. */
export const keyHeader = { kid: names.kid, x5t: names.x5t, 'x5t#S256': names['x5t#S256'] } as const;

/** A key that signs with a shared secret. */
export function symmetric(alg: string, secret: Uint8Array | string, hash: string): SigningKey {
  const bytes = Buffer.from(secret as string);
  return {
    jwk: { kty: 'oct', k: bytes.toString('base64url'), ...names, alg },
    pem: undefined,
    sign: (text) => createHmac(hash, bytes).update(text).digest('base64url'),
  };
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

function keyPair(alg: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  const namedCurve = curves[alg];
  return namedCurve ? generateKeyPairSync('ec', { namedCurve }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

function signWith(key: KeyObject, alg: string, hash: string, text: string): string {
  const bytes = Buffer.from(text);
  if (alg === 'EdDSA') return sign(null, bytes, key).toString('base64url');
  const padding = alg.startsWith('PS') ? { padding: 6, saltLength: Number(alg.slice(2)) / 8 } : {};
  return sign(hash, bytes, { key, dsaEncoding: 'ieee-p1363', ...padding }).toString('base64url');
}
