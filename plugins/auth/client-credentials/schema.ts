import type { Infer, Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'Client credentials',
  description: 'Who the gateway is to a backend: where it gets the tokens that it sends along, and as whom.',
  required: ['client_id', 'client_secret', 'token_url'],
  examples: [
    {
      client_id: 'gateway',
      client_secret: '%{CLIENT_SECRET}',
      token_url: 'https://id.example.com/oauth/token',
      scopes: 'orders:read, orders:write',
      endpoint_params: { audience: ['https://orders.example.com'] },
    },
    {
      client_id: 'gateway',
      client_secret: '%{CLIENT_SECRET}',
      token_url: 'https://id.example.com/token',
      is_disabled: true,
    },
  ],
  properties: {
    client_id: { type: 'string', minLength: 1, description: 'The name of the gateway at the token server.' },
    client_secret: { type: 'string', minLength: 1, description: 'Its secret.', secret: true },
    token_url: {
      type: 'string',
      minLength: 1,
      description: 'Where tokens are issued: an http or https address.',
      examples: ['https://id.example.com/oauth/token'],
    },
    scopes: {
      type: 'string',
      description: 'What tokens are to be good for, with commas between them.',
      default: '',
      examples: ['read, write'],
    },
    endpoint_params: {
      type: 'object',
      values: { type: 'array', items: { type: 'string' }, description: 'Values of the field.' },
      description: 'More fields of the request for a token; grant_type in the place of the usual one.',
      default: {},
      examples: [{ audience: ['https://orders.example.com'] }],
    },
    is_disabled: { type: 'boolean', description: 'Send no tokens.', default: false },
  },
} as const satisfies Schema;

export type CredentialsConfig = Infer<typeof schema>;
