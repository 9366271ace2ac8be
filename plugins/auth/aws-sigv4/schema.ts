import type { Infer, Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'AWS Signature Version 4',
  description: 'Signs what is sent to the backend, with credentials of the environment, never of the configuration.',
  required: ['region', 'service'],
  examples: [
    { region: 'eu-west-1', service: 'execute-api' },
    {
      region: 'eu-west-1',
      service: 's3',
      assume_role_arn: 'arn:aws:iam::123456789012:role/reader',
      sts_region: 'us-east-1',
      debug: true,
    },
  ],
  properties: {
    region: { type: 'string', minLength: 1, description: 'Region that it is signed for.', examples: ['eu-west-1'] },
    service: {
      type: 'string',
      minLength: 1,
      description: 'Name of the service as in signatures.',
      examples: ['execute-api', 's3', 'dynamodb', 'lambda'],
    },
    assume_role_arn: {
      type: 'string',
      minLength: 1,
      description: 'Role that is assumed through STS, an hour at a time. Default: none.',
      examples: ['arn:aws:iam::123456789012:role/reader'],
    },
    sts_region: { type: 'string', minLength: 1, description: 'Region whose STS is asked. Default: region.' },
    debug: {
      type: 'boolean',
      description: 'Log at DEBUG what is signed: canonical request and string to sign, without keys and session token.',
      default: false,
    },
  },
} as const satisfies Schema;

export type SigV4Config = Infer<typeof schema>;
