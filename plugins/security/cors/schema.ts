import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

/** A duration below zero, which a browser is told as 0: nothing is to be remembered. */
const NEGATIVE_DURATION = '^-[0-9]+(\\.[0-9]*)?(ns|us|\u00b5s|ms|s|m|h)$';

const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

const headerName = { type: 'string', published: { pattern: HEADER_NAME_PATTERN } } as const;

export const schema = {
  type: 'object',
  title: 'CORS',
  examples: [
    {
      allow_origins: ['https://*.example.com'],
      allow_methods: ['GET', 'POST'],
      allow_headers: ['Authorization', 'Content-Type'],
      expose_headers: ['Content-Length'],
      allow_credentials: true,
      max_age: '12h',
    },
    { allow_origins: ['*'], options_passthrough: true, allow_private_network: true, max_age: '-1s', debug: true },
  ],
  properties: {
    allow_origins: {
      type: 'array',
      items: { type: 'string', published: { pattern: '^[^*]*\\*?[^*]*$' } },
      description:
        'Origins whose pages may read answers, as in `https://example.com`; one `*` in an entry stands for any text, and an empty list for every origin. Needed at the service.',
      examples: [['https://*.example.com']],
    },
    allow_methods: {
      type: 'array',
      items: { type: 'string', enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] },
      description: 'Methods those pages may use.',
      default: ['GET', 'HEAD', 'POST'],
      examples: [['GET', 'POST']],
    },
    allow_headers: {
      type: 'array',
      items: headerName,
      description: 'Headers those pages may send; an empty list, or `*` in it, for every header.',
      default: [],
      examples: [['Authorization', 'Content-Type']],
    },
    expose_headers: {
      type: 'array',
      items: headerName,
      description: 'Headers of answers that those pages may read, besides those that browsers always show.',
      default: [],
      examples: [['Content-Length']],
    },
    allow_credentials: flag('Those pages may send cookies and other credentials.'),
    allow_private_network: flag('Pages of public networks may call this gateway in a private one.'),
    max_age: {
      anyOf: [{ type: 'duration' }, { type: 'string', pattern: NEGATIVE_DURATION }],
      description:
        'How long a browser may remember the answer to a preflight, in whole seconds; 0 for as long as it likes, a negative one for not at all.',
      default: '0s',
      examples: ['12h'],
    },
    options_passthrough: flag('Preflights go on to the router, which then answers them.'),
    options_success_status: {
      type: 'integer',
      minimum: 200,
      maximum: 299,
      description: 'Status of the answers to preflights.',
      default: 204,
    },
    debug: flag('Log every decision, at the level DEBUG.'),
  },
} as const satisfies Schema;

/** At the service somebody has to say which origins. */
export const serviceSchema = {
  ...schema,
  published: { allOf: [{ properties: { allow_origins: {} }, required: ['allow_origins'] }] },
} as const satisfies Schema;

export type CorsConfig = Infer<typeof schema>;
