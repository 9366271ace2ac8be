// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import type { Level } from '#contract';
import type { Registry } from '../../kernel/registry/registry.ts';
import { examine } from '../../kernel/runtime/build/build.ts';
import { exampleModule } from './example-module.ts';

type Fields = Readonly<Record<string, unknown>>;

const backend: Fields = { host: ['http://users.internal:8080'], url_pattern: '/users' };

/** An endpoint whose tokens are verified with keys from a cached JWK set. */
const keysCached: Fields = {
  extra_config: { 'auth/validator': { alg: 'RS256', jwk_url: 'https://id.example.com/keys.json', cache: true } },
};

/** Endpoint settings that a component requires for a meaningful example. */
const surroundings: Readonly<Record<string, Fields>> = {
  'ai/chat-completions': { method: 'POST', extra_config: { 'ai/chat-completions': {} } },
  'ai/mcp': { method: 'POST', extra_config: { 'ai/mcp': { server_name: 'weather' } } },
  'ai/router': { method: 'POST', input_headers: ['X-Plan'] },
  'backend/conditional': { input_headers: ['X-Market'] },
  'auth/api-keys': { extra_config: { 'auth/api-keys': { roles: ['user'] } } },
  'auth/basic': { extra_config: { 'auth/basic': {} } },
  'backend/amqp/producer': { method: 'POST' },
  'validation/json-schema': { method: 'POST' },
  'auth/introspection': { extra_config: { 'auth/introspection': {} } },
  'auth/oidc': { extra_config: { 'auth/oidc': { provider: 'staff' } } },
  'auth/jose': keysCached,
  'auth/validator': keysCached,
};

const counters: Fields = { redis: { connection_pools: [{ name: 'counters', address: 'redis.internal:6379' }] } };

const quotas: Fields = {
  ...counters,
  'governance/processors': {
    quotas: [
      {
        name: 'public',
        connection_name: 'counters',
        rules: [
          { name: 'gold', limits: [{ amount: 10_000, unit: 'day' }] },
          { name: 'free', limits: [{ amount: 100, unit: 'day' }] },
        ],
      },
    ],
  },
};

/** Root settings that a component requires. */
const roots: Readonly<Record<string, Fields>> = {
  'ai/chat-completions': {
    'ai/chat-completions': {
      models: [
        {
          name: 'gpt-4.1-mini',
          backend: [
            {
              host: ['https://api.openai.com'],
              url_pattern: '/v1/responses',
              method: 'POST',
              extra_config: {
                'ai/llm': { openai: { v1: { credentials: `\${OPENAI_KEY}`, variables: { model: 'gpt-4.1-mini' } } } },
              },
            },
          ],
        },
      ],
    },
  },
  'ai/semantic-cache': {
    'ai/semantic-cache': {
      embedders: [{ name: 'default', url: 'https://api.openai.com/v1/embeddings', credentials: '${OPENAI_KEY}' }],
    },
  },
  'ai/mcp': { 'ai/mcp': { servers: [{ name: 'weather', title: 'Weather', version: '1.0.0' }] } },
  'ai/router': {
    'ai/providers': {
      providers: ['fast-chat', 'careful'].map((name) => ({ name, provider: 'openai', credentials: `\${OPENAI_KEY}` })),
    },
    'ai/classifiers': {
      gates: [{ name: 'premium', rule: 'header', header: { name: 'X-Plan', value: 'premium' } }],
      classifiers: [{ name: 'smart', engine: 'http', http: { url: 'https://classifier.internal' } }],
    },
  },
  'auth/basic': {
    'auth/basic': { users: { ada: '$2b$10$jYrjVj9iPcAh4v6d69o2p.fMQ4Skbx9MwuoDqVXxgM8AZXpcsJwWa' } },
  },
  'auth/introspection': {
    'auth/introspection': {
      introspection_url: 'https://id.example.com/oauth/introspect',
      client_id: 'gateway',
      client_secret: '${CLIENT_SECRET}',
    },
  },
  'auth/oidc': {
    'auth/oidc': {
      public_url: 'https://app.example.com',
      providers: [
        { name: 'staff', issuer: 'https://id.example.com', client_id: 'gateway', client_secret: '${OIDC_SECRET}' },
      ],
      session: { secrets: ['${SESSION_SECRET_OF_32_CHARACTERS}'] },
    },
  },
  'auth/api-keys': { 'auth/api-keys': { keys: [{ key: '${KEY}', roles: ['admin', 'user'] }] } },
  'backend/grpc': { grpc: { catalog: ['samples/grpc/orders.pb'] } },
  'governance/processors': counters,
  'governance/quota': quotas,
  'qos/ratelimit/router/redis': counters,
  'qos/ratelimit/service/redis': counters,
};

/** Settings of its own or its endpoint's backend that a component requires for a meaningful example. */
export const backends: Readonly<Record<string, Surrounding>> = {
  'ai/llm': { host: ['https://models.example.com'], method: 'POST' },
  'ai/router': { host: [], method: 'POST' },
  'backend/amqp/consumer': { host: ['amqp://rabbitmq:5672/'], disable_host_sanitize: true },
  'backend/amqp/producer': { host: ['amqp://rabbitmq:5672/'], disable_host_sanitize: true },
  'auth/gcp': { host: ['https://orders-abc.a.run.app'] },
  'backend/grpc': { host: ['orders.internal:50051'], url_pattern: '/orders.Orders/Get' },
  'backend/pubsub/publisher': { host: ['nats://'], disable_host_sanitize: true },
  'backend/pubsub/subscriber': { host: ['nats://'], disable_host_sanitize: true },
  workflow: { host: [], url_pattern: '/__workflow/users' },
  websocket: { host: ['ws://rooms.internal:8080'], disable_host_sanitize: true },
};

interface Surrounding {
  /** Hosts of the backend; empty for a backend that calls no server. */
  readonly host: readonly string[];
  readonly url_pattern?: string;
  readonly disable_host_sanitize?: boolean;
  readonly method?: string;
}

/** Backends that a component requires in addition to the first one. */
export const furtherBackends: Readonly<Record<string, readonly Fields[]>> = {
  'proxy/split': [{ host: ['http://users-next.internal:8080'], url_pattern: '/users' }],
};

/** Hosts by service discovery; any other discovery looks up a name. */
const hosts: Readonly<Record<string, readonly string[]>> = { static: ['http://users.internal:8080'] };

/** Creates a document from endpoints and root fields. */
export function service(root: Fields, ...endpoints: readonly Fields[]): Fields {
  return { version: 3, ...root, endpoints: endpoints.length > 0 ? endpoints : [endpoint({})] };
}

/** Creates an endpoint from fields of its own and of its backend. */
export function endpoint(fields: Fields, ofBackend: Fields = {}, further: readonly Fields[] = []): Fields {
  const { host, ...others } = { ...backend, ...ofBackend } as Fields & { readonly host: readonly string[] };
  return { endpoint: '/users', ...fields, backend: [{ ...(host.length > 0 && { host }), ...others }, ...further] };
}

/** Creates a document with a component at a level. @param required components that it requires at the root. */
export function withComponent(level: Level, namespace: string, config: unknown, required: Fields = {}): Fields {
  const own = { extra_config: { [namespace]: config, ...required } };
  const around = surroundings[namespace] ?? {};
  const needed = Object.hasOwn(roots, namespace) ? { extra_config: roots[namespace] } : {};
  if (level === 'service') {
    return service({ extra_config: { ...needed.extra_config, ...own.extra_config } }, endpoint(around));
  }
  if (level === 'agent') {
    const agent = { name: 'orders', consumer: { topic: 'orders' }, backend: [{ ...backend, method: 'POST' }], ...own };
    return service({ ...needed, async_agent: [agent] });
  }
  const ofBackend = backends[namespace];
  return service(
    needed,
    level === 'endpoint'
      ? endpoint({ ...around, ...own }, { ...ofBackend }, furtherBackends[namespace])
      : endpoint(around, { ...ofBackend, ...own }),
  );
}

/** Creates a document whose backend uses a service discovery. */
export function withDiscovery(name: string): Fields {
  return service({}, endpoint({}, { host: hosts[name] ?? ['_http._tcp.users.internal'], sd: name }));
}

/**
 * Verifies that a document is a valid configuration.
 * @throws Error with all errors and warnings, except warnings of variables that are not filled in.
 */
export async function mustBeGood(document: Fields, of: string, registry: Registry): Promise<void> {
  const { errors, warnings } = await examine(document, {}, registry.with([exampleModule], true), false);
  // Placeholder variables are accepted, because they are filled in where the configuration is deployed.
  const others = warnings.filter(({ code }) => code !== 'CONFIG_VARIABLE');
  const reported = [...errors, ...others].map(({ pointer, code, message }) => `${pointer} ${code} ${message}`);
  if (reported.length > 0)
    throw new Error([`the example of ${of} is not a valid configuration:`, ...reported].join('\n  '));
}
