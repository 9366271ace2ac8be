import type { Infer, Schema } from '#contract';

const error = {
  type: 'object',
  description: 'Response to the client if a policy is violated.',
  examples: [{ status: 403, body: '{"error":"not yours"}', content_type: 'application/json' }],
  properties: {
    status: { type: 'integer', minimum: 200, maximum: 599, description: 'Response status.', default: 500 },
    body: {
      type: 'string',
      description:
        'Response body, sent if `return_error_msg` is set. If empty, the body is a line that names the violated policy.',
      examples: ['not yours'],
      default: '',
    },
    content_type: {
      type: 'string',
      pattern: '^[\\t\\x20-\\x7e]+$',
      description: 'Content-Type of the response body.',
      default: 'text/plain',
    },
  },
  values: { type: 'any', description: 'Any other field. Ignored.' },
} as const satisfies Schema;

const policies = (description: string, examples: readonly string[]) =>
  ({
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1 },
    description,
    examples: [examples],
  }) as const;

const request = {
  type: 'object',
  description: 'Policies that requests must satisfy before they are processed.',
  required: ['policies'],
  properties: {
    policies: policies('CEL expressions, evaluated in order. All must be true.', [
      "getCookie('GDPR') == 'yes'",
      "req_params.Id.matches('^[0-9]+$')",
    ]),
    error,
  },
} as const;

const response = {
  type: 'object',
  description: 'Policies that responses must satisfy before they are sent.',
  required: ['policies'],
  properties: {
    policies: policies(
      'CEL expressions, evaluated in order. All must be true. Those on resp_data drop each message of a stream that does not meet them.',
      ["resp_data.label == 'BENIGN'"],
    ),
    error,
  },
} as const;

const token = {
  type: 'object',
  description:
    'Policies that the token of a request must satisfy. Violations are rejected with 401. Requires `auth/validator`, `auth/introspection` or `auth/oidc`.',
  required: ['policies'],
  properties: {
    policies: policies('CEL expressions on `JWT` and `now`, evaluated in order. All must be true.', [
      "has(JWT.dep) && JWT.dep == 'IT'",
    ]),
  },
} as const;

const options = {
  auto_join_policies: {
    type: 'boolean',
    description: 'Combines the policies of a block into a single policy. If it is violated, the log shows all of them.',
    default: false,
  },
  debug: {
    type: 'boolean',
    description: 'Logs every evaluation with its input and result, without cookies and credentials.',
    default: false,
  },
  disable_macros: {
    type: 'boolean',
    description: 'Disables the additional policy functions: expressions can only use the functions of CEL.',
    default: false,
  },
  disable_advanced_macros: { type: 'boolean', description: 'Alias of `disable_macros`.', default: false },
} as const;

export const endpointSchema = {
  type: 'object',
  title: 'Policies',
  minProperties: 1,
  examples: [
    {
      req: { policies: ["getCookie('GDPR') == 'yes'"], error: { status: 403 } },
      resp: { policies: ['!isEmpty(resp_data.items) && size(resp_data.items) < 100'] },
    },
    { req: { policies: ["inCIDR(clientIP(), '10.0.0.0/8')", 'req_body.size() < 1000'] }, auto_join_policies: true },
  ],
  properties: { req: request, resp: response, jwt: token, ...options },
} as const satisfies Schema;

export const backendSchema = {
  type: 'object',
  title: 'Policies',
  minProperties: 1,
  examples: [{ resp: { policies: ["resp_data.label == 'BENIGN'"], error: { status: 403 } }, debug: true }],
  properties: { req: request, resp: response, ...options },
} as const satisfies Schema;

export type PoliciesConfig = Infer<typeof endpointSchema>;
export type Block = NonNullable<PoliciesConfig['req']>;
