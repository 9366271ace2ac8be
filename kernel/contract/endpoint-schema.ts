import { extraConfig } from './extra-config.ts';
import { HEADER_NAME_PATTERN } from './headers.ts';
import type { Schema } from './schema.ts';

/** Names, each once. */
const names = (description: string, ...example: string[]) =>
  ({ type: 'array', items: { type: 'string' }, uniqueItems: true, description, examples: [example] }) as const;

/** Names of headers, each once. */
const headerNames = (description: string, ...example: string[]) =>
  ({
    ...names(description, ...example),
    items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
  }) as const;

/** The same, or a single empty name. */
const headerFilter = (description: string, ...example: string[]) => {
  const named = { type: 'array', items: { type: 'string', pattern: HEADER_NAME_PATTERN } };
  const empty = { type: 'array', items: { type: 'string', enum: [''] } };
  return { ...names(description, ...example), published: { allOf: [{ anyOf: [named, empty] }] } } as const;
};

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const backendMethods = [...methods, 'OPTIONS', 'HEAD', 'CONNECT', 'TRACE'] as const;

/** The encoding in which an answer passes as the backend gave it; `/__catchall` always has it. */
export const PASSING = 'no-op';

/** One upstream call of an endpoint. */
export const backendSchema = {
  type: 'object',
  title: 'Backend',
  description: 'One call the gateway makes to answer a request.',
  examples: [{ host: ['http://users.internal:8080'], url_pattern: '/users/{id}', deny: ['password'], group: 'user' }],
  required: ['url_pattern'],
  properties: {
    url_pattern: {
      type: 'string',
      description: 'Path, optionally with a query, asked for on the backend; may hold {placeholders}.',
      examples: ['/users/{id}'],
    },
    host: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: "Base addresses, balanced; a repeated one gets a larger share. Default: the service's.",
      examples: [['http://users-1.internal:8080', 'http://users-2.internal:8080']],
    },
    method: {
      type: 'string',
      enum: backendMethods,
      description: "HTTP method towards the backend. Default: the endpoint's.",
    },
    sd: { type: 'string', description: 'How hosts are found: as they are written, or looked up.', default: 'static' },
    sd_scheme: {
      type: 'string',
      pattern: '^[a-zA-Z][a-zA-Z0-9+.-]*$',
      description: 'Scheme put before hosts that are looked up.',
      default: 'http',
      examples: ['https'],
    },
    disable_host_sanitize: {
      type: 'boolean',
      description: 'Take host as it is written: for service discovery, other schemes and placeholders.',
      default: false,
    },
    encoding: { type: 'string', description: "How the backend's body is read.", default: 'json' },
    is_collection: {
      type: 'boolean',
      description: 'The body is an array; it becomes the key "collection".',
      default: false,
    },
    target: {
      type: 'string',
      description: 'Dotted path of the object that becomes the whole result. Default: the body as it is.',
      examples: ['data.user'],
    },
    allow: names('Dotted paths to keep; everything else goes. Default: everything stays.', 'id', 'address.city'),
    deny: names('Dotted paths to remove; ignored beside allow. Default: none.', 'password'),
    mapping: {
      type: 'object',
      values: { type: 'string' },
      description: 'New names of top-level keys. Default: keys keep their names.',
      examples: [{ id: 'user_id' }],
    },
    group: {
      type: 'string',
      description: 'Key under which the whole result is put. Default: it is merged at the top.',
      examples: ['user'],
    },
    input_headers: {
      ...headerFilter(
        'Second filter: of the headers let through, only these; [""] drops all. Default: all of them.',
        'X-Id',
      ),
      default: [],
    },
    input_query_strings: {
      ...names(
        'Second filter: of the parameters let through, only these; [""] drops all. Default: all of them.',
        'page',
      ),
      default: [],
    },
    timeout: {
      type: 'duration',
      description: "Longest time for this backend's answer. Default: what the endpoint has left.",
      examples: ['800ms'],
    },
    extra_config: extraConfig,
  },
} as const satisfies Schema;

/** One published route. */
export const endpointSchema = {
  type: 'object',
  title: 'Endpoint',
  description: 'One route clients may call, and the backends that answer it.',
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
      description: 'Path clients call; may hold {placeholders} and end in /*.',
      examples: ['/users/{id}'],
    },
    method: { type: 'string', enum: methods, description: 'Method clients use.', default: 'GET' },
    backend: {
      type: 'array',
      items: backendSchema,
      minItems: 1,
      description: 'The calls whose results make the response.',
    },
    output_encoding: { type: 'string', description: "How the response is written. Default: the service's, else json." },
    input_headers: {
      ...headerNames('Client headers let through to the backends, in any letter case; "*" for all.', 'Accept-Language'),
      default: [],
    },
    input_query_strings: {
      ...names('Query parameters let through to the backends, by exact name; "*" for all.', 'page', 'limit'),
      default: [],
    },
    concurrent_calls: {
      type: 'integer',
      minimum: 1,
      maximum: 5,
      description: 'How many equal calls are made to each backend; the first good answer is used.',
      default: 1,
    },
    timeout: {
      type: 'duration',
      description: "Longest time for all backends and all processing together. Default: the service's.",
      examples: ['3s'],
    },
    cache_ttl: {
      type: 'duration',
      description: "Life told to clients and caches in Cache-Control. Default: the service's.",
      examples: ['5m'],
    },
    extra_config: extraConfig,
  },
} as const satisfies Schema;
