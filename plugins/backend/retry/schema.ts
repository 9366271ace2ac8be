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
        'Timeout of each attempt. Covers the whole response, or the wait for its headers only if the response is streamed or the encoding is `no-op`. The timeout of the backend limits all attempts together. 0 disables the limit per attempt. Default: 0.',
      examples: ['500ms'],
    },
    conditions: {
      type: 'array',
      items: { type: 'string', enum: ['connect_failure', 'reset', 'timeout'] },
      uniqueItems: true,
      description:
        'Failures that are retried. `connect_failure`: no connection could be opened; retried for every method, because nothing was sent. `reset`: the connection was closed before anything was sent to the client. `timeout`: attempt_timeout or response_header_timeout expired.',
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
        'Retries requests of every method, although the backend may then process a request twice. By default, only requests sent to the backend with GET, HEAD, OPTIONS, TRACE, PUT, DELETE or QUERY are retried; GraphQL and SOAP backends are called with POST. Required for backend/grpc, because gRPC calls have no idempotent methods.',
      default: false,
    },
    max_body_size: {
      type: 'integer',
      minimum: 0,
      maximum: 67_108_864,
      description:
        'Maximum size in bytes of a request body that is kept in memory to be sent again. Bodies that are longer or have no Content-Length are streamed, and their requests are not retried. With 0, no body is kept for retries.',
      default: 65_536,
    },
    backoff: {
      type: 'object',
      description:
        'Random pause before a retry. Its upper bound starts at `base` and doubles with each retry, up to `max`.',
      properties: {
        base: {
          type: 'duration',
          description: 'Upper bound of the pause before the first retry. 0 retries immediately.',
          default: '25ms',
        },
        max: {
          type: 'duration',
          description: 'Upper bound of each pause, regardless of the number of retries. Default: ten times `base`.',
          examples: ['1s'],
        },
      },
      default: {},
      examples: [{ base: '50ms', max: '1s' }],
    },
    max_retry_after: {
      type: 'duration',
      description:
        'Maximum value of `Retry-After`, and of `grpc-retry-pushback-ms` of gRPC servers: the gateway waits that long before the retry. A response with a higher value is not retried, and neither is a gRPC call whose server forbids it with a negative value.',
      default: '1s',
    },
    budget: {
      type: 'object',
      description:
        'Limit on concurrent retries, shared by all backends with the same hosts. Counted per worker; retries that are still waiting do not count. The limit keeps retries from multiplying the load on a failing backend.',
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
        'Hedging delay: if no response has arrived after this time, another attempt is sent in parallel. The first response that needs no retry is used, and the other attempts are canceled. Counts as a retry. Must be greater than 0. Default: disabled.',
      examples: ['100ms'],
    },
  },
} as const satisfies Schema;

export type RetryConfig = Infer<typeof schema>;

/** Failures of a connection that can be retried. */
export type Condition = RetryConfig['conditions'][number];
