// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import type { Infer, Schema } from '#contract';
import { failureFields } from '../lib/undecided.ts';
import { schema as validatorSchema } from '../validator/schema.ts';

const { properties: ofValidator } = validatorSchema;

/** Settings of the authorization server. */
const serverFields = {
  introspection_url: {
    type: 'string',
    minLength: 1,
    description: 'URL of the introspection endpoint of the authorization server, http or https.',
    examples: ['https://id.example.com/oauth/introspect'],
  },
  client_auth_method: {
    type: 'string',
    enum: ['client_secret_basic', 'client_secret_post', 'bearer'],
    description:
      'Authentication of the gateway at the introspection endpoint: client ID and secret in the `Authorization` header or in the body, or a bearer token. Default: client_secret_basic.',
    examples: ['client_secret_post'],
  },
  client_id: {
    type: 'string',
    minLength: 1,
    description: 'Client ID of the gateway at the introspection endpoint. Not used with bearer.',
    examples: ['gateway'],
  },
  client_secret: {
    type: 'string',
    minLength: 1,
    description: 'Client secret. Not used with bearer.',
    secret: true,
    examples: ['${CLIENT_SECRET}'],
  },
  bearer_token: {
    type: 'string',
    minLength: 1,
    description:
      'Access token of the gateway at the introspection endpoint. Used with the authentication method bearer.',
    secret: true,
    examples: ['${INTROSPECTION_TOKEN}'],
  },
  token_type_hint: {
    type: 'string',
    description:
      'Value of `token_type_hint` in introspection requests. If empty, the parameter is omitted. Default: access_token.',
    examples: ['access_token'],
  },
  timeout: {
    type: 'duration',
    description: 'Timeout of one introspection request. Default: 5 seconds.',
    examples: ['2s'],
  },
  cache_ttl: {
    type: 'duration',
    description:
      'Time for which each process of the gateway caches an active token, at most until its `exp`. A revoked token is accepted until then. 0s disables the cache. Default: 30 seconds.',
    examples: ['1m'],
  },
  negative_cache_ttl: {
    type: 'duration',
    description:
      'Time for which each process of the gateway caches an inactive token, at most cache_ttl. 0s disables it. Default: 5 seconds, or cache_ttl if that is less.',
    examples: ['10s'],
  },
} as const satisfies Record<string, Schema>;

const server = {
  introspection_url: 'https://id.example.com/oauth/introspect',
  client_id: 'gateway',
  client_secret: '${CLIENT_SECRET}',
};

export const serviceSchema = {
  type: 'object',
  title: 'Token introspection',
  description: 'Authorization server of all endpoints that use auth/introspection and set no introspection_url.',
  required: ['introspection_url'],
  examples: [
    { ...server, cache_ttl: '1m' },
    {
      introspection_url: 'https://id.example.com/oauth/introspect',
      client_auth_method: 'bearer',
      bearer_token: '${INTROSPECTION_TOKEN}',
    },
  ],
  properties: serverFields,
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Token introspection of an endpoint',
  description:
    'Tokens that the endpoint accepts. If introspection_url is set, the endpoint uses that authorization server, and the settings of the service do not apply to the endpoint.',
  examples: [
    { ...server, scopes: ['orders:read'] },
    { ...server, audience: ['https://api.example.com'], roles: ['admin'], on_failure_allow: true },
  ],
  properties: {
    ...serverFields,
    issuer: ofValidator.issuer,
    audience: ofValidator.audience,
    roles: ofValidator.roles,
    roles_key: ofValidator.roles_key,
    roles_key_is_nested: ofValidator.roles_key_is_nested,
    scopes: {
      ...ofValidator.scopes,
      description: 'Required scopes. scopes_matcher determines whether a token must have any or all of them.',
    },
    scopes_key: {
      type: 'string',
      minLength: 1,
      description: 'Field of the response that contains the scopes. Dots access nested objects.',
      default: 'scope',
    },
    scopes_matcher: ofValidator.scopes_matcher,
    auth_header_name: ofValidator.auth_header_name,
    cookie_key: ofValidator.cookie_key,
    query_key: {
      type: 'string',
      description:
        'Query parameter that contains the token, used if the request has neither the header nor the cookie. Masked in the access log. If empty, query parameters are not read.',
      default: '',
      examples: ['access_token'],
    },
    propagate_claims: {
      ...ofValidator.propagate_claims,
      description:
        'Fields of the response to pass to backends and the headers that carry them, replacing client headers. Missing fields are sent as empty headers.',
    },
    propagate_claims_preserve_array: ofValidator.propagate_claims_preserve_array,
    leeway: ofValidator.leeway,
    ...failureFields,
  },
} as const satisfies Schema;

export type ServerConfig = Infer<typeof serviceSchema>;
export type IntrospectionConfig = Infer<typeof endpointSchema>;
export const serverFieldNames = Object.keys(serverFields) as readonly (keyof typeof serverFields)[];
