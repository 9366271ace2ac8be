import type { Infer, Schema } from '#contract';
import { serverSchema } from './server/schema.ts';

export const schema = {
  type: 'object',
  title: 'gRPC',
  required: ['catalog'],
  examples: [
    { catalog: ['samples/grpc/orders.pb'] },
    {
      catalog: ['samples/grpc/orders.pb'],
      server: {
        services: [
          {
            name: 'orders.Orders',
            methods: [
              {
                name: 'Get',
                input_headers: ['x-tenant'],
                payload_params: { id: 'id' },
                backend: [{ host: ['http://127.0.0.1:8081'], url_pattern: '/orders/{id}' }],
              },
            ],
          },
        ],
      },
    },
  ],
  properties: {
    catalog: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Descriptor sets written by `protoc --include_imports --descriptor_set_out`, directories of .pb files, and .proto files (require protoc). Watched for changes.',
      examples: [['./grpc/shop.pb', './grpc/catalog']],
    },
    server: serverSchema,
  },
} as const satisfies Schema;

export type Config = Infer<typeof schema>;
export type ServerConfig = Infer<typeof serverSchema>;
