/** Algorithms of RFC 9421, by the name of the same algorithm in JSON Web Signature. */
export const signatureAlgorithms = {
  EdDSA: 'ed25519',
  ES256: 'ecdsa-p256-sha256',
  ES384: 'ecdsa-p384-sha384',
  PS512: 'rsa-pss-sha512',
  RS256: 'rsa-v1_5-sha256',
  HS256: 'hmac-sha256',
} as const;

export type SignatureAlgorithm = keyof typeof signatureAlgorithms;

export const algorithmChoices = Object.keys(signatureAlgorithms) as readonly SignatureAlgorithm[];
