import type { Infer, Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'gRPC',
  required: ['catalog'],
  examples: [{ catalog: ['samples/grpc/orders.pb'] }],
  properties: {
    catalog: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Descriptor sets, as `protoc --include_imports --descriptor_set_out` writes them, and directories in which all .pb files are; watched for changes.',
      examples: [['./grpc/shop.pb', './grpc/catalog']],
    },
  },
} as const satisfies Schema;

export type Config = Infer<typeof schema>;
