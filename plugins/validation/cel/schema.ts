import type { Infer } from '#contract';

const error = {
  type: 'object',
  description: 'Response to the client if a condition is not met. Tokens are always rejected with 401.',
  examples: [{ status: 403, body: 'not yours', content_type: 'text/plain; charset=utf-8' }],
  properties: {
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'Response status.', default: 500 },
    body: {
      type: 'string',
      description: 'Response body, sent if `return_error_msg` is set. Default: a line that names the failed condition.',
      examples: ['not yours'],
    },
    content_type: {
      type: 'string',
      pattern: '^[\\t\\x20-\\x7e]+$',
      description: 'Content-Type of the response body.',
      default: 'text/plain; charset=utf-8',
    },
  },
} as const;

const check = (examples: readonly string[]) =>
  ({
    type: 'array',
    minItems: 1,
    description: 'Conditions, evaluated in order. The first one that is not true rejects the request.',
    examples: [examples.map((expression) => ({ check_expr: expression }))],
    items: {
      type: 'object',
      required: ['check_expr'],
      properties: {
        check_expr: {
          type: 'string',
          minLength: 1,
          description:
            'Condition in the Common Expression Language (CEL). Its variables determine when it is evaluated: with JWT, after the token has been verified; with resp_*, on the response; otherwise on the request. With resp_data in a stream of messages, it is evaluated for each message, and drops those that do not meet it.',
          examples: examples.slice(0, 1),
        },
        error,
      },
    },
  }) as const;

export const endpointSchema = check(["req_method == 'GET' || 'application/json' in req_headers['Content-Type']"]);

export const backendSchema = check(['size(req_params) < 10', "'name' in resp_data"]);

export const serviceSchema = check(["timestamp(now).getDayOfWeek('Europe/Paris') > 0"]);

export type CheckConfig = Infer<typeof endpointSchema>[number];
