import { createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { DataObject } from '#contract';
import { type AlgorithmName, algorithm, type KeyKind } from './algorithms.ts';

/** A new key. */
export interface NewKey {
  /** Key that signs. */
  readonly privateKey: KeyObject;
  /** The key as a member of a key set: public, or symmetric. */
  readonly jwk: DataObject;
  /** Public key in PEM; undefined for a symmetric key. */
  readonly pem: string | undefined;
}

/** Creates a key for an algorithm. RSA keys take about 50 ms. */
export function newKey(name: AlgorithmName): NewKey {
  const { kind, hashBytes } = algorithm(name);
  if (kind === 'oct') {
    const secret = randomBytes(hashBytes);
    const jwk = { kty: 'oct', k: secret.toString('base64url') };
    return { privateKey: createSecretKey(secret), jwk, pem: undefined };
  }
  const { privateKey, publicKey } = pairs[kind]();
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) as DataObject, pem };
}

const pairs: Readonly<
  Record<Exclude<KeyKind, 'oct'>, () => { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>
> = {
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'P-521': () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
};
