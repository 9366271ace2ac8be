import { createHash, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type AlgorithmName, algorithm } from '../../clients/keys/algorithms.ts';
import { newKey } from '../../clients/keys/new-key.ts';

/** Identifier of the sandbox's keys. */
export const KEY_ID = 'sandbox';

/** A key of the sandbox, which replaces a key of the identity provider. */
export interface SigningKey {
  /** The key as a member of a key set: public, or symmetric. */
  readonly jwk: JsonWebKey;
  /** Public key in PEM format, which an attacker may know; undefined for a symmetric key. */
  readonly pem: string | undefined;
  sign(text: string): string;
}

const made = new Map<AlgorithmName, SigningKey>();

/** Returns the sandbox's key for an algorithm. It is created on first use; generating RSA keys takes time. */
export function signingKey(alg: AlgorithmName): SigningKey {
  const known = made.get(alg);
  if (known) return known;
  const key = createKey(alg);
  made.set(alg, key);
  return key;
}

/** Creates another key for an algorithm, which no key set contains. */
export function createKey(alg: AlgorithmName): SigningKey {
  const { privateKey, jwk, pem } = newKey(alg);
  return { jwk: { ...jwk, ...names, alg }, pem, sign: signer(alg, privateKey) };
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

/** Signs with HS256 and a secret that an attacker knows or guesses. */
export function guessedSecret(secret: string): Pick<SigningKey, 'sign'> {
  return { sign: signer('HS256', createSecretKey(Buffer.from(secret))) };
}

function signer(alg: AlgorithmName, key: KeyObject): SigningKey['sign'] {
  return (text) => algorithm(alg).sign(Buffer.from(text), key).toString('base64url');
}
