import { extraConfig } from './extra-config.ts';
import { HEADER_NAME_PATTERN } from './headers.ts';
import type { Schema } from './schema.ts';

/** Schema of a list of unique names. */
const names = (description: string, ...example: string[]) =>
  ({ type: 'array', items: { type: 'string' }, uniqueItems: true, description, examples: [example] }) as const;

/** Schema of a list of unique header names. */
const headerNames = (description: string, ...example: string[]) =>
  ({
    ...names(description, ...example),
    items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
  }) as const;

/** Schema of a list of unique header names, or of a single empty name. */
const headerFilter = (description: string, ...example: string[]) => {
  const named = { type: 'array', items: { type: 'string', pattern: HEADER_NAME_PATTERN } };
  const empty = { type: 'array', items: { type: 'string', enum: [''] } };
  return { ...names(description, ...example), published: { allOf: [{ anyOf: [named, empty] }] } } as const;
};

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] as const;
const backendMethods = [...methods, 'HEAD', 'CONNECT', 'TRACE'] as const;

/** Method of an endpoint that serves every method without an endpoint of its own on the same path. */
export const ANY = 'ANY';

/** The encoding that passes responses through unchanged. `/__catchall` always uses it. */
export const PASSING = 'no-op';

/** Schema of a backend call. */
export const backendSchema = {
  type: 'object',
  title: 'Backend',
  description: 'A backend call that contributes to the response.',
  examples: [{ host: ['http://users.internal:8080'], url_pattern: '/users/{id}', deny: ['password'], group: 'user' }],
  required: ['url_pattern'],
  properties: {
    url_pattern: {
      type: 'string',
      description: 'Path of the backend request, optionally with a query. Can contain {placeholders}.',
      examples: ['/users/{id}'],
    },
    host: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        "Base URLs of the backend. Requests are load-balanced over them; a URL that is listed several times gets a larger share. unix:///run/app.sock calls a server on a Unix socket over HTTP/1.1, with localhost as the host. Default: the service's `host`.",
      examples: [['http://users-1.internal:8080', 'http://users-2.internal:8080']],
    },
    method: {
      type: 'string',
      enum: backendMethods,
      description:
        "HTTP method of the backend request. Default: the endpoint's method, or the method of the client's request if the endpoint has ANY.",
    },
    sd: {
      type: 'string',
      description: 'Service discovery method. `static` uses the hosts as written.',
      default: 'static',
    },
    sd_scheme: {
      type: 'string',
      pattern: '^[a-zA-Z][a-zA-Z0-9+.-]*$',
      description: 'URL scheme for hosts returned by service discovery.',
      default: 'http',
      examples: ['https'],
    },
    disable_host_sanitize: {
      type: 'boolean',
      description:
        'Uses the hosts exactly as written, as required for service discovery, placeholders and schemes other than http and https.',
      default: false,
    },
    encoding: { type: 'string', description: "Encoding of the backend's response body.", default: 'json' },
    is_collection: {
      type: 'boolean',
      description: 'Marks the response body as an array, which is returned under the key "collection".',
      default: false,
    },
    target: {
      type: 'string',
      description: 'Dotted path of the object that replaces the whole result. Default: the body is used as is.',
      examples: ['data.user'],
    },
    allow: names(
      'Dotted paths of the fields to keep. All others are removed. Default: all fields are kept.',
      'id',
      'address.city',
    ),
    deny: names('Dotted paths of the fields to remove. Ignored if allow is set. Default: none.', 'password'),
    mapping: {
      type: 'object',
      values: { type: 'string' },
      description: 'New names for top-level keys. Default: keys keep their names.',
      examples: [{ id: 'user_id' }],
    },
    group: {
      type: 'string',
      description: 'Key that wraps the whole result. Default: the result is merged at the top level.',
      examples: ['user'],
    },
    input_headers: {
      ...headerFilter(
        'Headers to forward, out of those that the endpoint accepts. [""] forwards none. Default: all of them.',
        'X-Id',
      ),
      default: [],
    },
    input_query_strings: {
      ...names(
        'Query parameters to forward, out of those that the endpoint accepts. [""] forwards none. Default: all of them.',
        'page',
      ),
      default: [],
    },
    timeout: {
      type: 'duration',
      description: 'Timeout of the backend call. Default: the remaining time of the endpoint.',
      examples: ['800ms'],
    },
    extra_config: extraConfig,
  },
} as const satisfies Schema;

/** Schema of an endpoint. */
export const endpointSchema = {
  type: 'object',
  title: 'Endpoint',
  description: 'A route that clients can call, and the backends that answer it.',
  examples: [
    {
      endpoint: '/users/{id}',
      input_query_strings: ['lang'],
      timeout: '1500ms',
      backend: [{ host: ['http://users.internal:8080'], url_pattern: '/users/{id}' }],
    },
  ],
  required: ['endpoint', 'backend'],
  properties: {
    endpoint: {
      type: 'string',
      pattern: '^/[^*?&%]*(/\\*)?$',
      published: { pattern: '^/([{][\\w-]+[}])?([^*?&%:{}]+([{][\\w-]+[}])?)*(/\\*)?$' },
      description: 'Path that clients call. Can contain {placeholders} and end in /*.',
      examples: ['/users/{id}'],
    },
    method: {
      type: 'string',
      enum: [...methods, ANY],
      description:
        'HTTP method of the endpoint. "ANY" serves every method that has no endpoint of its own on the same path, and backends get the client\'s method. OPTIONS endpoints take precedence over auto_options, but preflights of CORS are answered before both. QUERY is a GET with a request body. KrakenD accepts neither OPTIONS nor ANY.',
      default: 'GET',
      examples: ['POST', ANY],
    },
    backend: {
      type: 'array',
      items: backendSchema,
      minItems: 1,
      description: 'Backend calls whose results form the response.',
    },
    output_encoding: {
      type: 'string',
      description: "Response encoding. Default: the service's output_encoding, or json.",
    },
    input_headers: {
      ...headerNames(
        'Client headers forwarded to the backends, case-insensitive. "*" forwards all.',
        'Accept-Language',
      ),
      default: [],
    },
    input_query_strings: {
      ...names('Query parameters forwarded to the backends, case-sensitive. "*" forwards all.', 'page', 'limit'),
      default: [],
    },
    concurrent_calls: {
      type: 'integer',
      minimum: 1,
      maximum: 5,
      description: 'Number of identical concurrent calls to each backend. The first successful response is used.',
      default: 1,
    },
    timeout: {
      type: 'duration',
      description:
        "Timeout of the whole request, including all backends and processing. Default: the service's timeout.",
      examples: ['3s'],
    },
    cache_ttl: {
      type: 'duration',
      description: "Value of max-age in the Cache-Control header of responses. Default: the service's cache_ttl.",
      examples: ['5m'],
    },
    extra_config: extraConfig,
  },
} as const satisfies Schema;
