import type { Schema } from '#contract';

export const protectedResource = {
  type: 'object',
  description:
    'OAuth protected resource metadata (RFC 9728), published at `/.well-known/oauth-protected-resource` and referenced by 401 responses. Tokens are checked by auth/validator at the endpoint.',
  required: ['resource', 'authorization_servers'],
  properties: {
    resource: {
      type: 'string',
      description: 'Public URL of the endpoint. Tokens must be issued for it as their audience.',
      examples: ['https://api.example.com/mcp'],
    },
    authorization_servers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description: 'URLs of the authorization servers that issue tokens.',
      examples: [['https://id.example.com']],
    },
    scopes_supported: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description: 'OAuth scopes that clients can request.',
      default: [],
      examples: [['tools']],
    },
  },
} as const satisfies Schema;
