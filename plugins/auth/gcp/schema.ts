import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'Google Cloud',
  description:
    'Sends a Google identity token to the backend, issued for a service account or for the Google Cloud machine that the gateway runs on.',
  required: ['audience'],
  examples: [
    { audience: 'https://orders-abc.a.run.app' },
    {
      audience: 'https://orders-abc.a.run.app',
      s2s_auth_header: 'X-Serverless-Authorization',
    },
  ],
  properties: {
    audience: {
      type: 'string',
      minLength: 1,
      description: 'Audience of the token, usually the URL of the backend.',
      examples: ['https://orders-abc.a.run.app'],
    },
    credentials_file: {
      type: 'string',
      minLength: 1,
      description:
        'Service account key file. Default: the first that exists of the file named by GOOGLE_APPLICATION_CREDENTIALS, the gcloud credentials, and the metadata server of the Google Cloud machine that the gateway runs on.',
      examples: ['/etc/sluice/service-account.json'],
    },
    credentials_json: {
      type: 'object',
      values: { type: 'any', description: 'Value of a field of the service account key file.' },
      description: 'Content of a service account key file.',
      secret: true,
    },
    custom_claims: {
      type: 'object',
      values: { type: 'any', description: 'Value of the additional claim.' },
      description:
        'Additional claims to request for the token. Not supported if the metadata server of the machine issues the token.',
      examples: [{ tenant: 'a' }],
    },
    s2s_auth_header: {
      type: 'string',
      published: { pattern: `^$|${HEADER_NAME_PATTERN}` },
      description:
        'Header that carries the token, so that the Authorization header of the client is kept. If empty, the token is sent in Authorization.',
      default: '',
      examples: ['X-Serverless-Authorization'],
    },
  },
} as const satisfies Schema;

export type GcpConfig = Infer<typeof schema>;
