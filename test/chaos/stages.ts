// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { loggedIn } from '../../scripts/bench/logins.ts';
import { modelOf } from '../plugins/ai/llm/fixture.ts';
import { SHOP } from '../support/grpc/server.ts';
import { modelStages } from './model-stages.ts';
import { expiredLogin, loginInRedis } from './oidc-stages.ts';
import { backend, base64, type Ports, plain, redisRoot, type Stage, url } from './stage.ts';

const limited = (ports: Ports, more: object = {}): Stage => ({
  server: 'redis',
  root: redisRoot(ports.side),
  endpoint: {
    extra_config: { 'qos/ratelimit/router/redis': { connection_name: 'r', max_rate: 1_000_000, ...more } },
    backend: plain(ports),
  },
});
const validated = (ports: Ports, token: string, more: object): Omit<Stage, 'server'> => {
  const jwk_url = `${url(ports.side)}/keys`;
  return {
    headers: { Authorization: `Bearer ${token}` },
    endpoint: {
      extra_config: { 'auth/validator': { alg: 'RS256', jwk_url, disable_jwk_security: true, ...more } },
      backend: plain(ports),
    },
  };
};
const introspected = ({ side, backend: port }: Ports, more: object = {}): Stage => ({
  server: 'http',
  headers: { Authorization: 'Bearer t' },
  endpoint: {
    extra_config: {
      'auth/introspection': {
        ...{ introspection_url: `${url(side)}/introspect`, client_id: 'gate', client_secret: 'secret' },
        ...{ timeout: '300ms', cache_ttl: '0s', ...more },
      },
    },
    backend: plain({ side, backend: port }),
  },
});
const decided = (scheme: 'http' | 'grpc', { side, backend: port }: Ports): Stage => ({
  server: scheme === 'http' ? 'http' : 'authorization',
  endpoint: {
    extra_config: { 'auth/external': { url: `${scheme}://127.0.0.1:${side}`, timeout: '300ms' } },
    backend: plain({ side, backend: port }),
  },
});
const exported = (ports: Ports, root: object): Stage => ({ server: 'http', root, endpoint: { backend: plain(ports) } });

/** An endpoint that accepts the API key which is in a store of secrets. */
const keyed = (ports: Ports, key: string, root: object): Stage => ({
  server: 'http',
  root: { ...root, 'auth/api-keys': { keys: [{ key, roles: ['user'] }] } },
  headers: { Authorization: 'Bearer key-in-the-store' },
  endpoint: { extra_config: { 'auth/api-keys': { roles: ['user'] } }, backend: plain(ports) },
});

/** The stage of each row of the table. @param token signed with a key of `/keys`. */
export const stages: Readonly<Record<string, (ports: Ports, token: string) => Stage>> = {
  'backend/http': ({ side }) => ({ server: 'http', endpoint: { backend: [backend(side)] } }),
  'backend/graphql': ({ side }) => ({
    server: 'http',
    endpoint: { backend: [backend(side, { 'backend/graphql': { type: 'query', query: '{a}' } })] },
  }),
  'backend/soap': ({ side }) => ({
    server: 'http',
    endpoint: {
      backend: [
        backend(
          side,
          { 'backend/soap': { template: base64('<a/>') } },
          { encoding: 'xml', method: 'POST', url_pattern: '/xml' },
        ),
      ],
    },
  }),
  'backend/lambda': ({ side }) => ({
    server: 'http',
    endpoint: {
      backend: [
        backend(side, {
          'backend/lambda': { region: 'eu-west-1', endpoint: url(side), function_name: 'f', max_retries: 0 },
        }),
      ],
    },
  }),
  'backend/grpc': ({ side }) => ({
    server: 'grpc',
    root: { grpc: { catalog: [SHOP] } },
    endpoint: {
      backend: [backend(side, { 'backend/grpc': {} }, { host: [`127.0.0.1:${side}`], url_pattern: '/shop.Shop/Find' })],
    },
  }),
  ...modelStages,
  'backend/retry': ({ side }) => ({
    server: 'http',
    endpoint: { backend: [backend(side, { 'backend/retry': { attempts: 3, attempt_timeout: '100ms' } })] },
  }),
  'backend/pubsub/publisher (NATS)': () => ({
    server: 'nats',
    method: 'POST',
    payload: '{}',
    endpoint: {
      method: 'POST',
      backend: [
        {
          ...{ host: ['nats://'], disable_host_sanitize: true, url_pattern: '/' },
          extra_config: { 'backend/pubsub/publisher': { topic_url: 'events' } },
        },
      ],
    },
  }),
  'auth/client-credentials': ({ side, backend: port }) => ({
    server: 'http',
    startsOut: true,
    endpoint: {
      backend: [
        backend(port, {
          'auth/client-credentials': { client_id: 'gate', client_secret: 'secret', token_url: `${url(side)}/token` },
        }),
      ],
    },
  }),
  'auth/validator, keys not loaded': (ports, token) => ({
    ...{ server: 'http', startsOut: true },
    ...validated(ports, token, { cache: true }),
  }),
  'auth/validator, keys loaded': (ports, token) => ({ server: 'http', ...validated(ports, token, { cache: true }) }),
  'auth/introspection, token not cached': (ports) => introspected(ports),
  'auth/introspection, token not cached, on_failure_allow': (ports) => introspected(ports, { on_failure_allow: true }),
  'auth/introspection, token cached': (ports) => introspected(ports, { cache_ttl: '1h' }),
  'auth/oidc, session in cookies': (ports) => {
    const { service, endpoint, headers } = loggedIn(1);
    return {
      server: 'http',
      root: service!,
      headers: headers![0]!,
      endpoint: { extra_config: endpoint!, backend: plain(ports) },
    };
  },
  'auth/oidc, access token expired': expiredLogin,
  'auth/oidc, session in Redis': loginInRedis,
  'auth/external, over HTTP': (ports) => decided('http', ports),
  'auth/external, over gRPC': (ports) => decided('grpc', ports),
  'qos/ratelimit/router/redis': (ports) => limited(ports),
  'qos/ratelimit/router/redis, on_failure_allow': (ports) => limited(ports, { on_failure_allow: true }),
  'governance/quota': (ports) => ({
    server: 'redis',
    root: {
      ...redisRoot(ports.side),
      'governance/processors': {
        quotas: [
          { name: 'q', connection_name: 'r', rules: [{ name: 'gold', limits: [{ amount: 1_000_000, unit: 'day' }] }] },
        ],
      },
    },
    headers: { 'X-Plan': 'gold', 'X-User': 'ada' },
    endpoint: {
      input_headers: ['X-Plan', 'X-User'],
      extra_config: {
        'governance/quota': {
          ...{ quota_name: 'q', tier_key: 'X-Plan' },
          tiers: [
            { rule_name: 'gold', tier_value: 'gold', tier_value_as: 'literal', strategy: 'header', key: 'X-User' },
          ],
        },
      },
      backend: plain(ports),
    },
  }),
  'qos/http-cache, stale-if-error': ({ side }) => ({
    server: 'http',
    endpoint: { backend: [backend(side, { 'qos/http-cache': {} }, { url_pattern: '/stale' })] },
  }),
  'secrets/vault': (ports) =>
    keyed(ports, '${vault:kv/a#key}', {
      'secrets/vault': {
        ...{ address: url(ports.side), auth: { method: 'token', token: 'a' } },
        ...{ kv_version: 1, refresh_interval: '50ms', timeout: '300ms' },
      },
    }),
  'secrets/aws-sm': (ports) =>
    keyed(ports, '${aws-sm:a#key}', {
      'secrets/aws-sm': {
        ...{ region: 'eu-west-1', endpoint: `${url(ports.side)}/secret` },
        ...{ refresh_interval: '50ms', timeout: '300ms' },
      },
    }),
  'telemetry/opentelemetry': (ports) =>
    exported(ports, {
      'telemetry/opentelemetry': {
        ...{ service_name: 'a', metric_reporting_period: 1 },
        exporters: { otlp: [{ name: 'o', host: '127.0.0.1', port: ports.side, use_http: true }] },
      },
    }),
  'telemetry/gelf': (ports) =>
    exported(ports, {
      'telemetry/logging': { level: 'DEBUG', stdout: false },
      'telemetry/gelf': { address: `127.0.0.1:${ports.side}`, enable_tcp: true },
    }),
  'telemetry/influx': (ports) =>
    exported(ports, {
      'telemetry/metrics': { collection_time: '1s', listen_address: '127.0.0.1:0' },
      'telemetry/influx': { address: url(ports.side), ttl: '100ms' },
    }),
};

/** Response bodies of the HTTP servers, by path. */
export function bodiesOf(keys: object): ReadonlyMap<string, string> {
  const { url_pattern, answer } = modelOf('openai').fixture;
  return new Map([
    ['/', '{"data":{"a":1}}'],
    ['/stale', '{"a":1}'],
    ['/xml', '<a>1</a>'],
    ['/v1/kv/a', '{"data":{"key":"key-in-the-store"}}'],
    ['/secret', '{"SecretString":"{\\"key\\":\\"key-in-the-store\\"}"}'],
    ['/keys', JSON.stringify({ keys: [keys] })],
    ['/.well-known/openid-configuration', '{"issuer":"http://HOST","token_endpoint":"http://HOST/token"}'],
    ['/introspect', '{"active":true}'],
    ['/choose', '{"provider":"first"}'],
    ['/score', '{"score":1}'],
    ['/embeddings', '{"data":[{"embedding":[1,0]}]}'],
    ['/token', JSON.stringify({ access_token: 't', token_type: 'bearer', expires_in: 3600 })],
    ['/2015-03-31/functions/f/invocations', '{"a":1}'],
    [url_pattern, JSON.stringify(answer)],
  ]);
}
