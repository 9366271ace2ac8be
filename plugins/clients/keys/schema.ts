import type { Infer, Schema } from '#contract';
import { algorithmNames } from './algorithms.ts';

/** Cipher suites allowed for connections to key servers, as IANA numbers. */
const suites = [
  5, 10, 47, 53, 60, 156, 157, 49159, 49161, 49162, 49169, 49170, 49171, 49172, 49187, 49191, 49199, 49195, 49200,
  49196, 52392, 52393,
] as const;

/** Schema fields of components that use a JWK set: its source and how it is fetched. */
export const keyServerFields = {
  alg: {
    type: 'string',
    enum: algorithmNames,
    description: 'Signature algorithm. Tokens with any other algorithm are rejected.',
    examples: ['RS256'],
  },
  jwk_url: {
    type: 'string',
    minLength: 1,
    description: 'URL of the JWK set. Cannot be combined with jwk_local_path.',
    examples: ['https://id.example.com/.well-known/jwks.json'],
  },
  jwk_local_path: {
    type: 'string',
    minLength: 1,
    description: 'File with the JWK set, plain or encrypted, relative to the working directory. Watched for changes.',
    examples: ['/etc/sluice/keys.json'],
  },
  disable_jwk_security: {
    type: 'boolean',
    description: 'Allows http:// for jwk_url and disables certificate verification of the key server.',
    default: false,
  },
  jwk_fingerprints: {
    type: 'array',
    items: { type: 'string', published: { pattern: '^[A-Za-z0-9_-]{43}=?$' } },
    description:
      "Pinned public keys of the key server: SHA-256 hash of the DER-encoded SubjectPublicKeyInfo in base64url. At least one certificate of the server's chain must match.",
    default: [],
    examples: [['S3Jha2VuRCBpcyB0aGUgYmVzdCBnYXRld2F5IGV2ZXI=']],
  },
  jwk_local_ca: {
    type: 'string',
    minLength: 1,
    description: 'PEM file with CA certificates to trust for the key server in addition to the system trust store.',
    examples: ['/etc/sluice/authorities.pem'],
  },
  cipher_suites: {
    type: 'array',
    items: { type: 'integer', enum: suites },
    uniqueItems: true,
    description:
      'IANA numbers of the cipher suites for the key server up to TLS 1.2. TLS 1.3 suites are always offered.',
    default: [49199, 49195, 49200, 49196, 52392, 52393],
  },
  secret_url: {
    type: 'string',
    minLength: 1,
    description: 'Secret that decrypts cypher_key: base64key:// followed by 32 bytes in base64url.',
    examples: ['base64key://mJp0R2qZ8b3l7sXK1nqf0v5wYtA9cD4eGhIjKlMnOpQ'],
    secret: true,
  },
  cypher_key: {
    type: 'string',
    minLength: 1,
    description: 'Encrypted data key of an encrypted jwk_local_path, in base64.',
    examples: ['q83vEjRWeJCrze8SNFZ4kA=='],
    secret: true,
  },
} as const satisfies { readonly [name: string]: Schema };

const keyServer = { type: 'object', required: ['alg'], properties: keyServerFields } as const;

/** Source of keys. */
export type KeyServerConfig = Infer<typeof keyServer>;
