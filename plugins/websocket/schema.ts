import type { Infer, Schema } from '#contract';
import { backoffField } from '../services/backoff.ts';

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
        'Each client has a connection of its own to the backend, which frames pass unchanged. Default: all clients of an endpoint share one, over which messages travel in envelopes.',
      default: false,
    },
    input_headers: names(
      'Client headers let through to the backend, in any letter case; "*" for all. In the place of those of the endpoint. With a connection of its own for each client only.',
      'Authorization',
    ),
    subprotocols: names('Subprotocols that a client may choose from.', 'graphql-transport-ws'),
    connect_event: {
      type: 'boolean',
      description: 'Tell the backend of each client that connects. Over the shared connection only.',
      default: false,
    },
    disconnect_event: {
      type: 'boolean',
      description: 'Tell the backend of each client that leaves. Over the shared connection only.',
      default: false,
    },
    return_error_details: {
      type: 'boolean',
      description: 'A client whose message the backend could not be given is sent {"error": "…"}.',
      default: false,
    },
    max_message_size: {
      type: 'integer',
      minimum: 1,
      maximum: 104_857_600,
      description:
        'Longest message in bytes, both ways. A client that sends or is sent a longer one is closed with 1009.',
      default: 512,
    },
    message_buffer_size: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'Messages of one client that may wait, in either direction.',
      default: 256,
    },
    read_buffer_size: {
      type: 'integer',
      description: 'Accepted for compatibility; buffers of connections have no size to set.',
      default: 1024,
    },
    write_buffer_size: {
      type: 'integer',
      description: 'Accepted for compatibility; buffers of connections have no size to set.',
      default: 1024,
    },
    write_wait: {
      type: 'duration',
      description: 'Longest time for one write, and for the greeting of the backend; then the connection is given up.',
      default: '10s',
    },
    ping_period: { type: 'duration', description: 'Time between pings to each client.', default: '54s' },
    pong_wait: {
      type: 'duration',
      description: 'A client from which nothing comes for that long is gone. Longer than ping_period.',
      default: '60s',
    },
    timeout: {
      type: 'duration',
      description:
        'A backend from which nothing comes for that long is connected to anew; at least a minute. With a connection of its own for each client only.',
      default: '5m',
    },
    max_retries: {
      type: 'integer',
      description: 'Attempts to connect to a backend again before it is given up; 0 or less for no limit.',
      default: 0,
    },
    backoff_strategy: backoffField,
    disable_otel_metrics: {
      type: 'boolean',
      description: 'Measure nothing of these connections.',
      default: false,
    },
  },
} as const satisfies Schema;

export type WebsocketConfig = Infer<typeof schema>;
