import type { Infer, Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'Retries',
  examples: [
    {},
    { attempts: 3, attempt_timeout: '500ms', status_codes: [429, 502, 503, 504] },
    { hedge_after: '100ms', budget: { percent: 10 } },
  ],
  properties: {
    attempts: {
      type: 'integer',
      minimum: 2,
      maximum: 10,
      description: 'Maximum number of attempts, including the first one.',
      default: 2,
    },
    attempt_timeout: {
      type: 'duration',
      description:
        'Timeout of each attempt, up to the response headers for responses that pass through undecoded. The timeout of the backend limits all attempts together. 0 sets no limit of its own. Default: 0.',
      examples: ['500ms'],
    },
    conditions: {
      type: 'array',
      items: { type: 'string', enum: ['connect_failure', 'reset', 'timeout'] },
      uniqueItems: true,
      description:
        'Failures that are retried. `connect_failure`: no connection could be opened; also retried for methods that are not idempotent, because nothing was sent. `reset`: the connection was closed before anything was sent to the client. `timeout`: attempt_timeout or response_header_timeout expired.',
      default: ['connect_failure', 'reset', 'timeout'],
      examples: [['connect_failure']],
    },
    status_codes: {
      type: 'array',
      items: { type: 'integer', minimum: 400, maximum: 599 },
      uniqueItems: true,
      description: 'Response status codes that are retried, for HTTP backends. Default: 502, 503 and 504.',
      examples: [[429, 503]],
    },
    grpc_codes: {
      type: 'array',
      items: {
        type: 'string',
        enum: ['CANCELLED', 'UNKNOWN', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'ABORTED', 'INTERNAL', 'UNAVAILABLE'],
      },
      uniqueItems: true,
      description: 'gRPC status codes that are retried, for backend/grpc. Default: UNAVAILABLE.',
      examples: [['UNAVAILABLE', 'ABORTED']],
    },
    non_idempotent: {
      type: 'boolean',
      description:
        'Retries every method. The backend may then process a request twice. By default only GET, HEAD, OPTIONS, TRACE, PUT, DELETE and QUERY are retried, as sent to the backend: GraphQL and SOAP send POST. Required for backend/grpc, whose calls have no such methods.',
      default: false,
    },
    max_body_size: {
      type: 'integer',
      minimum: 0,
      maximum: 67_108_864,
      description:
        'Size in bytes up to which a request body with a Content-Length is kept in memory, so that it can be sent again. Longer bodies are streamed and not retried. 0 keeps no body only for retries.',
      default: 65_536,
    },
    backoff: {
      type: 'object',
      description: 'Pause before a retry: random, up to a limit that doubles with each retry.',
      properties: {
        base: { type: 'duration', description: 'Limit of the first pause. 0 retries immediately.', default: '25ms' },
        max: { type: 'duration', description: 'Limit of all pauses. Default: ten times `base`.', examples: ['1s'] },
      },
      default: {},
      examples: [{ base: '50ms', max: '1s' }],
    },
    max_retry_after: {
      type: 'duration',
      description: 'Maximum Retry-After of a response that is waited for. A response with a longer one is not retried.',
      default: '1s',
    },
    budget: {
      type: 'object',
      description:
        'Limit on concurrent retries, shared by all backends with the same hosts. Counted per worker, without retries that are waiting. It keeps retries from multiplying the load on a backend that fails.',
      properties: {
        percent: {
          type: 'number',
          minimum: 0,
          maximum: 100,
          description: 'Maximum number of concurrent retries, in percent of the active requests to these hosts.',
          default: 20,
        },
        min_concurrency: {
          type: 'integer',
          minimum: 0,
          maximum: 10_000,
          description: 'Number of concurrent retries that are allowed regardless of `percent`.',
          default: 3,
        },
      },
      default: {},
      examples: [{ percent: 10, min_concurrency: 5 }],
    },
    hedge_after: {
      type: 'duration',
      description:
        'Sends another attempt if no response has arrived after this time, and uses the first response that is not to be retried; the others are canceled. Counts as a retry. Must be greater than 0. Default: disabled.',
      examples: ['100ms'],
    },
  },
} as const satisfies Schema;

export type RetryConfig = Infer<typeof schema>;

/** Failures of a connection that can be retried. */
export type Condition = RetryConfig['conditions'][number];
