import type { Infer, Schema } from '#contract';

const properties = {
  htpasswd_path: {
    type: 'string',
    minLength: 1,
    description: 'File with a name and a bcrypt hash on each line, as htpasswd -B writes it; followed when it changes.',
    examples: ['/etc/sluice/.htpasswd'],
  },
  users: {
    type: 'object',
    values: { type: 'string', description: 'Hash of the password by bcrypt.' },
    description: 'Further users: names and hashes by bcrypt. They win over those of the file.',
    examples: [{ ada: '$2b$10$jYrjVj9iPcAh4v6d69o2p.fMQ4Skbx9MwuoDqVXxgM8AZXpcsJwWa' }],
  },
} as const satisfies Record<string, Schema>;

/** As `htpasswd -B` writes it, of a password that nobody has. */
const users = { ada: '$2b$10$jYrjVj9iPcAh4v6d69o2p.fMQ4Skbx9MwuoDqVXxgM8AZXpcsJwWa' };

export const serviceSchema = {
  type: 'object',
  title: 'Basic authentication',
  description: 'The users of all endpoints with auth/basic that have none of their own.',
  examples: [{ users }],
  properties,
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Basic authentication of an endpoint',
  description: 'Who may call the endpoint: the users of the service or, where it names any, its own and nobody else.',
  examples: [{}, { users }],
  properties,
} as const satisfies Schema;

export type BasicConfig = Infer<typeof endpointSchema>;
