import type { Infer, Schema } from '#contract';
import { backoffField } from '../shared/retries/backoff.ts';

const names = (description: string, ...example: string[]) =>
  ({
    type: 'array',
    items: { type: 'string', minLength: 1 },
    uniqueItems: true,
    description,
    default: [],
    examples: [example],
  }) as const;

export const schema = {
  type: 'object',
  title: 'WebSocket',
  examples: [
    { enable_direct_communication: true, subprotocols: ['graphql-transport-ws'], max_message_size: 65536 },
    { connect_event: true, disconnect_event: true, max_retries: 5, backoff_strategy: 'exponential' },
  ],
  properties: {
    enable_direct_communication: {
      type: 'boolean',
      description:
        'Opens a backend connection per client and forwards frames unchanged. Default: all clients of an endpoint share one connection, and messages travel in envelopes.',
      default: false,
    },
    input_headers: names(
      'Client headers forwarded to the backend, case-insensitive, replacing input_headers of the endpoint. "*" forwards all. Requires enable_direct_communication.',
      'Authorization',
    ),
    subprotocols: names('Subprotocols that clients can choose from.', 'graphql-transport-ws'),
    connect_event: {
      type: 'boolean',
      description: 'Notifies the backend when a client connects. Has no effect with enable_direct_communication.',
      default: false,
    },
    disconnect_event: {
      type: 'boolean',
      description: 'Notifies the backend when a client disconnects. Has no effect with enable_direct_communication.',
      default: false,
    },
    return_error_details: {
      type: 'boolean',
      description: 'Sends {"error": "…"} to a client whose message could not be delivered to the backend.',
      default: false,
    },
    max_message_size: {
      type: 'integer',
      minimum: 1,
      maximum: 104_857_600,
      description:
        'Maximum message size in bytes, in both directions. Connections that exceed it are closed with 1009.',
      default: 512,
    },
    message_buffer_size: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum number of queued messages per client and direction.',
      default: 256,
    },
    read_buffer_size: {
      type: 'integer',
      description: 'Accepted for compatibility. Has no effect: connections have no read buffer of a fixed size.',
      default: 1024,
    },
    write_buffer_size: {
      type: 'integer',
      description: 'Accepted for compatibility. Has no effect: connections have no write buffer of a fixed size.',
      default: 1024,
    },
    write_wait: {
      type: 'duration',
      description:
        'Timeout of each write, and of the exchange of opening messages with the backend. The connection is closed when the timeout expires.',
      default: '10s',
    },
    ping_period: { type: 'duration', description: 'Interval of pings to clients.', default: '54s' },
    pong_wait: {
      type: 'duration',
      description:
        'Time without any data from a client after which its connection is closed. Must be longer than ping_period.',
      default: '60s',
    },
    timeout: {
      type: 'duration',
      description:
        'Time without any data from a backend after which the gateway reconnects, at least one minute. Requires enable_direct_communication.',
      default: '5m',
    },
    max_retries: {
      type: 'integer',
      description: 'Maximum number of connection attempts to a backend. 0 or less disables the limit.',
      default: 0,
    },
    backoff_strategy: backoffField,
    disable_otel_metrics: {
      type: 'boolean',
      description: 'Disables metrics of these connections.',
      default: false,
    },
  },
} as const satisfies Schema;

export type WebsocketConfig = Infer<typeof schema>;
