import type { Infer, Schema } from './schema.ts';
import { clientTlsSchema, serverTlsSchema } from './tls.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const backendMethods = [...methods, 'OPTIONS', 'HEAD', 'CONNECT', 'TRACE'] as const;

const names = (description: string) =>
  ({ type: 'array', items: { type: 'string' }, uniqueItems: true, description }) as const;
const extraConfig = {
  type: 'object',
  description: 'Components: a map from namespace to configuration.',
  default: {},
} as const;

/** One upstream call of an endpoint. */
export const backendSchema = {
  type: 'object',
  title: 'Backend',
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
    },
    method: {
      type: 'string',
      enum: backendMethods,
      description: "HTTP method towards the backend. Default: the endpoint's.",
    },
    sd: { type: 'string', description: 'How hosts are discovered.', default: 'static' },
    sd_scheme: { type: 'string', description: 'Scheme put before discovered hosts.', default: 'http' },
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
    target: { type: 'string', description: 'Dotted path of the object lifted to the root.' },
    allow: names('Dotted paths to keep; everything else goes.'),
    deny: names('Dotted paths to remove. Ignored beside allow.'),
    mapping: { type: 'object', values: { type: 'string' }, description: 'New names of top-level keys.' },
    group: { type: 'string', description: 'Key under which the whole result is put.' },
    input_headers: { ...names('Second filter: of the headers let through, only these; [""] drops all.'), default: [] },
    input_query_strings: {
      ...names('Second filter: of the parameters let through, only these; [""] drops all.'),
      default: [],
    },
    timeout: { type: 'duration', description: "This backend's own deadline. Default: what the endpoint has left." },
    extra_config: extraConfig,
  },
} as const satisfies Schema;

/** One published route. */
export const endpointSchema = {
  type: 'object',
  title: 'Endpoint',
  required: ['endpoint', 'backend'],
  properties: {
    endpoint: {
      type: 'string',
      pattern: '^/[^*?&%]*(/\\*)?$',
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
    input_headers: { ...names('Client headers let through to the backends; "*" for all.'), default: [] },
    input_query_strings: { ...names('Query parameters let through to the backends; "*" for all.'), default: [] },
    concurrent_calls: {
      type: 'integer',
      minimum: 1,
      maximum: 5,
      description: 'How many equal calls are made to each backend; the first good answer is used.',
      default: 1,
    },
    timeout: { type: 'duration', description: "Longest duration of the whole pipe. Default: the service's." },
    cache_ttl: {
      type: 'duration',
      description: "Life told to clients and caches in Cache-Control. Default: the service's.",
    },
    extra_config: extraConfig,
  },
} as const satisfies Schema;

const bodies = { type: 'object', description: 'JSON body.' } as const;

/** `extra_config.router`: how requests are matched and what the gateway answers by itself. */
export const routerSchema = {
  type: 'object',
  title: 'Router',
  properties: {
    return_error_msg: {
      type: 'boolean',
      description: "Write the gateway's error texts into the bodies of failed requests.",
      default: false,
    },
    error_body: {
      type: 'object',
      properties: { '404': bodies, '405': bodies },
      description: 'JSON bodies for unmatched paths and wrong methods.',
    },
    disable_redirect_fixed_path: {
      type: 'boolean',
      description: 'No redirect to a path with corrected letter case.',
      default: false,
    },
    disable_redirect_trailing_slash: {
      type: 'boolean',
      description: 'No redirect for a missing or extra trailing slash.',
      default: false,
    },
    disable_handle_method_not_allowed: { type: 'boolean', description: 'Answer 404 instead of 405.', default: false },
    disable_path_decoding: {
      type: 'boolean',
      description: 'Skip the check for parameters encoded twice.',
      default: false,
    },
    remove_extra_slash: {
      type: 'boolean',
      description: 'Clean duplicate slashes and dot segments before matching.',
      default: false,
    },
    auto_options: { type: 'boolean', description: 'Answer OPTIONS on every declared path.', default: false },
    disable_health: { type: 'boolean', description: 'No health endpoint.', default: false },
    health_path: {
      type: 'string',
      pattern: '^/',
      description: 'Where the health endpoint is served.',
      default: '/__health',
    },
    hide_version_header: { type: 'boolean', description: 'X-Gateway tells no version.', default: false },
    disable_access_log: { type: 'boolean', description: 'No access log.', default: false },
    logger_skip_paths: {
      type: 'array',
      items: { type: 'string' },
      description: 'Exact request paths, without query, that are not logged.',
      default: [],
    },
    forwarded_by_client_ip: {
      type: 'boolean',
      description: "Take the client's address from headers set by trusted proxies.",
      default: false,
    },
    trusted_proxies: {
      type: 'array',
      items: { type: 'string' },
      description: 'Addresses and CIDR ranges whose headers are believed.',
      default: [],
    },
    remote_ip_headers: {
      type: 'array',
      items: { type: 'string' },
      description: "Headers that carry the client's address, tried in order.",
      default: ['X-Forwarded-For', 'X-Real-IP'],
    },
    app_engine: { type: 'boolean', description: 'Believe X-Appengine-Remote-Addr first.', default: false },
    max_payload: {
      type: 'integer',
      minimum: 0,
      description: 'Longest request body in bytes; 0 for no limit.',
      default: 0,
    },
    decompress_gzip: {
      anyOf: [{ type: 'boolean' }, { type: 'integer' }],
      description: 'Inflate gzip request bodies.',
      default: false,
    },
    disable_gzip: { type: 'boolean', description: 'Never compress responses.', default: false },
    use_h2c: { type: 'boolean', description: 'Old place of use_h2c, which stands at the root.', default: false },
  },
} as const satisfies Schema;

const time = (description: string, initial: string) => ({ type: 'duration', description, default: initial }) as const;
const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

/** The whole document. */
export const serviceSchema = {
  type: 'object',
  title: 'Sluice configuration',
  required: ['version'],
  properties: {
    $schema: { type: 'string', description: 'Address of the schema, for editors; never fetched.' },
    version: { type: 'integer', enum: [3], description: 'Version of this format.' },
    name: { type: 'string', description: 'Name of the service in logs and telemetry.', default: '' },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      description: 'Port clients connect to; 0 means 8080.',
      default: 8080,
    },
    listen_ip: { type: 'string', description: 'Address to listen on. Default: all.', default: '' },
    host: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Base addresses of backends that declare none.',
      default: [],
    },
    endpoints: { type: 'array', items: endpointSchema, description: 'The published routes.', default: [] },
    timeout: time('Longest duration of a pipe, for endpoints that set none; 0 means 2s.', '2s'),
    cache_ttl: time('Life told in Cache-Control, for endpoints that set none.', '0s'),
    output_encoding: {
      type: 'string',
      description: 'How responses are written, for endpoints that do not say.',
      default: 'json',
    },
    debug_endpoint: flag('Serve /__debug/, a backend that logs what it is sent.'),
    echo_endpoint: flag('Serve /__echo/, a backend that answers what it is sent.'),
    disable_rest: flag('Allow a {placeholder} at the end of a word, as in /file.{extension}.'),
    read_timeout: time('Longest time for a whole request; 0 for no limit.', '0s'),
    read_header_timeout: time('Longest time for request line and headers; 0 means read_timeout.', '0s'),
    write_timeout: time(
      'Longest time from the end of the request headers to the end of the response; 0 for no limit.',
      '0s',
    ),
    idle_timeout: time('Longest wait for the next request of a connection; 0 means read_timeout.', '0s'),
    max_header_bytes: {
      type: 'integer',
      minimum: 0,
      description: 'Longest request line plus headers in bytes; 0 means 1 MiB.',
      default: 1_000_000,
    },
    tls: serverTlsSchema,
    use_h2c: flag('Serve HTTP/2 without TLS too, on the same port as HTTP/1.1.'),
    max_shutdown_wait_time: time('Longest wait for requests in flight at shutdown; 0 for no limit.', '0s'),
    dns_cache_ttl: time('Pause between look-ups of discovered hosts, 1s or more; 0 means 30s.', '30s'),
    dialer_timeout: time('Longest time for name look-up and connect; 0 for no limit of its own.', '0s'),
    dialer_keep_alive: time('Pause between TCP keep-alive probes; 0 means 15s.', '15s'),
    dialer_fallback_delay: time('Wait before the other address family is tried too; 0 means 300ms.', '300ms'),
    response_header_timeout: time('Longest time from the request sent to the response headers; 0 for no limit.', '0s'),
    idle_connection_timeout: time('Longest life of an unused backend connection; 0 for no limit.', '0s'),
    max_idle_connections_per_host: {
      type: 'integer',
      minimum: 0,
      description: 'Connections kept to one backend host; 0 means 250.',
      default: 250,
    },
    max_idle_connections: {
      type: 'integer',
      minimum: 0,
      description: 'Connections kept to all backend hosts together; 0 for no limit.',
      default: 0,
    },
    client_tls: clientTlsSchema,
    allow_insecure_connections: flag('Old form of client_tls.allow_insecure_connections.'),
    disable_compression: flag('Do not ask backends for gzip.'),
    disable_keep_alives: flag('One backend request per connection.'),
    extra_config: extraConfig,
  },
} as const satisfies Schema;

/** Options of `extra_config.router`. */
export type RouterOptions = Infer<typeof routerSchema>;

/** A backend with everything inherited from its endpoint and the service filled in. Durations are milliseconds. */
export type BackendConfig = Omit<Infer<typeof backendSchema>, 'host' | 'method'> & {
  readonly host: readonly string[];
  /** Empty for the client's own method, under a catch-all. */
  readonly method: string;
};

/** An endpoint with everything inherited from the service filled in. Durations are milliseconds. */
export type EndpointConfig = Omit<
  Infer<typeof endpointSchema>,
  'backend' | 'timeout' | 'cache_ttl' | 'output_encoding'
> & {
  readonly backend: readonly BackendConfig[];
  readonly timeout: number;
  readonly cache_ttl: number;
  readonly output_encoding: string;
};

/** The whole configuration: validated, defaults filled in, frozen. Durations are milliseconds. */
export type ServiceConfig = Omit<Infer<typeof serviceSchema>, 'endpoints'> & {
  readonly endpoints: readonly EndpointConfig[];
  readonly router: RouterOptions;
};
