import type { Infer, Schema } from '#contract';

const names = (description: string) =>
  ({ type: 'array', items: { type: 'string', minLength: 1 }, description, default: [] }) as const;

export const schema = {
  type: 'object',
  title: 'Moesif',
  description: 'Which requests are reported to Moesif, and what of them.',
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
      description: 'The application id that Moesif has given out.',
    },
    user_id_headers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Headers that say who the user is: the first that is there decides, even if it names nobody.',
      examples: [['X-User', 'Authorization']],
    },
    user_id_jwt_claim: {
      type: 'string',
      minLength: 1,
      description: 'Claim with the user, of an Authorization: Bearer; dots lead into objects.',
      default: 'sub',
    },
    identify_company: {
      type: 'object',
      description: 'Where the company of the user is written: in one of these.',
      exactlyOneOf: [['header', 'jwt_claim', 'query_string']],
      properties: {
        header: { type: 'string', minLength: 1, description: 'Name of a header.' },
        jwt_claim: { type: 'string', minLength: 1, description: 'Claim of an Authorization: Bearer.' },
        query_string: { type: 'string', minLength: 1, description: 'Name of a query parameter.' },
      },
    },
    batch_size: { type: 'integer', minimum: 1, maximum: 1000, description: 'Events of one push.', default: 200 },
    event_queue_size: {
      type: 'integer',
      minimum: 1,
      description: 'Events that may wait, in each process; their bodies are at most 64 MiB together.',
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
      description: 'Report bodies of requests and answers, up to 256 KiB each; streams are reported without.',
      default: true,
    },
    request_header_masks: names('Headers of requests whose values are replaced.'),
    request_body_masks: names('Fields of requests, at any depth, whose values are replaced.'),
    response_header_masks: names('Headers of answers whose values are replaced.'),
    response_body_masks: names('Fields of answers, at any depth, whose values are replaced.'),
    metadata: {
      type: 'object',
      values: { type: 'any' },
      description: 'Reported with every event, under the key krakend.',
      default: {},
    },
    should_skip: {
      type: 'string',
      minLength: 1,
      description: 'Condition (CEL) on the request: where it is true nothing is reported.',
      examples: ["req_method == 'GET'"],
    },
    debug: { type: 'boolean', description: 'Log every push at DEBUG.', default: false },
  },
} as const satisfies Schema;

export type MoesifConfig = Infer<typeof schema>;
