// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import type { Infer, Schema } from '#contract';
import { failureFieldsFor } from '../lib/undecided.ts';
import { schema as validatorSchema } from '../validator/schema.ts';

const { properties: ofValidator } = validatorSchema;

const provider = {
  type: 'object',
  description: 'OpenID Connect provider.',
  required: ['name', 'issuer', 'client_id'],
  examples: [
    { name: 'staff', issuer: 'https://id.example.com', client_id: 'gateway', client_secret: '${OIDC_SECRET}' },
  ],
  properties: {
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{1,32}$',
      description: 'Provider name that endpoints refer to. Part of the cookie names.',
      examples: ['staff'],
    },
    issuer: {
      type: 'string',
      minLength: 1,
      description: 'Issuer URL of the provider. The gateway reads `/.well-known/openid-configuration` below it.',
      examples: ['https://id.example.com'],
    },
    client_id: {
      type: 'string',
      minLength: 1,
      description: 'Client ID of the gateway.',
      examples: ['gateway'],
    },
    client_secret: {
      type: 'string',
      minLength: 1,
      description: 'Client secret. Not used with the authentication method none.',
      secret: true,
      examples: ['${OIDC_SECRET}'],
    },
    client_auth_method: {
      type: 'string',
      enum: ['client_secret_basic', 'client_secret_post', 'none'],
      description:
        'Authentication of the gateway at the token endpoint: client ID and secret in the `Authorization` header or in the body, or a public client without a secret.',
      default: 'client_secret_basic',
    },
    scopes: {
      type: 'array',
      items: { type: 'string', pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' },
      description:
        'Requested scopes. `openid` is added if missing; many providers issue refresh tokens for `offline_access`.',
      default: ['openid'],
      examples: [['openid', 'profile', 'offline_access']],
    },
    authorization_params: {
      type: 'object',
      description: 'Additional parameters of authorization requests, such as `prompt` or `audience`.',
      default: {},
      examples: [{ prompt: 'consent' }],
      values: { type: 'string', description: 'Value of the parameter.' },
    },
    userinfo: {
      type: 'boolean',
      description: 'Adds the claims of the userinfo endpoint at each login and refresh.',
      default: false,
    },
    path: {
      type: 'string',
      pattern: '^(/[A-Za-z0-9._~-]+)+$',
      description:
        'Path prefix of the routes of the provider: `/login`, `/callback`, `/logout` and `/backchannel-logout` below it. Default: /oidc/ and the provider name.',
      examples: ['/oidc/staff'],
    },
    post_logout_path: {
      type: 'string',
      pattern: '^/[\\x21-\\x7e]*$',
      description: 'Path that browsers are sent to after a logout.',
      default: '/',
    },
    timeout: {
      type: 'duration',
      description: 'Timeout of one request to the provider.',
      default: '5s',
      examples: ['2s'],
    },
    discovery_ttl: {
      type: 'duration',
      description:
        'Time for which each process of the gateway caches the metadata of the provider. Older metadata is still used while the provider is unreachable.',
      default: '1h',
      examples: ['15m'],
    },
  },
} as const satisfies Schema;

const session = {
  type: 'object',
  description: 'Sessions of users who are logged in.',
  required: ['secrets'],
  examples: [{ secrets: ['${SESSION_SECRET_OF_32_CHARACTERS}'], max_age: '8h' }],
  properties: {
    secrets: {
      type: 'array',
      items: { type: 'string', minLength: 1, secret: true, description: 'Random secret of at least 32 characters.' },
      minItems: 1,
      maxItems: 5,
      description:
        'Secrets that encrypt sessions. The first one encrypts, all of them decrypt: add a new one in front, and remove the old one after max_age.',
      examples: [['${SESSION_SECRET_OF_32_CHARACTERS}']],
    },
    cookie_name: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{1,32}$',
      description: 'Cookie name, which is preceded by `__Host-` and followed by the name of the provider.',
      default: 'oidc',
    },
    same_site: {
      type: 'string',
      enum: ['Lax', 'Strict'],
      description:
        'SameSite attribute of session cookies. With Strict, links from other sites open pages without the session, which starts a login.',
      default: 'Lax',
    },
    max_age: {
      type: 'duration',
      description: 'Maximum duration of a session, at least 1 second. The user logs in again afterwards.',
      default: '12h',
      examples: ['8h'],
    },
    idle_timeout: {
      type: 'duration',
      description:
        'Maximum time between two requests of a session, at least 1 second. A session without a request for that long ends. Sessions in cookies record requests at intervals of a twentieth of this time, at most 1 minute, and can end earlier by one interval. Default: only max_age ends sessions.',
      examples: ['30m'],
    },
    connection_name: {
      type: 'string',
      minLength: 1,
      description:
        'Redis connection that stores sessions; cookies then contain a random ID only. Required for several gateways with refresh tokens, and for logouts that reach several gateways and outlast restarts. Default: sessions are stored in the cookies, and each gateway keeps logouts in memory.',
      examples: ['sessions'],
    },
  },
} as const satisfies Schema;

export const serviceSchema = {
  type: 'object',
  title: 'OpenID Connect logins',
  description: 'OpenID Connect providers and sessions of users who log in with a browser.',
  required: ['public_url', 'providers', 'session'],
  examples: [
    {
      public_url: 'https://app.example.com',
      providers: [
        { name: 'staff', issuer: 'https://id.example.com', client_id: 'gateway', client_secret: '${OIDC_SECRET}' },
      ],
      session: { secrets: ['${SESSION_SECRET_OF_32_CHARACTERS}'] },
    },
  ],
  properties: {
    public_url: {
      type: 'string',
      minLength: 1,
      description:
        'URL at which browsers reach the gateway: `https`, or `http` on this machine. All redirects lead to it; redirect URIs at the provider are this URL and the callback path.',
      examples: ['https://app.example.com'],
    },
    providers: {
      type: 'array',
      items: provider,
      minItems: 1,
      maxItems: 100,
      description: 'Providers, by unique names.',
    },
    session,
  },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Login at an endpoint',
  description: 'Required login, and required roles and scopes of the user.',
  examples: [{ provider: 'staff', roles: ['admin'] }, {}],
  properties: {
    provider: {
      type: 'string',
      minLength: 1,
      description: 'Name of the provider. Default: the only provider that is declared.',
      examples: ['staff'],
    },
    audience: { ...ofValidator.audience, description: 'Values that the `aud` claim of the ID token must contain.' },
    roles: {
      ...ofValidator.roles,
      description: 'Accepted roles. The user must have at least one. If empty, any user is accepted.',
    },
    roles_key: ofValidator.roles_key,
    roles_key_is_nested: ofValidator.roles_key_is_nested,
    scopes: { ...ofValidator.scopes, description: 'Required scopes in the claims, combined by scopes_matcher.' },
    scopes_key: {
      type: 'string',
      minLength: 1,
      description: 'Claim that contains the scopes. Dots access nested objects.',
      default: 'scope',
    },
    scopes_matcher: ofValidator.scopes_matcher,
    propagate_claims: ofValidator.propagate_claims,
    propagate_claims_preserve_array: ofValidator.propagate_claims_preserve_array,
    pass_access_token: {
      type: 'boolean',
      description: 'Sends the access token of the user to backends, as `Authorization: Bearer`.',
      default: false,
    },
    ...failureFieldsFor(
      'Accepts sessions whose access token has expired while the provider is unreachable, up to max_age of the session. Logins still fail.',
      'Status of requests that are rejected because the provider or Redis is unreachable.',
    ),
  },
} as const satisfies Schema;

export type ServiceConfig = Infer<typeof serviceSchema>;
export type ProviderConfig = ServiceConfig['providers'][number];
export type EndpointConfig = Infer<typeof endpointSchema>;
