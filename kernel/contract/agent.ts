import { pipeSchema } from './pipe.ts';

const flatDuration = (description: string, example: string) =>
  ({ type: 'duration', description, examples: [example] }) as const;

/**
 * A queue consumer whose messages run a pipe, one message at a time and without a client. Exactly one component of its
 * `extra_config` is the driver that connects to the queue; the others are placed around the backends.
 */
export const agentSchema = {
  ...pipeSchema(
    {
      name: {
        type: 'string',
        description:
          'Agent name in the health response, logs and metrics. Default: AsyncAgent, followed by the position of the agent.',
        default: '',
        examples: ['orders'],
      },
      encoding: {
        type: 'string',
        description: "Encoding of the backends' responses.",
        unused: { because: 'set the encoding of each backend instead', unless: ['json'] },
      },
      consumer: {
        type: 'object',
        description: 'Consumer settings: topic, concurrency and rate limit.',
        required: ['topic'],
        properties: {
          topic: { type: 'string', minLength: 1, description: 'Topic or routing key pattern to consume.' },
          workers: {
            type: 'integer',
            description: 'Number of messages processed concurrently. Values below 1 mean 1.',
            default: 1,
          },
          timeout: flatDuration(
            'Timeout of processing one message, including all backends. Default: the root timeout.',
            '10s',
          ),
          max_rate: {
            type: 'number',
            minimum: -1,
            description: 'Maximum number of messages per second. 0 or -1 disables the limit.',
            default: 0,
            examples: [0.5],
          },
        },
      },
      connection: {
        type: 'object',
        description: 'Reconnection and health reporting settings.',
        default: {},
        properties: {
          max_retries: {
            type: 'integer',
            description: 'Maximum number of consecutive reconnection attempts. 0 or less disables the limit.',
            default: 0,
          },
          backoff_strategy: {
            type: 'string',
            enum: ['linear', 'linear-jitter', 'exponential', 'exponential-jitter', 'fallback'],
            description: 'Backoff strategy between reconnection attempts.',
            default: 'fallback',
          },
          health_interval: {
            type: 'duration',
            description: 'Interval between reports to the health endpoint. Values below 1s mean 1s.',
            default: '1s',
          },
        },
      },
    },
    { description: 'A queue consumer and the backends that process its messages.' },
  ),
  title: 'Agent',
  required: ['backend', 'consumer', 'extra_config'],
} as const;
