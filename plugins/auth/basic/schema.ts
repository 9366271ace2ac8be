import type { Infer, Schema } from '#contract';

const properties = {
  htpasswd_path: {
    type: 'string',
    minLength: 1,
    description:
      'File with one user per line: a name and a bcrypt hash, as written by `htpasswd -B`. Watched for changes.',
    examples: ['/etc/sluice/.htpasswd'],
  },
  users: {
    type: 'object',
    values: { type: 'string', description: 'Bcrypt hash of the password.' },
    description: 'Additional users: bcrypt hashes by user name. They take precedence over the file.',
    examples: [{ ada: '$2b$10$jYrjVj9iPcAh4v6d69o2p.fMQ4Skbx9MwuoDqVXxgM8AZXpcsJwWa' }],
  },
} as const satisfies Record<string, Schema>;

/** Hash in the format of `htpasswd -B`. Its password is not in use. */
const users = { ada: '$2b$10$jYrjVj9iPcAh4v6d69o2p.fMQ4Skbx9MwuoDqVXxgM8AZXpcsJwWa' };

export const serviceSchema = {
  type: 'object',
  title: 'Basic authentication',
  description: 'Users for all endpoints that use auth/basic and declare no users.',
  examples: [{ users }],
  properties,
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Basic authentication of an endpoint',
  description: "Users of the endpoint. If it declares any, the service's users are not accepted.",
  examples: [{}, { users }],
  properties,
} as const satisfies Schema;

export type BasicConfig = Infer<typeof endpointSchema>;
