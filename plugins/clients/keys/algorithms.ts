import { constants, createHmac, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';
import { derOf } from './ecdsa-signature.ts';

/** Key types, by `kty` and, if a curve matters, `crv`. */
export type KeyKind = 'oct' | 'RSA' | 'P-256' | 'P-384' | 'P-521' | 'Ed25519';

/** A JSON Web Signature algorithm, with the only key type it works with. */
export interface Algorithm {
  readonly kind: KeyKind;
  /** @param key key of this algorithm's type; public for asymmetric ones. */
  readonly verify: (data: Uint8Array, signature: Uint8Array, key: KeyObject) => boolean;
  /** @param key key of this algorithm's type; private for asymmetric ones. */
  readonly sign: (data: Uint8Array, key: KeyObject) => Buffer;
  /** Length of the algorithm's hash in bytes; 0 if it does not determine the length of keys. */
  readonly hashBytes: number;
}

/** All supported algorithms; `none` is not supported. */
export const algorithmNames = [
  'EdDSA',
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;

export type AlgorithmName = (typeof algorithmNames)[number];

const curves = {
  '256': { kind: 'P-256', signatureBytes: 64 },
  '384': { kind: 'P-384', signatureBytes: 96 },
  '512': { kind: 'P-521', signatureBytes: 132 },
} as const;

type Size = keyof typeof curves;

const families: Readonly<Record<string, (hash: string, size: Size) => Omit<Algorithm, 'hashBytes'>>> = {
  HS: (hash) => ({
    kind: 'oct',
    verify(data, signature, key) {
      const expected = createHmac(hash, key).update(data).digest();
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    },
    sign: (data, key) => createHmac(hash, key).update(data).digest(),
  }),
  RS: (hash) => ({
    kind: 'RSA',
    verify: (data, signature, key) => verify(hash, data, key, signature),
    sign: (data, key) => sign(hash, data, key),
  }),
  PS: (hash) => {
    const scheme = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
    return {
      kind: 'RSA',
      verify: (data, signature, key) => verify(hash, data, { key, ...scheme }, signature),
      sign: (data, key) => sign(hash, data, { key, ...scheme }),
    };
  },
  ES: (hash, size) => {
    const { kind, signatureBytes } = curves[size];
    return {
      kind,
      verify: (data, signature, key) =>
        signature.length === signatureBytes && verify(hash, data, key, derOf(signature)),
      sign: (data, key) => sign(hash, data, { key, dsaEncoding: 'ieee-p1363' }),
    };
  },
};

/** Looks up an algorithm by name. */
export function algorithm(name: AlgorithmName): Algorithm {
  if (name === 'EdDSA') {
    return {
      kind: 'Ed25519',
      hashBytes: 0,
      verify: (data, signature, key) => signature.length === 64 && verify(null, data, key, signature),
      sign: (data, key) => sign(null, data, key),
    };
  }
  const size = name.slice(2) as Size;
  return { ...families[name.slice(0, 2)]!(`sha${size}`, size), hashBytes: Number(size) / 8 };
}
