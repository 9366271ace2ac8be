import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

export const strategies = ['header', 'query_string'] as const;

/** Where a key is in a request. */
export type Strategy = (typeof strategies)[number];

export const hashes = ['fnv128', 'sha256', 'sha1'] as const;

/** How the keys of a configuration were made of those that clients send. */
export type KeyHash = 'plain' | (typeof hashes)[number];

const roles = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  description: 'What whoever sends it is; the first that an endpoint asks for counts.',
  default: [],
  examples: [['admin', 'user']],
} as const;

/** What is the same for keys as they are and for hashes of them. */
const common = {
  strategy: { type: 'string', enum: strategies, description: 'Where a key is in a request.', default: 'header' },
  identifier: {
    type: 'string',
    minLength: 1,
    description:
      'Name of the header, in any letter case, or of the parameter, in its case. Default: Authorization, or key.',
    examples: ['X-Api-Key'],
  },
  salt: { type: 'string', description: 'Text in front of a key before it is hashed.', default: '' },
  propagate_role: {
    type: 'string',
    published: { pattern: `^$|${HEADER_NAME_PATTERN}` },
    description:
      'Header in which backends get the role that counts, or ANY where an endpoint asks for none; empty for no header.',
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
        properties: { key: { type: 'string', minLength: 1, description: 'The key.', secret: true }, roles },
      },
      description: 'Every key there is; with none, every request is refused.',
    },
    hash: { type: 'string', enum: ['plain'], description: 'The keys are written as they are.', default: 'plain' },
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
          key: { type: 'string', minLength: 1, description: 'The hash of salt and key, in hexadecimal.' },
          roles,
        },
      },
      description: 'Every key there is; with none, every request is refused.',
    },
    hash: { type: 'string', enum: hashes, description: 'The keys are written as hashes of salt and key, by this one.' },
    ...common,
  },
} as const satisfies Schema;

export const serviceSchema = {
  title: 'API keys',
  description: 'The keys that clients of endpoints with auth/api-keys may send, and what is the same for all of them.',
  examples: [
    {
      keys: [
        { key: '%{ADMIN_KEY}', roles: ['admin', 'user'], '@client': 'back office' },
        { key: '%{USER_KEY}', roles: ['user'] },
      ],
      strategy: 'header',
      identifier: 'X-Api-Key',
      propagate_role: 'X-Role',
    },
    {
      hash: 'sha256',
      salt: '%{SALT}',
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
  description: 'Who may call the endpoint: whose key has one of the roles.',
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
      description: 'The key must have one of these, in their case; empty for any key.',
      examples: [['admin']],
    },
    strategy: {
      type: 'string',
      enum: strategies,
      description: 'Where a key is in a request. Default: as the service says.',
    },
    identifier: {
      type: 'string',
      minLength: 1,
      description: 'Name of the header or of the parameter. Default: as the service says.',
      examples: ['apikey'],
    },
    client_max_rate: {
      type: 'number',
      minimum: 0,
      description:
        'Requests a second that are accepted with one key; 0, which is the default, for no such limit. A burst is at most the requests of one second, at least 1.',
      examples: [0.3],
    },
  },
} as const satisfies Schema;

export type ServiceConfig = Infer<typeof serviceSchema>;
export type EndpointConfig = Infer<typeof endpointSchema>;
