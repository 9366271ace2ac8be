import type { Infer, Schema } from '#contract';

const error = {
  type: 'object',
  description: 'What the client is answered where a policy does not hold.',
  examples: [{ status: 403, body: '{"error":"not yours"}', content_type: 'application/json' }],
  properties: {
    status: { type: 'integer', minimum: 200, maximum: 599, description: 'Status.', default: 500 },
    body: {
      type: 'string',
      description: 'Body, written where `return_error_msg` is set; empty for a line that says which policy it was.',
      examples: ['not yours'],
      default: '',
    },
    content_type: {
      type: 'string',
      pattern: '^[\\t\\x20-\\x7e]+$',
      description: 'Type of that body.',
      default: 'text/plain',
    },
  },
  values: { type: 'any', description: 'Anything else, which has no effect.' },
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
  description: 'What must hold of a request before it goes on.',
  required: ['policies'],
  properties: {
    policies: policies('Conditions in the Common Expression Language, looked at in order. All must be true.', [
      "getCookie('GDPR') == 'yes'",
      "req_params.Id.matches('^[0-9]+$')",
    ]),
    error,
  },
} as const;

const response = {
  type: 'object',
  description: 'What must hold of a response before it goes back.',
  required: ['policies'],
  properties: {
    policies: policies('Conditions in the Common Expression Language, looked at in order. All must be true.', [
      "resp_data.label == 'BENIGN'",
    ]),
    error,
  },
} as const;

const token = {
  type: 'object',
  description: 'What must hold of the token of a request, which is refused with 401 else. Needs `auth/validator`.',
  required: ['policies'],
  properties: {
    policies: policies('Conditions on `JWT` and `now`, looked at in order. All must be true.', [
      "has(JWT.dep) && JWT.dep == 'IT'",
    ]),
  },
} as const;

const options = {
  auto_join_policies: {
    type: 'boolean',
    description: 'The policies of one block count as one: the log shows all of them where one does not hold.',
    default: false,
  },
  debug: {
    type: 'boolean',
    description: 'Every evaluation is logged with what it read and what it came to; without cookies and credentials.',
    default: false,
  },
  disable_macros: {
    type: 'boolean',
    description: 'Expressions have the functions of the language alone, without those of policies.',
    default: false,
  },
  disable_advanced_macros: { type: 'boolean', description: 'The same as `disable_macros`.', default: false },
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
