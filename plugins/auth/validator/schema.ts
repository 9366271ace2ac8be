import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';
import { identifyStrategies } from '../../clients/keys/key-set.ts';
import { keyServerFields } from '../../clients/keys/schema.ts';

const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;
const names = (description: string, ...example: string[]) =>
  ({ type: 'array', items: { type: 'string' }, description, default: [], examples: [example] }) as const;

export const schema = {
  type: 'object',
  title: 'Token validator',
  description: 'JWT validation: accepted signatures, claims, roles and scopes.',
  required: ['alg'],
  exactlyOneOf: [['jwk_url', 'jwk_local_path']],
  examples: [
    {
      alg: 'RS256',
      jwk_url: 'https://id.example.com/.well-known/jwks.json',
      issuer: 'https://id.example.com',
      audience: ['https://api.example.com'],
      cache: true,
      cache_duration: 600,
      failed_jwk_key_cooldown: '10s',
    },
    {
      alg: 'HS256',
      jwk_local_path: 'samples/tokens/keys.json',
      roles: ['admin'],
      scopes: ['read', 'write'],
      scopes_key: 'scope',
      scopes_matcher: 'all',
    },
  ],
  properties: {
    ...keyServerFields,
    cache: flag('Caches downloaded keys in memory. If disabled, keys are downloaded for every request.'),
    cache_duration: {
      type: 'integer',
      minimum: 0,
      description: 'Cache lifetime of downloaded keys, in seconds. 0 means 900.',
      default: 900,
    },
    key_identify_strategy: {
      type: 'string',
      enum: identifyStrategies,
      description: 'Token header field that identifies the key.',
      default: 'kid',
    },
    failed_jwk_key_cooldown: {
      type: 'duration',
      description:
        'Cooldown after a failed key lookup, before the lookup is retried: at least 1s. 0 disables the cooldown.',
      default: '0s',
      examples: ['10s'],
    },
    issuer: {
      type: 'string',
      description: 'Required issuer (`iss`). If empty, any issuer is accepted.',
      default: '',
      examples: ['https://id.example.com'],
    },
    audience: names('Values that the aud claim of the token must contain.', 'https://api.example.com'),
    roles: names(
      'Accepted roles. The token must have at least one. If empty, any token is accepted.',
      'admin',
      'editor',
    ),
    roles_key: {
      type: 'string',
      minLength: 1,
      description: 'Claim that contains the roles: an array, or a string separated by spaces.',
      default: 'roles',
      examples: ['realm_access.roles'],
    },
    roles_key_is_nested: flag('Treats dots in roles_key as access to nested objects, unless it starts with http.'),
    scopes: names(
      'Required scopes. scopes_matcher determines whether a token must have any or all of them. Requires scopes_key.',
      'read',
      'write',
    ),
    scopes_key: {
      type: 'string',
      description: 'Claim that contains the scopes. Dots access nested objects, unless it starts with http.',
      default: '',
      examples: ['scope'],
    },
    scopes_matcher: {
      type: 'string',
      enum: ['any', 'all'],
      description: 'Number of listed scopes that a token must have: any or all.',
      default: 'any',
    },
    auth_header_name: {
      type: 'string',
      published: { pattern: HEADER_NAME_PATTERN },
      description: 'Header that contains the token, with or without the prefix Bearer.',
      default: 'Authorization',
    },
    cookie_key: {
      type: 'string',
      minLength: 1,
      description: 'Cookie that contains the token, used if the header is missing.',
      default: 'access_token',
    },
    propagate_claims: {
      type: 'array',
      items: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 2, maxItems: 2 },
      description:
        'Claims to pass to backends, as pairs of a claim and the header that carries it. The headers replace client headers of the same name. Missing claims are sent as empty headers.',
      default: [],
      examples: [[['sub', 'X-User']]],
    },
    propagate_claims_preserve_array: flag(
      'Passes an array as several values of the header instead of one value separated by commas.',
    ),
    leeway: {
      type: 'duration',
      description: 'Clock skew tolerance for `exp`, `nbf` and `iat`. At least 1 second.',
      default: '1s',
    },
    operation_debug: flag('Logs the reason of each rejection as an error.'),
  },
} as const satisfies Schema;

export type ValidatorConfig = Infer<typeof schema>;
