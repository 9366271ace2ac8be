import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

/** Negative duration, sent to browsers as 0: preflight results must not be cached. */
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
        'Allowed origins, for example `https://example.com`. A `*` in an entry matches any text; an empty list allows every origin. Required at the service level.',
      examples: [['https://*.example.com']],
    },
    allow_methods: {
      type: 'array',
      items: { type: 'string', enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] },
      description: 'Allowed request methods.',
      default: ['GET', 'HEAD', 'POST'],
      examples: [['GET', 'POST']],
    },
    allow_headers: {
      type: 'array',
      items: headerName,
      description: 'Allowed request headers. An empty list, or a list that contains `*`, allows every header.',
      default: [],
      examples: [['Authorization', 'Content-Type']],
    },
    expose_headers: {
      type: 'array',
      items: headerName,
      description: 'Response headers exposed to scripts, in addition to the CORS-safelisted ones.',
      default: [],
      examples: [['Content-Length']],
    },
    allow_credentials: flag('Allows cookies and other credentials in cross-origin requests.'),
    allow_private_network: flag('Allows web pages from public networks to call this gateway in a private network.'),
    max_age: {
      anyOf: [{ type: 'duration' }, { type: 'string', pattern: NEGATIVE_DURATION }],
      description:
        'Cache lifetime of preflight responses in browsers, in whole seconds. 0 leaves it to the browser, negative values disable caching.',
      default: '0s',
      examples: ['12h'],
    },
    options_passthrough: flag('Passes preflights to the router, which answers them.'),
    options_success_status: {
      type: 'integer',
      minimum: 200,
      maximum: 299,
      description: 'Response status of preflights.',
      default: 204,
    },
    debug: flag('Logs every decision at DEBUG.'),
  },
} as const satisfies Schema;

/** Schema for the service, where the origins are required. */
export const serviceSchema = {
  ...schema,
  published: { allOf: [{ properties: { allow_origins: {} }, required: ['allow_origins'] }] },
} as const satisfies Schema;

export type CorsConfig = Infer<typeof schema>;
