// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import type { Infer, Schema } from '#contract';

const parameter = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;

export const schema = {
  type: 'object',
  title: 'Client credentials',
  description: 'OAuth 2.0 client credentials of the gateway for this backend.',
  required: ['client_id', 'client_secret', 'token_url'],
  examples: [
    {
      client_id: 'gateway',
      client_secret: '${CLIENT_SECRET}',
      token_url: 'https://id.example.com/oauth/token',
      scopes: 'orders:read, orders:write',
      endpoint_params: { audience: ['https://orders.example.com'] },
    },
    {
      client_id: 'gateway',
      client_secret: '${CLIENT_SECRET}',
      token_url: 'https://id.example.com/token',
      is_disabled: true,
    },
  ],
  properties: {
    client_id: { type: 'string', minLength: 1, description: 'Client ID of the gateway at the token endpoint.' },
    client_secret: { type: 'string', minLength: 1, description: 'Client secret.', secret: true },
    token_url: {
      type: 'string',
      minLength: 1,
      description: 'URL of the token endpoint, http or https.',
      examples: ['https://id.example.com/oauth/token'],
    },
    scopes: {
      type: 'string',
      description: 'Requested scopes, separated by commas.',
      default: '',
      examples: ['read, write'],
    },
    endpoint_params: {
      type: 'object',
      properties: {
        audience: parameter('Audience of the token.'),
        resource: parameter('Resources for which the token is requested (RFC 8707).'),
        scope: parameter('Scopes, if "scopes" is not set.'),
        grant_type: parameter('Grant type. Default: client_credentials.'),
        client_assertion_type: parameter('Format of client_assertion (RFC 7523).'),
      },
      values: {
        type: 'array',
        items: { type: 'string' },
        description: 'Values of the parameter. They are masked when the configuration is printed.',
        secret: 'possible',
      },
      description: 'Additional parameters of the token request. grant_type replaces the default grant type.',
      default: {},
      examples: [{ audience: ['https://orders.example.com'] }],
    },
    is_disabled: {
      type: 'boolean',
      description: 'Sends requests without a token, as if the component were not configured.',
      default: false,
    },
  },
} as const satisfies Schema;

export type CredentialsConfig = Infer<typeof schema>;
