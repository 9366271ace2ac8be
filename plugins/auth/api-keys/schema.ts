// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

export const strategies = ['header', 'query_string'] as const;

/** Location of the key in a request. */
export type Strategy = (typeof strategies)[number];

export const hashes = ['fnv128', 'sha256', 'sha1'] as const;

/** Derivation of the configured keys from the clients' keys. */
export type KeyHash = 'plain' | (typeof hashes)[number];

const roles = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  description:
    "Roles of the key's owner. Backends receive the first one that the endpoint accepts, if `propagate_role` is set.",
  default: [],
  examples: [['admin', 'user']],
} as const;

/** Fields shared by plain and hashed keys. */
const common = {
  strategy: {
    type: 'string',
    enum: strategies,
    description: 'Location of the API key in requests.',
    default: 'header',
  },
  identifier: {
    type: 'string',
    minLength: 1,
    description:
      'Name of the header (case-insensitive) or query parameter (case-sensitive). Default: Authorization for headers, key for query parameters.',
    examples: ['X-Api-Key'],
  },
  salt: { type: 'string', description: 'Salt prepended to a key before hashing.', default: '' },
  propagate_role: {
    type: 'string',
    published: { pattern: `^$|${HEADER_NAME_PATTERN}` },
    description:
      'Header that passes a role of the key to backends: the first one that the endpoint lists in `roles`, or ANY if the endpoint accepts keys with any role. If empty, no header is sent.',
    default: '',
    examples: ['X-Role'],
  },
} as const satisfies Record<string, Schema>;

const plainKeys = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key'],
        properties: { key: { type: 'string', minLength: 1, description: 'API key.', secret: true }, roles },
      },
      description: 'All valid API keys. If empty, every request is rejected.',
    },
    hash: {
      type: 'string',
      enum: ['plain'],
      description: 'Storage format of the keys. `plain` stores them in plain text.',
      default: 'plain',
    },
    ...common,
  },
} as const satisfies Schema;

const hashedKeys = {
  type: 'object',
  required: ['keys', 'hash'],
  properties: {
    keys: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key'],
        properties: {
          key: { type: 'string', minLength: 1, description: 'Hash of salt and key, in hexadecimal.' },
          roles,
        },
      },
      description: 'All valid API keys. If empty, every request is rejected.',
    },
    hash: { type: 'string', enum: hashes, description: 'Hash algorithm of the stored keys.' },
    ...common,
  },
} as const satisfies Schema;

export const serviceSchema = {
  title: 'API keys',
  description: 'API keys and shared settings for all endpoints that use auth/api-keys.',
  examples: [
    {
      keys: [
        { key: '${ADMIN_KEY}', roles: ['admin', 'user'], '@client': 'back office' },
        { key: '${USER_KEY}', roles: ['user'] },
      ],
      strategy: 'header',
      identifier: 'X-Api-Key',
      propagate_role: 'X-Role',
    },
    {
      hash: 'sha256',
      salt: '${SALT}',
      strategy: 'query_string',
      identifier: 'apikey',
      keys: [{ key: '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8', roles: ['user'] }],
    },
  ],
  anyOf: [plainKeys, hashedKeys],
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'API keys of an endpoint',
  description: 'Requires an API key for the endpoint.',
  required: ['roles'],
  examples: [
    { roles: ['admin'] },
    { roles: ['user', 'admin'], strategy: 'query_string', identifier: 'apikey', client_max_rate: 0.3 },
    { roles: [] },
  ],
  properties: {
    roles: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Accepted roles (case-sensitive). If empty, every key is accepted.',
      examples: [['admin']],
    },
    strategy: {
      type: 'string',
      enum: strategies,
      description: "Location of the API key in requests. Default: the service's strategy.",
    },
    identifier: {
      type: 'string',
      minLength: 1,
      description: "Name of the header or query parameter. Default: the service's identifier.",
      examples: ['apikey'],
    },
    client_max_rate: {
      type: 'number',
      minimum: 0,
      description:
        "Maximum number of requests per second and API key, with a burst of one second's worth of requests (at least 1). 0 disables the limit. Default: 0.",
      examples: [0.3],
    },
  },
} as const satisfies Schema;

export type ServiceConfig = Infer<typeof serviceSchema>;
export type EndpointConfig = Infer<typeof endpointSchema>;
