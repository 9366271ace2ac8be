import { generateKeyPairSync } from 'node:crypto';

const googleKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** Addresses of the other systems of a configuration. */
export interface Surroundings {
  /** Origin of the backends, of the token server and of every other HTTP service. */
  readonly upstream: string;
  /** Port that receives GELF messages over UDP. */
  readonly gelfPort: number;
  /** A free port, for Prometheus. */
  readonly metricsPort: number;
  /** Port of a Redis, if there is one. */
  readonly redisPort: number;
  /** `host:port` of a gRPC server. */
  readonly grpcHost: string;
  /** A free port, for revocations. */
  readonly revokerPort: number;
}

/** The same configuration each time, except for one number that a reload changes. */
export function everything(
  { upstream, gelfPort, metricsPort, redisPort, revokerPort, grpcHost }: Surroundings,
  round = 0,
): object {
  const validator = {
    alg: 'HS256',
    jwk_local_path: 'samples/tokens/keys.json',
    roles: ['reader'],
    propagate_claims: [['sub', 'X-User']],
  };
  return {
    version: 3,
    name: 'everything',
    plugin: { folder: 'test/everything/plugins/' },
    host: [upstream],
    timeout: '5s',
    extra_config: {
      router: { return_error_msg: true, disable_access_log: false },
      'admin/reload': { drain_timeout: '10s' },
      'plugin/http-server': {
        name: ['passing', 'url-rewrite', 'geoip', 'ip-filter'],
        'url-rewrite': { literal: { '/me': '/users/1' } },
        geoip: { citydb_path: 'samples/filters/city.mmdb' },
        'ip-filter': { CIDR: ['192.0.2.0/24'], client_ip_headers: [] },
      },
      'server/virtualhost': { aliased_hosts: { shop: 'shop.example:9000' } },
      'server/static-filesystem': { prefix: '/site/', path: 'samples/website/public' },
      grpc: {
        catalog: ['test/support/grpc/shop.pb'],
        server: {
          services: [
            {
              name: 'shop.Shop',
              methods: [
                {
                  name: 'Find',
                  input_headers: ['x-tenant'],
                  payload_params: { name: 'name' },
                  backend: [
                    {
                      host: [grpcHost],
                      url_pattern: '/shop.Shop/Find',
                      extra_config: { 'backend/grpc': { use_request_body: true } },
                    },
                    { host: [upstream], url_pattern: '/users/{name}', group: 'user' },
                  ],
                },
              ],
            },
          ],
        },
      },
      'secrets/file': { directories: ['samples'] },
      'secrets/vault': { address: upstream, auth: { method: 'token', token: 'of-the-test' } },
      'secrets/aws-sm': { region: 'eu-west-1', endpoint: upstream },
      'security/cors': { allow_origins: ['https://*.shop.example'], allow_methods: ['GET', 'POST'] },
      'security/http': { content_type_nosniff: true, frame_deny: true },
      'security/bot-detector': { patterns: ['(?i)badbot'], cache_size: 100 },
      'auth/api-keys': { identifier: 'X-Api-Key', keys: [{ key: 'of-the-test', roles: ['tester'] }] },
      'ai/chat-completions': {
        models: [
          {
            name: 'test',
            backend: [
              {
                url_pattern: '/v1/messages',
                method: 'POST',
                extra_config: {
                  'ai/llm': {
                    anthropic: { v1: { credentials: 'of-the-gateway', variables: { model: 'test', round } } },
                  },
                },
              },
            ],
          },
        ],
      },
      'ai/classifiers': {
        gates: [{ name: 'premium', rule: 'policy', policy: { value: "getHeader('X-Plan') == 'premium'" } }],
        classifiers: [{ name: 'own', engine: 'http', http: { url: `${upstream}/classify` } }],
      },
      'ai/providers': {
        providers: [
          {
            name: 'fast',
            provider: 'openai',
            credentials: 'of-the-gateway',
            model: `test-${round}`,
            endpoint: upstream,
          },
        ],
      },
      'ai/semantic-cache': { embedders: [{ name: 'default', url: `${upstream}/embeddings` }] },
      'ai/prompt-guard': {
        guards: [{ name: 'codename', kind: 'regex', severity: 'high', config: { patterns: [`codename ${round}`] } }],
      },
      'ai/mcp': {
        servers: [
          {
            name: 'things',
            title: 'Things',
            version: String(round),
            json_response: true,
            tools: [
              {
                name: 'user',
                title: 'User',
                description: 'Looks a user up.',
                input_schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
                workflow: { endpoint: '/{id}', backend: [{ url_pattern: '/users/{id}', allow: ['user'] }] },
              },
              { name: 'order', title: 'Order', description: 'Orders.', endpoint: '/orders', method: 'POST' },
            ],
          },
        ],
      },
      // The password of the user ada is "p".
      'auth/basic': { users: { ada: '$2b$04$9cyTj46YeNWDwCIIuQ/v/.JNO9zLDIKLKJFcbv9rqWoW.JmJYtntu' } },
      'auth/introspection': {
        introspection_url: `${upstream}/introspect`,
        client_id: 'gateway',
        client_secret: 'of-the-test',
      },
      'auth/oidc': {
        public_url: 'https://app.test',
        providers: [
          { name: 'main', issuer: 'https://127.0.0.1:1', client_id: 'gateway', client_secret: 'of-the-test' },
        ],
        session: { secrets: ['of-the-test-'.repeat(3)], connection_name: 'counters', max_age: `${10 + (round % 5)}h` },
      },
      'auth/validator': { shared_cache_duration: 60 },
      'auth/revoker': {
        N: 1000,
        P: 1e-6,
        hash_name: 'optimal',
        TTL: 3600,
        port: revokerPort,
        token_keys: ['jti', 'sub'],
      },
      'validation/cel': [{ check_expr: "req_method != 'DELETE'" }],
      redis: { connection_pools: [{ name: 'counters', address: `127.0.0.1:${redisPort}`, command_timeout: '20s' }] },
      'governance/processors': {
        quotas: [
          {
            name: 'all',
            connection_name: 'counters',
            rules: [{ name: 'any', limits: [{ amount: 1e9 + round, unit: 'year' }] }],
            on_failure_allow: true,
          },
        ],
      },
      'qos/ratelimit/service/redis': { connection_name: 'counters', max_rate: 1e6 + round, on_failure_allow: true },
      'qos/ratelimit/service': { max_rate: 1e6, client_max_rate: 1e6 + round, strategy: 'ip' },
      'modifier/request-body-extractor': {
        operations: [
          { type: 'header', strategy: 'dotnotation', expression: 'item', target: 'X-Item', on_conflict: 'replace' },
        ],
      },
      'modifier/response-headers': { add: { 'X-Served-By': ['gateway'] }, delete: ['X-Powered-By'] },
      'modifier/lua-endpoint': { pre: "ctx.load():headers('X-Scripted', 'client')" },
      'telemetry/logging': { level: 'INFO', prefix: 'everything', stdout: true },
      'telemetry/influx': { address: upstream, ttl: '1s' },
      'telemetry/opentelemetry': {
        exporters: {
          prometheus: [{ name: 'local', port: metricsPort, listen_ip: '127.0.0.1', process_metrics: true }],
          otlp: [{ name: 'collector', host: '127.0.0.1', port: Number(new URL(upstream).port), use_http: true }],
        },
        trace_sample_rate: 0.5,
      },
      'telemetry/opentelemetry-security': { otlp: [{ name: 'collector', headers: { 'X-Team': 'test' } }] },
      'documentation/openapi': { version: '1.0.0', serve: { path: '/docs' } },
      'documentation/postman': { version: '1.0.0', folder: [{ name: 'Users' }] },
      'telemetry/metrics': { collection_time: '1s', endpoint_disabled: true },
      'telemetry/recorder': { sample_rate: 0.5, max_bytes: 1_000_000, fields: ['email'] },
      'telemetry/logstash': { enabled: true },
      'telemetry/gelf': { address: `127.0.0.1:${gelfPort}`, enable_tcp: false },
    },
    async_agent: [
      {
        name: 'all',
        consumer: { topic: '#' },
        backend: [{ url_pattern: '/orders', method: 'POST' }],
        extra_config: { 'async/amqp': { host: 'amqp://127.0.0.1:1/', name: 'all', exchange: 'all' } },
      },
      {
        name: 'records',
        consumer: { topic: 'all' },
        backend: [{ url_pattern: '/orders', method: 'POST' }],
        extra_config: { 'async/kafka': { cluster: { brokers: ['127.0.0.1:1'] } } },
      },
      {
        name: 'subjects',
        consumer: { topic: 'all.>' },
        backend: [{ url_pattern: '/orders', method: 'POST' }],
        extra_config: { 'async/nats': { host: 'nats://127.0.0.1:1' } },
      },
    ],
    endpoints: [
      {
        endpoint: '/introspected',
        extra_config: { 'auth/introspection': { scopes: ['read'], leeway: `${1 + (round % 5)}s` } },
        backend: [{ url_pattern: '/orders' }],
      },
      {
        endpoint: '/logged-in',
        extra_config: { 'auth/oidc': { roles: ['user'], propagate_claims: [['sub', 'X-User']] } },
        input_headers: ['X-User'],
        backend: [{ url_pattern: '/orders' }],
      },
      {
        endpoint: '/decided',
        extra_config: {
          'auth/external': { url: `${upstream}/verify`, timeout: `${10 + (round % 5)}s`, response_headers: ['X-User'] },
        },
        backend: [{ url_pattern: '/orders' }],
      },
      {
        endpoint: '/signed',
        extra_config: {
          'auth/http-signatures': {
            alg: 'HS256',
            jwk_local_path: 'samples/tokens/keys.json',
            leeway: `${5 + (round % 5)}s`,
          },
        },
        backend: [
          {
            url_pattern: '/orders',
            extra_config: {
              'auth/http-signatures': { alg: 'HS256', kid: 'sample', jwk_local_path: 'samples/tokens/keys.json' },
            },
          },
        ],
      },
      { endpoint: '/__virtual/shop/orders', backend: [{ url_pattern: '/orders' }] },
      {
        endpoint: '/users/{id}',
        input_headers: ['X-User', 'X-Round', 'X-Scripted'],
        extra_config: {
          'documentation/openapi': { summary: 'One user', operation_id: 'getUser' },
          'documentation/postman': { folder: 'Users' },
          'modifier/lua-proxy': {
            pre: "seen = request.load():headers('X-Scripted')",
            post: "response.load():data():set('scripted', seen)",
          },
          'auth/validator': validator,
          'security/cors': { allow_origins: ['https://www.shop.example'] },
          'security/http': { frame_deny: true },
          'security/bot-detector': { deny: ['BadClient'] },
          'security/policies': {
            req: { policies: ["!isEmpty(JWT.sub) && clientIP() != ''"] },
            jwt: { policies: ["hasRole(JWT.roles, 'reader')"] },
            resp: { policies: ['resp_completed'] },
          },
          'validation/cel': [{ check_expr: "JWT.sub != 'mallory' && size(req_params.Id) < 20" }],
          'qos/ratelimit/router': { max_rate: 1e6, client_max_rate: 1e6 + round, strategy: 'ip' },
          'qos/ratelimit/tiered': {
            tier_key: 'X-Plan',
            tiers: [{ tier_value_as: '*', ratelimit: { max_rate: 1e6 + round } }],
          },
          'governance/quota': {
            quota_name: 'all',
            tier_key: 'X-Plan',
            tiers: [{ rule_name: 'any', tier_value_as: '*', strategy: 'ip' }],
          },
          'qos/ratelimit/router/redis': {
            connection_name: 'counters',
            client_max_rate: 1e6,
            strategy: 'ip',
            on_failure_allow: true,
          },
          proxy: { combiner: 'deep' },
          'modifier/jmespath': { expr: 'merge(@, {round: round})' },
          'modifier/response-body': { modifiers: [{ trim: { field: 'user', find: ' ' } }] },
          'modifier/response-body-generator': { template: 'e3sgdG9Kc29uIC5yZXNwX2JvZHkgfX0=' },
        },
        backend: [
          {
            url_pattern: '/users/{id}',
            extra_config: {
              'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 100 },
              'qos/ratelimit/proxy': { max_rate: 1e6, capacity: 1e6 },
              'validation/cel': [{ check_expr: "req_method == 'GET'" }],
              'modifier/lua-backend': { pre: "local r = request.load(); r:headers('X-Path', r:path())" },
              'modifier/martian': {
                'header.Modifier': { scope: ['request'], name: 'X-Round', value: String(round) },
              },
              'telemetry/logging': { backend: { log_with_level: 'INFO' } },
            },
          },
          {
            url_pattern: '/shared/{id}',
            extra_config: {
              'qos/http-cache': { shared: true },
              'qos/circuit-breaker/http': {
                interval: 60,
                timeout: 10,
                max_errors: 100,
                valid_status_codes: [200, 404],
              },
              'auth/client-credentials': {
                client_id: 'gateway',
                client_secret: 'of-the-test',
                token_url: `${upstream}/oauth/token`,
              },
              'backend/http/client': { no_redirect: true, http2: false },
            },
          },
        ],
      },
      {
        endpoint: '/orders',
        method: 'POST',
        extra_config: {
          'modifier/request-body-generator': { template: 'e3sgLnJlcV9ib2R5X3N0ciB9fQ==' },
          'modifier/request-body-extractor/early': {
            operations: [
              { type: 'query_string', strategy: 'jmespath', expression: 'item', target: 'item', on_conflict: 'skip' },
            ],
          },
          'validation/json-schema': {
            type: 'object',
            required: ['item'],
            properties: { item: { type: 'string' } },
          },
        },
        backend: [
          {
            url_pattern: '/orders',
            extra_config: {
              'auth/aws-sigv4': { region: 'eu-west-1', service: 'execute-api' },
              'modifier/body-generator': { template: 'eyJpdGVtIjp7eyB0b0pzb24gLnJlcV9ib2R5Lml0ZW0gfX19' },
              'backend/http': { return_error_details: 'orders' },
              'backend/retry': { attempts: 3, non_idempotent: true, attempt_timeout: '1s' },
              'plugin/http-client': { name: 'passing' },
            },
          },
        ],
      },
      {
        endpoint: '/socket/{room}',
        extra_config: { websocket: { enable_direct_communication: true, subprotocols: ['chat'] } },
        backend: [
          { host: [upstream.replace('http', 'ws')], disable_host_sanitize: true, url_pattern: '/rooms/{room}' },
        ],
      },
      {
        endpoint: '/shared-socket',
        extra_config: { websocket: { connect_event: true, backoff_strategy: 'exponential' } },
        backend: [{ host: [upstream.replace('http', 'ws')], disable_host_sanitize: true, url_pattern: '/rooms' }],
      },
      {
        endpoint: '/graph/{id}',
        extra_config: {
          'auth/basic': {},
          'plugin/middleware': { name: ['passing'] },
          'plugin/req-resp-modifier': {
            name: ['passing', 'content-replacer'],
            'content-replacer': { 'user.none': { find: 'a', replace: 'b' } },
          },
          'validation/response-json-schema': { schema: { type: 'object', required: ['user'] } },
        },
        backend: [
          {
            url_pattern: '/graphql',
            target: 'data',
            extra_config: {
              'backend/graphql': {
                type: 'query',
                query: 'query User($id: ID) { user(id: $id) { name } }',
                variables: { id: '{id}' },
              },
            },
          },
        ],
      },
      {
        endpoint: '/models/{model}',
        method: 'POST',
        input_headers: ['Content-Type'],
        backend: [
          {
            url_pattern: '/v1/responses',
            method: 'POST',
            extra_config: {
              'modifier/request-body-generator': {
                template: 'eyJjb250ZW50cyI6e3sgdG9Kc29uIC5yZXFfYm9keS5pdGVtIH19fQ==',
              },
              'ai/llm': { openai: { v1: { credentials: 'of-the-gateway', variables: { model: 'test', round } } } },
            },
          },
        ],
      },
      {
        endpoint: '/models-by-provider',
        method: 'POST',
        input_headers: ['Content-Type'],
        backend: [{ extra_config: { 'ai/llm': { provider: 'fast' } } }],
      },
      {
        endpoint: '/models-by-route',
        method: 'POST',
        input_headers: ['Content-Type'],
        backend: [
          {
            extra_config: { 'ai/router': { routes: [{ gates: ['premium'], provider: 'fast' }, { provider: 'fast' }] } },
          },
        ],
      },
      {
        endpoint: '/v1/chat/completions',
        method: 'POST',
        extra_config: {
          'ai/chat-completions': { models: ['test'] },
          'ai/prompt-guard': { guards: ['codename', '!low'] },
          'ai/redaction': {},
        },
        backend: [{ url_pattern: '/never' }],
      },
      {
        endpoint: '/mcp',
        method: 'POST',
        extra_config: { 'ai/mcp': { server_name: 'things' } },
        backend: [{ url_pattern: '/never' }],
      },
      {
        endpoint: '/files/*',
        output_encoding: 'no-op',
        backend: [
          { url_pattern: '/', extra_config: { 'backend/static-filesystem': { path: 'samples/website/public' } } },
        ],
      },
      {
        endpoint: '/nested/{id}',
        backend: [
          {
            url_pattern: '/__workflow/orders/{id}',
            extra_config: {
              workflow: {
                endpoint: '/orders/{id}',
                ignore_errors: true,
                backend: [{ url_pattern: '/orders' }, { url_pattern: '/login', group: 'login' }],
              },
            },
          },
        ],
      },
      {
        endpoint: '/messages',
        method: 'POST',
        backend: [
          {
            host: ['nats://'],
            disable_host_sanitize: true,
            url_pattern: '/',
            extra_config: { 'backend/pubsub/publisher': { topic_url: 'messages' } },
          },
        ],
      },
      {
        endpoint: '/messages/next',
        backend: [
          {
            host: ['nats://'],
            disable_host_sanitize: true,
            url_pattern: '/',
            extra_config: { 'backend/pubsub/subscriber': { subscription_url: 'messages' } },
          },
        ],
      },
      {
        endpoint: '/records',
        method: 'POST',
        backend: [
          {
            url_pattern: '/',
            extra_config: {
              'backend/pubsub/publisher/kafka': { writer: { topic: 'records', cluster: { brokers: ['127.0.0.1:1'] } } },
            },
          },
        ],
      },
      {
        endpoint: '/records/next',
        backend: [
          {
            url_pattern: '/',
            extra_config: {
              'backend/pubsub/subscriber/kafka': {
                reader: { topics: ['records'], cluster: { brokers: ['127.0.0.1:1'] } },
              },
            },
          },
        ],
      },
      {
        endpoint: '/capital-of/{country}',
        backend: [{ url_pattern: '/soap', extra_config: { 'backend/soap': { path: 'samples/soap/capital.xml' } } }],
      },
      {
        endpoint: '/things/{name}',
        backend: [
          {
            host: [grpcHost],
            url_pattern: '/shop.Shop/Find',
            extra_config: { 'backend/grpc': { output_remove_unset_values: true } },
          },
        ],
      },
      {
        endpoint: '/market/{id}',
        input_headers: ['X-Market'],
        backend: [
          {
            url_pattern: '/orders',
            extra_config: { 'backend/conditional': { strategy: 'header', name: 'X-Market', value: 'de' } },
          },
          { url_pattern: '/login', extra_config: { 'backend/conditional': { strategy: 'fallback' } } },
        ],
      },
      {
        endpoint: '/split/{id}',
        backend: [{ url_pattern: '/orders' }, { url_pattern: '/login' }],
        extra_config: {
          'proxy/split': {
            variants: [
              { name: 'stable', backends: [0], weight: 90 },
              { name: 'canary', backends: [1], weight: 10 },
            ],
            sticky: { strategy: 'ip' },
          },
        },
      },
      {
        endpoint: '/function/{id}',
        extra_config: { 'auth/api-keys': { roles: ['tester'], client_max_rate: 1e6 } },
        backend: [
          {
            url_pattern: '/',
            extra_config: {
              'backend/lambda': { function_name: 'orders', region: 'eu-west-1', endpoint: upstream },
            },
          },
        ],
      },
      {
        endpoint: '/queue/{key}',
        method: 'POST',
        backend: [
          {
            host: ['amqp://127.0.0.1:1/'],
            disable_host_sanitize: true,
            url_pattern: '/',
            extra_config: {
              'backend/amqp/producer': { name: 'all', exchange: 'all', routing_key: 'Key', max_retries: 1 },
            },
          },
          {
            host: ['amqp://127.0.0.1:1/'],
            disable_host_sanitize: true,
            url_pattern: '/',
            extra_config: { 'backend/amqp/consumer': { name: 'all', exchange: 'all', routing_key: ['#'] } },
          },
        ],
      },
      {
        endpoint: '/intranet',
        backend: [
          {
            url_pattern: '/intranet',
            extra_config: { 'auth/ntlm': { user: 'CORP\\gateway', password: 'of-the-test' } },
          },
        ],
      },
      {
        endpoint: '/login',
        method: 'POST',
        extra_config: {
          'auth/signer': {
            alg: 'HS256',
            kid: 'sample',
            keys_to_sign: ['access_token'],
            jwk_local_path: 'samples/tokens/keys.json',
            disable_jwk_security: true,
          },
        },
        backend: [
          {
            url_pattern: '/login',
            extra_config: {
              'auth/gcp': {
                audience: 'https://login.example.com',
                credentials_json: {
                  type: 'service_account',
                  client_email: 'gateway@example.com',
                  private_key: googleKey,
                  token_uri: `${upstream}/google/token`,
                },
              },
            },
          },
        ],
      },
    ],
  };
}
