import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'Google Cloud',
  description: 'Sends the backend an identity token of Google, got by a service account or by the machine.',
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
      description: 'Whom the token is for: mostly the address of the backend.',
      examples: ['https://orders-abc.a.run.app'],
    },
    credentials_file: {
      type: 'string',
      minLength: 1,
      description:
        'File with the key of a service account. Default: what GOOGLE_APPLICATION_CREDENTIALS names, then the file of gcloud, then the machine.',
      examples: ['/etc/sluice/service-account.json'],
    },
    credentials_json: {
      type: 'object',
      values: { type: 'any', description: 'As in the file.' },
      description: 'The content of such a file.',
      secret: true,
    },
    custom_claims: {
      type: 'object',
      values: { type: 'any', description: 'Value of the claim.' },
      description: 'Further claims that the token is asked for with; machines have none.',
      examples: [{ tenant: 'a' }],
    },
    s2s_auth_header: {
      type: 'string',
      published: { pattern: `^$|${HEADER_NAME_PATTERN}` },
      description: 'Header with the token, so that the Authorization of the user stays; empty for Authorization.',
      default: '',
      examples: ['X-Serverless-Authorization'],
    },
  },
} as const satisfies Schema;

export type GcpConfig = Infer<typeof schema>;
