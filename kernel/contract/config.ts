import { LISTEN_ADDRESS_PATTERN } from '../net/address-pattern.ts';
import { agentSchema } from './agent.ts';
import type { AgentComponents, BackendComponents, EndpointComponents, ServiceComponents } from './components.ts';
import { type backendSchema, endpointSchema } from './endpoint-schema.ts';
import { extraConfig } from './extra-config.ts';
import { forwardClientCertSchema, proxyProtocolSchema } from './listener.ts';
import { pluginPolicyFields } from './plugin-policy.ts';
import type { RouterOptions } from './router-config.ts';
import type { Infer, Schema, Written } from './schema.ts';
import { clientTlsSchema, serverTlsSchema } from './tls.ts';

const time = (description: string, initial: string, example: string) =>
  ({ type: 'duration', description, default: initial, examples: [example] }) as const;
const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

/** Schema of the whole document. */
export const serviceSchema = {
  type: 'object',
  title: 'Sluice configuration',
  description: 'Gateway configuration: listener, defaults, endpoints and components.',
  examples: [
    {
      version: 3,
      port: 8080,
      host: ['http://users.internal:8080'],
      endpoints: [{ endpoint: '/users/{id}', backend: [{ url_pattern: '/users/{id}' }] }],
    },
  ],
  required: ['version'],
  properties: {
    $schema: {
      type: 'string',
      description: 'URL of the JSON Schema of this document, for editors. The gateway never fetches it.',
      examples: ['./sluice.schema.json'],
    },
    version: {
      type: 'integer',
      enum: [3, 4],
      description: 'Version of the configuration format. Versions 3 and 4 have the same fields here.',
    },
    name: {
      type: 'string',
      description: 'Service name in logs and telemetry.',
      default: '',
      examples: ['shop'],
    },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      description: 'Listening port. 0 chooses a free port. Not used if listen_ip names a Unix socket.',
      default: 8080,
    },
    listen_ip: {
      type: 'string',
      published: { pattern: LISTEN_ADDRESS_PATTERN },
      description:
        'IPv4 or IPv6 address to listen on, without a port, or unix: with the absolute path of a Unix socket. If empty, the gateway listens on all addresses. The file of a socket is removed when the gateway stops, and replaced at a start if no process listens on it.',
      default: '',
      examples: ['127.0.0.1', 'unix:/run/sluice/gateway.sock'],
    },
    socket_mode: {
      type: 'string',
      published: { pattern: '^0?[0-7]{3}$' },
      description:
        'Permissions of the Unix socket, in octal. Connecting requires permission to write. Ignored unless listen_ip names a Unix socket.',
      default: '0660',
      examples: ['0666'],
    },
    host: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Hosts for backends without their own `host`: base URLs, or Unix sockets such as unix:///run/app.sock.',
      default: [],
      examples: [['http://users.internal:8080']],
    },
    endpoints: {
      type: 'array',
      items: endpointSchema,
      description: 'The endpoints that clients can call.',
      default: [],
    },
    timeout: time('Timeout of all backends and processing, for endpoints that set none. 0 means 2s.', '2s', '3s'),
    cache_ttl: time(
      'Value of max-age in the Cache-Control header of responses, for endpoints that do not set it. 0 disables the header.',
      '0s',
      '5m',
    ),
    output_encoding: {
      type: 'string',
      description: 'Default response encoding for endpoints.',
      default: 'json',
    },
    debug_endpoint: flag('Serves /__debug/, a backend that logs the requests it receives.'),
    echo_endpoint: flag('Serves /__echo/, a backend that returns the requests it receives.'),
    disable_rest: flag('Allows {placeholders} inside a path segment, as in /file.{extension} and /{from}-{to}.'),
    read_timeout: time('Time limit for receiving a whole request. 0 disables the limit.', '0s', '30s'),
    read_header_timeout: {
      type: 'duration',
      description:
        'Time limit for receiving the request line and headers, at most read_timeout. 0 uses read_timeout; if both are 0, the time is unlimited. Default: 10 seconds.',
      examples: ['5s'],
    },
    write_timeout: time(
      'Time limit from the end of the request headers to the end of the response. 0 disables the limit.',
      '0s',
      '60s',
    ),
    send_timeout: time(
      'Time limit for a client that stops reading, after which a response, stream or WebSocket with unsent data is aborted. 0 disables the limit.',
      '60s',
      '30s',
    ),
    idle_timeout: {
      type: 'duration',
      description:
        'Time that an open connection waits for its next request before it is closed, and for the rest of a body whose request has been answered. 0 uses read_timeout; if both are 0, the time is unlimited. Default: read_timeout, or 2 minutes without one.',
      examples: ['75s'],
    },
    proxy_protocol: proxyProtocolSchema,
    forward_client_cert: forwardClientCertSchema,
    max_connections: {
      type: 'integer',
      minimum: 0,
      description:
        'Maximum number of open client connections per worker. Further connections are closed as soon as they are accepted. 0 disables the limit.',
      default: 20_000,
    },
    max_requests_per_connection: {
      type: 'integer',
      minimum: 0,
      description:
        'Number of requests after which a client connection is closed gracefully: with "Connection: close" in HTTP/1.1, with GOAWAY in HTTP/2. 0 disables the limit.',
      default: 100_000,
    },
    max_header_bytes: {
      type: 'integer',
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'Maximum size of the request line plus headers, in bytes. 0 means 1 MiB.',
      default: 1_000_000,
    },
    tls: serverTlsSchema,
    use_h2c: flag('Also serves HTTP/2 without TLS (h2c), on the same port as HTTP/1.1.'),
    max_shutdown_wait_time: time(
      'Maximum time to wait for requests in progress at shutdown. 0 disables the limit.',
      '0s',
      '20s',
    ),
    dns_cache_ttl: time('Interval at which service discovery looks up hosts, at least 1s. 0 means 30s.', '30s', '10s'),
    dialer_timeout: time('Timeout of DNS resolution and connection to a backend. 0 means 20 seconds.', '0s', '500ms'),
    dialer_keep_alive: time('Interval of TCP keep-alive probes. 0 means 15s.', '15s', '30s'),
    dialer_fallback_delay: time(
      'Delay after which addresses of the other IP family are tried in parallel (Happy Eyeballs). 0 means 300ms.',
      '300ms',
      '100ms',
    ),
    response_header_timeout: time(
      'Timeout from the end of a backend request to its response headers. 0 disables the limit.',
      '0s',
      '2s',
    ),
    idle_connection_timeout: time('Idle timeout of backend connections. 0 disables the limit.', '0s', '90s'),
    max_idle_connections_per_host: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum number of idle connections per backend host. 0 means 250.',
      default: 250,
    },
    max_idle_connections: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum number of idle connections to all backend hosts. 0 disables the limit.',
      default: 0,
    },
    client_tls: clientTlsSchema,
    allow_insecure_connections: {
      ...flag('Deprecated name of client_tls.allow_insecure_connections.'),
      deprecated: true,
    },
    disable_compression: flag('Does not request gzip compression from backends.'),
    disable_keep_alives: flag('Opens a new backend connection for every request.'),
    async_agent: {
      type: 'array',
      items: agentSchema,
      description: 'Async agents: queue consumers, each with its own backends.',
      default: [],
    },
    sequential_start: flag('Connects agents one after another, in the order of the file.'),
    plugin: {
      type: 'object',
      description:
        'Custom plugins loaded from files. They are validated and hot-reloaded together with the configuration.',
      examples: [{ folder: './plugins/' }, { packages: ['@acme/sluice-audit'] }],
      properties: {
        folder: {
          type: 'string',
          minLength: 1,
          description:
            'Plugin folder, relative to the working directory. Loads every .ts, .mts, .js and .mjs file directly inside it, except .test, .spec and .d files.',
          examples: ['./plugins/'],
        },
        pattern: {
          type: 'string',
          description: 'Substring that the name of a plugin file must contain.',
          default: '',
          examples: ['.plugin.'],
        },
        on_load_default_error: {
          type: 'string',
          enum: ['critical', 'error', 'passthrough'],
          description: 'Behavior if a plugin cannot be loaded. Default: critical.',
          unused: { because: 'a plugin that cannot be loaded prevents the start', unless: ['critical'] },
        },
        packages: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'Installed npm packages that export plugins, resolved from the working directory.',
          default: [],
          examples: [['@acme/sluice-audit']],
        },
        ...pluginPolicyFields,
      },
    },
    extra_config: extraConfig,
  },
} as const satisfies Schema;

/** A backend with all values inherited from its endpoint and the service. Durations are in milliseconds. */
export type BackendConfig = Omit<Infer<typeof backendSchema>, 'host' | 'method'> & {
  readonly host: readonly string[];
  /** Empty for the client's method, in endpoints that serve every method. */
  readonly method: string;
  /**
   * True if the backend declares no method, so that it uses the method of the endpoint. Not enumerable, so it is not
   * part of any output.
   */
  readonly [inheritsMethod]?: true;
};

/** Key that marks a backend whose method is inherited from the endpoint. */
export const inheritsMethod: unique symbol = Symbol('inherits the method');

/** An endpoint with all values inherited from the service. Durations are in milliseconds. */
export type EndpointConfig = Omit<
  Infer<typeof endpointSchema>,
  'backend' | 'timeout' | 'cache_ttl' | 'output_encoding'
> & {
  readonly backend: readonly BackendConfig[];
  readonly timeout: number;
  readonly cache_ttl: number;
  readonly output_encoding: string;
};

/** A pipe with all values filled in: an endpoint that clients cannot call. */
export type PipeConfig = EndpointConfig & {
  /** For sequential backends: whether the next backend is called after one has failed. */
  readonly ignore_errors?: boolean;
};

/** An agent with all values filled in. Durations are in milliseconds. */
export type AgentConfig = EndpointConfig & Omit<Infer<typeof agentSchema>, keyof EndpointConfig>;

/** The whole configuration: validated, completed with defaults, frozen. Durations are in milliseconds. */
export type ServiceConfig = Omit<Infer<typeof serviceSchema>, 'endpoints' | 'async_agent'> & {
  readonly async_agent: readonly AgentConfig[];
  readonly endpoints: readonly EndpointConfig[];
  readonly router: RouterOptions;
};

/** A backend as written in TypeScript. */
export interface BackendSettings extends Omit<Written<typeof backendSchema>, 'extra_config'> {
  readonly extra_config?: BackendComponents | undefined;
}

/**
 * An endpoint as written in TypeScript. `backend` is optional because some components respond without calling a
 * backend.
 */
export interface EndpointSettings extends Omit<Written<typeof endpointSchema>, 'backend' | 'extra_config'> {
  readonly backend?: readonly BackendSettings[] | undefined;
  readonly extra_config?: EndpointComponents | undefined;
}

/** An async agent as written in TypeScript. */
export interface AgentSettings extends Omit<Written<typeof agentSchema>, 'backend' | 'extra_config'> {
  readonly backend: readonly BackendSettings[];
  readonly extra_config: AgentComponents;
}

type WrittenService = Omit<Written<typeof serviceSchema>, 'endpoints' | 'async_agent' | 'extra_config'>;

/** A configuration as written in TypeScript: the content of a file. */
export interface Configuration extends WrittenService {
  readonly endpoints?: readonly EndpointSettings[] | undefined;
  readonly async_agent?: readonly AgentSettings[] | undefined;
  readonly extra_config?: ServiceComponents | undefined;
}
