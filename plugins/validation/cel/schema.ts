import type { Infer } from '#contract';

const error = {
  type: 'object',
  description:
    'What the client is answered where the condition does not hold. A token is refused with 401 all the same.',
  examples: [{ status: 403, body: 'not yours', content_type: 'text/plain; charset=utf-8' }],
  properties: {
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'Status.', default: 500 },
    body: {
      type: 'string',
      description: 'Body, written where `return_error_msg` is set. Default: which condition it was.',
      examples: ['not yours'],
    },
    content_type: {
      type: 'string',
      pattern: '^[\\t\\x20-\\x7e]+$',
      description: 'Type of that body.',
      default: 'text/plain; charset=utf-8',
    },
  },
} as const;

const check = (examples: readonly string[]) =>
  ({
    type: 'array',
    minItems: 1,
    description: 'Conditions, looked at in order; the first that is not true ends it.',
    examples: [examples.map((expression) => ({ check_expr: expression }))],
    items: {
      type: 'object',
      required: ['check_expr'],
      properties: {
        check_expr: {
          type: 'string',
          minLength: 1,
          description:
            'A condition in the Common Expression Language. The variables it reads say when it is looked at: JWT with the token, resp_* with the response, anything else with the request.',
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
