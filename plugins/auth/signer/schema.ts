import type { Infer, Schema } from '#contract';
import { keyServerFields } from '../../clients/keys/schema.ts';

export const schema = {
  type: 'object',
  title: 'Token signer',
  description: 'Signs fields of the response as tokens.',
  required: ['alg', 'kid', 'keys_to_sign'],
  exactlyOneOf: [['jwk_url', 'jwk_local_path']],
  examples: [
    {
      alg: 'HS256',
      kid: 'sample',
      keys_to_sign: ['access_token', 'refresh_token'],
      jwk_local_path: 'samples/tokens/keys.json',
      disable_jwk_security: true,
    },
    {
      alg: 'RS256',
      kid: '2026-11',
      keys_to_sign: ['token'],
      jwk_url: 'https://id.example.com/private/jwks.json',
      full: true,
      typ: 'at+jwt',
    },
  ],
  properties: {
    ...keyServerFields,
    alg: { ...keyServerFields.alg, description: 'Signature algorithm.' },
    jwk_url: {
      ...keyServerFields.jwk_url,
      description:
        'URL of the JWK set with the private or symmetric key, fetched once per configuration. Cannot be combined with jwk_local_path.',
    },
    kid: {
      type: 'string',
      minLength: 1,
      description: 'Key ID in the JWK set, also written into the header of tokens.',
      examples: ['sample'],
    },
    keys_to_sign: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      description:
        'Response fields to sign. Each field that is an object is replaced by a token, whose claims are its members. `a.b` is the field `b` of the object `a`, unless the response has a field named `a.b`.',
      examples: [['access_token', 'refresh_token'], ['data.access_token']],
    },
    full: {
      type: 'boolean',
      description: 'Uses the JWS JSON serialization, as a string, instead of the compact form.',
      default: false,
    },
    typ: { type: 'string', minLength: 1, description: 'Value of `typ` in the token header.', default: 'JWT' },
    leeway: {
      type: 'duration',
      description: 'Clock skew tolerance.',
      unused: { because: 'this component signs tokens and does not validate them' },
      examples: ['1s'],
    },
  },
} as const satisfies Schema;

export type SignerConfig = Infer<typeof schema>;
