import { pipeSchema } from './pipe.ts';

const flatDuration = (description: string, example: string) =>
  ({ type: 'duration', description, examples: [example] }) as const;

/**
 * A consumer of a queue that drives a pipe: every message runs the pipe once, with no client. Exactly one component of its
 * `extra_config` is the driver that speaks with the queue; the others stand around the backends.
 */
export const agentSchema = {
  ...pipeSchema(
    {
      name: {
        type: 'string',
        description: 'Name in health, logs and metrics. Default: AsyncAgent and its position.',
        default: '',
        examples: ['orders'],
      },
      encoding: {
        type: 'string',
        description: 'Encoding of the backends.',
        unused: { because: 'what counts is the encoding of each backend', unless: ['json'] },
      },
      consumer: {
        type: 'object',
        description: 'What is consumed, and how fast.',
        required: ['topic'],
        properties: {
          topic: { type: 'string', minLength: 1, description: 'Topic, or routing key pattern, to consume.' },
          workers: {
            type: 'integer',
            description: 'Messages that are processed at the same time; below 1 means 1.',
            default: 1,
          },
          timeout: flatDuration(
            'Longest time for the whole pipe of one message, and for each of its backends. Default: the root timeout.',
            '10s',
          ),
          max_rate: {
            type: 'number',
            minimum: -1,
            description: 'Messages a second; 0 or -1 for no limit.',
            default: 0,
            examples: [0.5],
          },
        },
      },
      connection: {
        type: 'object',
        description: 'How the connection to the queue is kept.',
        default: {},
        properties: {
          max_retries: {
            type: 'integer',
            description: 'Reconnections in a row; 0 or less for no limit.',
            default: 0,
          },
          backoff_strategy: {
            type: 'string',
            enum: ['linear', 'linear-jitter', 'exponential', 'exponential-jitter', 'fallback'],
            description: 'Pauses between reconnections.',
            default: 'fallback',
          },
          health_interval: {
            type: 'duration',
            description: 'Time between reports to the health endpoint; below 1s means 1s.',
            default: '1s',
          },
        },
      },
    },
    { description: 'One consumer and the pipe it drives.' },
  ),
  title: 'Agent',
  required: ['backend', 'consumer', 'extra_config'],
} as const;
