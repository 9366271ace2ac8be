import type { Infer, Schema } from '#contract';
import { regionField, roleField } from '../../clients/aws/region.ts';

export const schema = {
  type: 'object',
  title: 'AWS Signature Version 4',
  description: 'Signs backend requests with AWS credentials from the environment, never from the configuration.',
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
    region: { ...regionField, description: 'AWS region to sign for.' },
    service: {
      type: 'string',
      minLength: 1,
      description: 'AWS service name used in signatures.',
      examples: ['execute-api', 's3', 'dynamodb', 'lambda'],
    },
    assume_role_arn: roleField,
    sts_region: { ...regionField, description: 'Region of the STS endpoint. Default: region.' },
    debug: {
      type: 'boolean',
      description: 'Logs the canonical request and the string to sign at DEBUG. Keys and session tokens are omitted.',
      default: false,
    },
  },
} as const satisfies Schema;

export type SigV4Config = Infer<typeof schema>;
