import { TRUSTED_PEER_PATTERN } from '../net/address-pattern.ts';
import { HEADER_NAME_PATTERN } from './headers.ts';
import type { Infer, Schema } from './schema.ts';

const body = (description: string) =>
  ({ type: 'object', description, examples: [{ message: 'no such resource' }] }) as const;

/** Schema of `extra_config.router`: request matching, and responses of the gateway itself. */
export const routerSchema = {
  type: 'object',
  title: 'Router',
  description: 'Request matching, and responses that the gateway sends by itself.',
  examples: [{ return_error_msg: true, error_body: { '404': { message: 'no such resource' } } }],
  properties: {
    return_error_msg: {
      type: 'boolean',
      description: "Writes the gateway's error messages into the bodies of failed requests.",
      default: false,
    },
    error_body: {
      type: 'object',
      properties: {
        '404': body('JSON body for paths that match no endpoint. Default: plain text.'),
        '405': body('JSON body for requests whose method the path does not support. Default: plain text.'),
      },
      description: 'Custom JSON response bodies for unknown paths and unsupported methods.',
    },
    disable_redirect_fixed_path: {
      type: 'boolean',
      description: 'Disables redirects from a path with different letter case to the path of the endpoint.',
      default: false,
    },
    disable_redirect_trailing_slash: {
      type: 'boolean',
      description: 'Disables redirects for a missing or extra trailing slash.',
      default: false,
    },
    disable_handle_method_not_allowed: {
      type: 'boolean',
      description: 'Returns 404 instead of 405 for an unsupported method.',
      default: false,
    },
    disable_path_decoding: {
      type: 'boolean',
      description: 'Disables the check for double-encoded path parameters.',
      default: false,
    },
    remove_extra_slash: {
      type: 'boolean',
      description: 'Removes duplicate slashes and dot segments from paths before matching.',
      default: false,
    },
    path_parameters: {
      type: 'string',
      enum: ['pass', 'refuse'],
      description:
        'Handling of paths that contain a matrix parameter: a segment with a ";" or "%3b", as in /area/private;a=b. Some backends drop such parameters and then see another path than the gateway. "pass" treats the parameter as part of the segment; "refuse" rejects the request with 400.',
      default: 'pass',
      examples: ['refuse'],
    },
    auto_head: {
      type: 'boolean',
      description:
        'Answers HEAD requests with the GET endpoint of the path, without a body. If disabled, they get 405, as in KrakenD.',
      default: true,
    },
    auto_options: { type: 'boolean', description: 'Answers OPTIONS requests on every declared path.', default: false },
    disable_health: { type: 'boolean', description: 'Disables the health endpoint.', default: false },
    health_path: {
      type: 'string',
      pattern: '^/',
      description: 'Path of the health endpoint.',
      default: '/__health',
    },
    disable_ready: {
      type: 'boolean',
      description: 'Disables the readiness endpoint.',
      default: false,
    },
    ready_path: {
      type: 'string',
      pattern: '^/',
      description:
        'Path of the readiness endpoint, for probes of Kubernetes and load balancers: 200 while the gateway accepts requests, 503 while it drains.',
      default: '/__ready',
      examples: ['/readyz'],
    },
    hide_version_header: {
      type: 'boolean',
      description: 'Hides the version number in the X-Gateway header: "Version undefined" instead of "Version 1.2.3".',
      default: false,
    },
    compatible_headers: {
      type: 'boolean',
      description:
        'Uses the header names of KrakenD: X-Krakend and X-Krakend-Completed in responses, "User-Agent: KrakenD Version …" to backends. If disabled: X-Gateway, X-Gateway-Completed and Sluice.',
      default: false,
    },
    disable_access_log: { type: 'boolean', description: 'Disables the access log.', default: false },
    logger_skip_paths: {
      type: 'array',
      items: { type: 'string' },
      description: 'Exact request paths, without query, to exclude from the access log.',
      default: [],
      examples: [['/__health']],
    },
    forwarded_by_client_ip: {
      type: 'boolean',
      description: "Takes the client's IP address from headers set by trusted proxies.",
      default: false,
    },
    trusted_proxies: {
      type: 'array',
      items: { type: 'string', published: { pattern: TRUSTED_PEER_PATTERN } },
      description:
        'Trusted proxies: IP addresses, CIDR ranges, and `unix:` for all connections over Unix sockets. Used by forwarded_by_client_ip and request_id.',
      default: [],
      examples: [['10.0.0.0/8', '192.168.1.7']],
    },
    remote_ip_headers: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      description: "Headers that contain the client's IP address, in order of precedence.",
      default: ['X-Forwarded-For', 'X-Real-IP'],
    },
    request_id: {
      type: 'string',
      published: { pattern: `^$|${HEADER_NAME_PATTERN}` },
      description:
        'Header that carries the request ID, for example X-Request-Id. An ID in the client\'s request is kept only if the request comes from trusted_proxies and the ID consists of at most 128 letters, digits and ._~:/+=@-; otherwise the gateway generates one. The ID is sent to backends, and to clients with every response, including errors. It appears in the access log, the log lines of failed requests, the server span, and "request_id" in JSON errors for AI clients. If empty, request IDs are disabled.',
      default: '',
      examples: ['X-Request-Id'],
    },
    app_engine: {
      type: 'boolean',
      description:
        "Takes the client's IP address from X-Appengine-Remote-Addr, with precedence over all other headers.",
      default: false,
    },
    max_payload: {
      type: 'integer',
      minimum: 0,
      description:
        'Maximum request body size in bytes for every endpoint. 0 disables the limit. Default: no limit, but at most 1 MiB for bodies that a component parses, and 64 MiB for bodies that are kept in memory.',
      examples: [1_048_576],
    },
    decompress_gzip: {
      anyOf: [{ type: 'boolean' }, { type: 'integer' }],
      description: 'Decompresses gzip request bodies.',
      default: false,
    },
    disable_gzip: {
      type: 'boolean',
      description: 'Disables response compression, which uses zstd, brotli or gzip, as the client accepts.',
      default: false,
    },
    gzip_profile: {
      type: 'string',
      enum: ['balanced', 'speed', 'compression'],
      description:
        'Trade-off of response compression: "speed" takes less CPU time, "compression" sends fewer bytes. Applies to every coding.',
      default: 'balanced',
    },
    use_h2c: {
      type: 'boolean',
      description: 'Deprecated: write `use_h2c` at the root of the configuration instead.',
      default: false,
      deprecated: true,
    },
  },
} as const satisfies Schema;

/** Options of `extra_config.router`. */
export type RouterOptions = Infer<typeof routerSchema>;
