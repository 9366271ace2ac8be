import type { Infer, Schema } from '#contract';
import { keyServerFields } from '../../services/keys/schema.ts';

export const schema = {
  type: 'object',
  title: 'Token signer',
  description: 'What of a response becomes signed tokens, and with which key.',
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
    alg: { ...keyServerFields.alg, description: 'The algorithm of the signatures.' },
    jwk_url: {
      ...keyServerFields.jwk_url,
      description:
        'Address of the JWK set with the private or symmetric key, fetched once for each configuration; either this or jwk_local_path is written.',
    },
    kid: {
      type: 'string',
      minLength: 1,
      description: 'Name of the key in the set; also in the header of tokens.',
      examples: ['sample'],
    },
    keys_to_sign: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      description: 'Fields at the top of the response: those that are objects become tokens that claim what they hold.',
      examples: [['access_token', 'refresh_token']],
    },
    full: {
      type: 'boolean',
      description: 'Write tokens in the JSON form, as a text; else in the compact one.',
      default: false,
    },
    typ: { type: 'string', minLength: 1, description: 'The typ in the header of tokens.', default: 'JWT' },
    leeway: {
      type: 'duration',
      description: 'By how much clocks may differ.',
      unused: { because: 'nothing is validated here' },
      examples: ['1s'],
    },
  },
} as const satisfies Schema;

export type SignerConfig = Infer<typeof schema>;
