import type { Infer, Schema } from '#contract';

const names = (description: string) =>
  ({ type: 'array', items: { type: 'string', minLength: 1 }, description, default: [] }) as const;

export const schema = {
  type: 'object',
  title: 'Moesif',
  description: 'Reports requests to Moesif.',
  required: ['application_id', 'user_id_headers'],
  examples: [
    { application_id: 'application-id-of-moesif', user_id_headers: ['X-User', 'Authorization'] },
    {
      application_id: 'application-id-of-moesif',
      user_id_headers: ['Authorization'],
      identify_company: { jwt_claim: 'org.id' },
      log_body: false,
      request_header_masks: ['Authorization', 'Cookie'],
      should_skip: "req_path == '/status'",
    },
  ],
  properties: {
    application_id: {
      type: 'string',
      minLength: 1,
      description: 'Application ID assigned by Moesif.',
    },
    user_id_headers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Headers that identify the user. The first one present is used, even if its value is empty.',
      examples: [['X-User', 'Authorization']],
    },
    user_id_jwt_claim: {
      type: 'string',
      minLength: 1,
      description: 'Claim of the bearer token that identifies the user. Dots access nested objects.',
      default: 'sub',
    },
    identify_company: {
      type: 'object',
      description: 'Source of the company identifier. Exactly one field must be set.',
      exactlyOneOf: [['header', 'jwt_claim', 'query_string']],
      properties: {
        header: { type: 'string', minLength: 1, description: 'Header name.' },
        jwt_claim: { type: 'string', minLength: 1, description: 'Claim of the bearer token.' },
        query_string: { type: 'string', minLength: 1, description: 'Query parameter name.' },
      },
    },
    batch_size: { type: 'integer', minimum: 1, maximum: 1000, description: 'Number of events per push.', default: 200 },
    event_queue_size: {
      type: 'integer',
      minimum: 1,
      description: 'Maximum number of queued events per process. Their bodies take at most 64 MiB.',
      default: 1_000_000,
    },
    timer_wake_up_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      description: 'Seconds between pushes.',
      default: 2,
    },
    log_body: {
      type: 'boolean',
      description: 'Reports bodies of requests and responses, up to 256 KiB each. Streams are reported without bodies.',
      default: true,
    },
    request_header_masks: names('Request headers whose values are masked.'),
    request_body_masks: names('Request body fields, at any depth, whose values are masked.'),
    response_header_masks: names('Response headers whose values are masked.'),
    response_body_masks: names('Response body fields, at any depth, whose values are masked.'),
    metadata: {
      type: 'object',
      values: { type: 'any' },
      description: 'Metadata reported with every event, under the key krakend.',
      default: {},
    },
    should_skip: {
      type: 'string',
      minLength: 1,
      description: 'CEL expression on the request. Requests for which the expression is true are not reported.',
      examples: ["req_method == 'GET'"],
    },
    debug: { type: 'boolean', description: 'Logs every push at DEBUG.', default: false },
  },
} as const satisfies Schema;

export type MoesifConfig = Infer<typeof schema>;
