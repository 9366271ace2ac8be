import { deepEqual, equal, ok } from 'node:assert/strict';
import type { AuditedFiles } from '#contract';
import { type AuditReport, audit, auditRules } from '../../../kernel/inspect/index.ts';
import { known, normalize } from '../../support/known.ts';

const rules = await auditRules(known);

// biome-ignore lint/suspicious/noExplicitAny: configurations of every shape, as they come from files.
type Json = any;

const backend = { host: ['http://127.0.0.1:9'], url_pattern: '/', extra_config: { 'qos/circuit-breaker': {} } };

/** A configuration that matches no rule. */
const clean = {
  version: 3,
  name: 'shop',
  listen_ip: '10.0.0.1',
  tls: { keys: [{ public_key: 'a.pem', private_key: 'a.key' }] },
  extra_config: {
    router: { hide_version_header: true, trusted_proxies: ['10.0.0.0/8'] },
    'security/http': { frame_deny: true, allowed_hosts: ['api.test'] },
    'security/cors': {},
    'security/bot-detector': {},
    'telemetry/logging': {},
    'telemetry/opentelemetry': { exporters: { otlp: [{ name: 'a', host: 'h' }] } },
  },
  endpoints: [
    {
      endpoint: '/a',
      extra_config: {
        'auth/validator': { alg: 'HS256', jwk_url: 'https://keys.test/set', jwk_local_path: 'long.json' },
        'qos/ratelimit/router': {},
      },
      backend: [backend, backend],
    },
  ],
};

const keySet = (bytes: number) =>
  JSON.stringify({ keys: [{ kty: 'oct', k: Buffer.alloc(bytes, 1).toString('base64url') }] });
const texts: Readonly<Record<string, string>> = { 'long.json': keySet(32), 'short.json': keySet(31) };
const files: AuditedFiles = { text: (path) => texts[path], isOpen: (path) => path === '/open/' };

function auditOf(change: (config: Json) => void): AuditReport {
  const document = JSON.parse(JSON.stringify(clean));
  change(document);
  const { config, origin } = normalize(document);
  return audit({ config, document, origin }, rules, { files, known });
}

const service = (namespace: string, settings: Json) => (config: Json) => {
  config.extra_config[namespace] = settings;
};
const atEndpoint = (namespace: string, settings: Json) => (config: Json) => {
  config.endpoints[0].extra_config[namespace] = settings;
};
const atBackend = (namespace: string, settings: Json) => (config: Json) => {
  config.endpoints[0].backend[1].extra_config = { ...backend.extra_config, [namespace]: settings };
};
const without = (namespace: string) => (config: Json) => {
  delete config.extra_config[namespace];
};
const root = (fields: Json) => (config: Json) => {
  Object.assign(config, fields);
};
const endpoint = (fields: Json) => (config: Json) => {
  Object.assign(config.endpoints[0], fields);
};

const inService = (namespace: string) => `/extra_config/${namespace.replaceAll('/', '~1')}`;
const inEndpoint = (namespace: string) => `/endpoints/0${inService(namespace)}`;
const inBackend = (namespace: string) => `/endpoints/0/backend/1${inService(namespace)}`;
const server = inService('plugin/http-server');
const otel = `${inService('telemetry/opentelemetry')}/exporters`;
const agents = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `agent-${at}`,
    consumer: { topic: 'orders' },
    backend: [backend],
    extra_config: {},
  }));

/** Configurations that match a rule, each with the expected pointers and the other rules that match the same setting. */
const cases: readonly [id: string, change: (config: Json) => void, at: readonly string[], also?: readonly string[]][] =
  [
    ['1.1.1', atEndpoint('auth/basic', {}), [inEndpoint('auth/basic')]],
    ['1.1.1', service('auth/basic', {}), [inService('auth/basic')]],
    [
      '1.1.1',
      service('plugin/http-server', { name: ['basic-auth'], 'basic-auth': { htpasswd_path: 'users' } }),
      [`${server}/basic-auth`, '/endpoints/0/extra_config'],
      ['7.1.3'],
    ],
    ['1.1.2', service('auth/api-keys', {}), [inService('auth/api-keys')]],
    ['1.2.1', (config) => delete config.endpoints[0].extra_config['auth/validator'], ['/endpoints']],
    ['2.1.1', root({ allow_insecure_connections: true }), ['/allow_insecure_connections']],
    ['2.1.1', root({ client_tls: { allow_insecure_connections: true } }), ['/client_tls/allow_insecure_connections']],
    ['2.1.2', (config) => delete config.tls, ['']],
    ['2.1.3', (config) => Object.assign(config.tls, { disabled: true }), ['/tls/disabled']],
    ['2.1.7', without('security/http'), ['/extra_config']],
    ['2.1.7', service('security/http', {}), ['/extra_config']],
    ['2.1.7', service('security/http', { sts_seconds: 60, is_development: true }), ['/extra_config']],
    ['2.1.8', root({ use_h2c: true }), ['/use_h2c']],
    [
      '2.1.8',
      (config) => Object.assign(config.extra_config.router, { use_h2c: true }),
      ['/extra_config/router/use_h2c'],
    ],
    [
      '2.1.9',
      atBackend('backend/http/client', { client_tls: { allow_insecure_connections: true } }),
      [`${inBackend('backend/http/client')}/client_tls/allow_insecure_connections`],
    ],
    ['2.2.1', (config) => delete config.extra_config.router.hide_version_header, ['/extra_config/router']],
    ['2.2.2', without('security/cors'), ['/extra_config']],
    ['2.2.3', endpoint({ input_headers: ['*'] }), ['/endpoints/0/input_headers']],
    ['2.2.4', endpoint({ input_query_strings: ['*'] }), ['/endpoints/0/input_query_strings']],
    ['2.2.5', service('grpc', { server: {} }), [`${inService('grpc')}/server`]],
    ['2.3.1', atBackend('qos/http-cache', { max_items: 5 }), [inBackend('qos/http-cache')]],
    [
      '8.2.11',
      (config) =>
        config.endpoints.push({
          endpoint: '/{open}',
          extra_config: { 'qos/ratelimit/router': {} },
          backend: [backend],
        }),
      ['/endpoints/1/endpoint'],
    ],
    ['3.1.1', without('security/bot-detector'), ['/extra_config']],
    ['3.1.2', (config) => delete config.endpoints[0].extra_config['qos/ratelimit/router'], ['/endpoints']],
    [
      '3.1.3',
      (config) => {
        for (const one of config.endpoints[0].backend) delete one.extra_config['qos/circuit-breaker'];
      },
      ['/endpoints'],
    ],
    ['3.3.1', endpoint({ timeout: '3001ms' }), ['/endpoints/0/timeout']],
    ['3.3.1', root({ timeout: '4s' }), ['/timeout']],
    ['3.3.2', endpoint({ timeout: '6s' }), ['/endpoints/0/timeout']],
    ['3.3.3', endpoint({ timeout: '31s' }), ['/endpoints/0/timeout']],
    ['3.3.4', endpoint({ timeout: '61s' }), ['/endpoints/0/timeout']],
    [
      '4.1.1',
      service('telemetry/opentelemetry', { exporters: { otlp: [{ disable_metrics: true }] } }),
      ['/extra_config'],
    ],
    ['4.1.2', (config) => delete config.name, ['']],
    [
      '4.1.3',
      service('telemetry/opentelemetry', { exporters: { otlp: [{ name: 'a' }], prometheus: [{ name: 'b' }] } }),
      [`${otel}/otlp/0`, `${otel}/prometheus/0`],
    ],
    ['4.1.3', service('telemetry/metrics', {}), [inService('telemetry/metrics'), `${otel}/otlp/0`]],
    [
      '4.2.1',
      service('telemetry/opentelemetry', { exporters: { otlp: [{ disable_traces: true }] } }),
      ['/extra_config'],
    ],
    ['4.3.1', without('telemetry/logging'), ['/extra_config']],
    ['5.1.1', root({ disable_rest: true }), ['/disable_rest']],
    ['5.1.2', root({ debug_endpoint: true }), ['/debug_endpoint']],
    ['5.1.3', root({ echo_endpoint: true }), ['/echo_endpoint']],
    ['5.1.4', endpoint({ endpoint: '/a/*' }), ['/endpoints/0/endpoint']],
    [
      '5.1.5',
      (config) => config.endpoints.push({ endpoint: '/__catchall', backend: [backend] }),
      ['/endpoints/1/endpoint'],
      ['8.2.11'],
    ],
    ['5.1.6', endpoint({ method: 'POST' }), ['/endpoints/0/backend']],
    [
      '5.1.6',
      (config) => {
        for (const one of config.endpoints[0].backend) one.extra_config = { ...one.extra_config, 'backend/grpc': {} };
      },
      ['/endpoints/0/backend'],
    ],
    ['5.1.7', atEndpoint('proxy', { sequential: true }), [`${inEndpoint('proxy')}/sequential`]],
    ['5.2.1', (config) => config.endpoints.push({ endpoint: '/b', backend: [] }), ['/endpoints/1']],
    ['5.2.2', (config) => config.endpoints[0].backend.pop(), ['/endpoints']],
    [
      '5.2.3',
      (config) => Object.assign(config.endpoints[0], { output_encoding: 'no-op', backend: [backend] }),
      ['/endpoints'],
    ],
    ['6.1.1', root({ sequential_start: true, async_agent: agents(10) }), ['/sequential_start']],
    ['7.1.1', service('plugin/http-server', { name: ['virtualhost'] }), [server]],
    ['7.1.2', service('plugin/http-server', { name: ['static-filesystem'] }), [server]],
    [
      '7.1.3',
      (config) => {
        config['@audit-ignore'] = ['1.1.1'];
        service('plugin/http-server', { name: 'basic-auth' })(config);
      },
      [server],
    ],
    ['7.1.4', service('plugin/http-server', { name: ['wildcard'] }), [server]],
    ['7.1.5', atBackend('plugin/http-client', { name: 'http-proxy' }), [inBackend('plugin/http-client')]],
    ['7.1.6', atBackend('plugin/http-client', { name: 'static-filesystem' }), [inBackend('plugin/http-client')]],
    ['7.1.7', atBackend('plugin/http-client', { name: 'no-redirect' }), [inBackend('plugin/http-client')]],
    [
      '7.1.8',
      atEndpoint('plugin/req-resp-modifier', { name: ['content-replacer'] }),
      [inEndpoint('plugin/req-resp-modifier')],
    ],
    [
      '7.1.9',
      atBackend('plugin/req-resp-modifier', { name: ['response-schema-validator'] }),
      [inBackend('plugin/req-resp-modifier')],
    ],
    ['7.2.1', service('telemetry/ganalytics', {}), [inService('telemetry/ganalytics')]],
    ['7.2.2', service('telemetry/instana', {}), [inService('telemetry/instana')]],
    ['7.2.3', service('telemetry/opencensus', {}), [inService('telemetry/opencensus')]],
    ['7.2.4', service('telemetry/influx', {}), [inService('telemetry/influx')]],
    ['7.3.1', root({ tls: { public_key: 'a', private_key: 'b' } }), ['/tls/public_key', '/tls/private_key']],
    ['8.1.1', service('admin/api', { listen: '0.0.0.0:9180' }), [inService('admin/api')]],
    ['8.1.1', service('admin/api', { listen: ':9180', tokens: [] }), [inService('admin/api')]],
    ['8.2.12', service('admin/api', { tokens: [{ id: 'a' }] }), [inService('admin/api')]],
    ['8.1.2', atEndpoint('auth/validator', { alg: 'none' }), [`${inEndpoint('auth/validator')}/alg`]],
    [
      '8.1.2',
      atEndpoint('auth/validator', { alg: 'HS256', jwk_local_path: 'short.json' }),
      [`${inEndpoint('auth/validator')}/jwk_local_path`],
    ],
    [
      '8.1.3',
      atEndpoint('auth/validator', { alg: 'HS256', disable_jwk_security: true }),
      [`${inEndpoint('auth/validator')}/disable_jwk_security`],
    ],
    [
      '8.1.4',
      atEndpoint('auth/validator', { alg: 'HS256', jwk_url: 'http://keys.test' }),
      [`${inEndpoint('auth/validator')}/jwk_url`],
    ],
    [
      '8.1.5',
      atBackend('auth/client-credentials', { client_secret: 'x' }),
      [`${inBackend('auth/client-credentials')}/client_secret`],
    ],
    [
      '8.1.5',
      service('redis', { connection_pools: [{ address: 'h', password: 'x' }] }),
      [`${inService('redis')}/connection_pools/0/password`],
    ],
    [
      '8.1.5',
      atBackend('backend/http/client', { proxy_address: 'hidden' }),
      [`${inBackend('backend/http/client')}/proxy_address`],
    ],
    [
      '8.1.5',
      atBackend('backend/amqp/producer', { dsn: 'amqp://me:pass@host' }),
      [`${inBackend('backend/amqp/producer')}/dsn`],
    ],
    [
      '8.2.1',
      (config) => config.extra_config.router.trusted_proxies.push('0.0.0.0/0'),
      ['/extra_config/router/trusted_proxies/1'],
    ],
    [
      '8.2.2',
      (config) => Object.assign(config.extra_config.router, { return_error_msg: true }),
      ['/extra_config/router/return_error_msg'],
    ],
    ['8.2.3', root({ read_header_timeout: '0s' }), ['/read_header_timeout']],
    ['8.2.4', root({ idle_timeout: 0 }), ['/idle_timeout']],
    [
      '8.2.5',
      (config) => Object.assign(config.extra_config.router, { max_payload: 0 }),
      ['/extra_config/router/max_payload'],
    ],
    ['8.2.6', service('security/http', { frame_deny: true }), ['/extra_config']],
    ['8.2.7', root({ listen_ip: '' }), ['/listen_ip']],
    ['8.2.8', root({ send_timeout: '0s' }), ['/send_timeout']],
    ['8.2.9', root({ max_connections: 0 }), ['/max_connections']],
    ['8.2.10', root({ max_requests_per_connection: 0 }), ['/max_requests_per_connection']],
    ['8.3.1', root({ plugin: { folder: '/open/', pattern: '.js' } }), ['/plugin/folder']],
  ];

/** Similar configurations that the rule must not match. */
const harmless: readonly [id: string, sentence: string, change: (config: Json) => void][] = [
  ['2.1.7', 'one security header', service('security/http', { frame_deny: true })],
  ['8.2.3', 'a limit for whole requests', root({ read_header_timeout: 0, read_timeout: '30s' })],
  ['8.2.4', 'a limit for whole requests', root({ idle_timeout: 0, read_timeout: '30s' })],
  ['2.2.5', 'a gRPC catalog without a server', service('grpc', { catalog: [] })],
  ['2.2.5', 'a gRPC server with a service', service('grpc', { server: { services: [{ name: 'a' }] } })],
  ['2.3.1', 'a cache with both limits', atBackend('qos/http-cache', { max_items: 1, max_size: 1024 })],
  [
    '3.1.2',
    'a limit on a backend',
    (config) => {
      delete config.endpoints[0].extra_config['qos/ratelimit/router'];
      atBackend('qos/ratelimit/proxy', {})(config);
    },
  ],
  ['3.3.1', 'a timeout of just 3s', endpoint({ timeout: '3s' })],
  [
    '4.1.3',
    'InfluxDB and the metrics that it stores',
    (config) => {
      config.extra_config['telemetry/opentelemetry'].exporters.otlp[0].disable_metrics = true;
      Object.assign(config.extra_config, { 'telemetry/metrics': {}, 'telemetry/influx': {} });
    },
  ],
  ['5.1.6', 'one writing backend among reading ones', endpoint({ backend: [backend, { ...backend, method: 'POST' }] })],
  [
    '5.1.7',
    'a sequence that uses an answer',
    (config) => {
      atEndpoint('proxy', { sequential: true })(config);
      config.endpoints[0].backend = [backend, { ...backend, url_pattern: '/{resp0_id}' }];
    },
  ],
  [
    '5.1.7',
    'a sequence that passes an answer on',
    atEndpoint('proxy', { sequential: true, sequential_propagated_params: ['resp0_id'] }),
  ],
  [
    '5.1.7',
    'a sequence that writes, since a call that fails ends it',
    (config) => {
      atEndpoint('proxy', { sequential: true })(config);
      config.endpoints[0].backend = [backend, { ...backend, method: 'POST' }];
    },
  ],
  ['5.2.3', 'no endpoint at all', root({ endpoints: [] })],
  ['6.1.1', 'nine agents', root({ sequential_start: true, async_agent: agents(9) })],
  ['7.1.1', 'a plugin that is configured but not named', service('plugin/http-server', { name: [], virtualhost: {} })],
  ['8.1.1', 'an admin port on the loopback address', service('admin/api', { listen: '127.0.0.1:9180' })],
  ['8.1.1', 'an admin port on a socket file', service('admin/api', { listen: 'unix:/run/admin' })],
  [
    '8.2.12',
    'an admin port with tokens on a socket file',
    service('admin/api', { listen: 'unix:/run/admin', tokens: [{ id: 'a' }] }),
  ],
  ['8.1.1', 'an admin port with tokens', service('admin/api', { listen: '0.0.0.0:1', tokens: [{ id: 'a' }] })],
  [
    '8.1.2',
    'an encrypted key file',
    atEndpoint('auth/validator', {
      alg: 'HS256',
      jwk_local_path: 'short.json',
      secret_url: 'base64key://x',
    }),
  ],
  ['8.1.2', 'a missing key file', atEndpoint('auth/validator', { alg: 'HS256', jwk_local_path: 'gone' })],
  [
    '8.1.5',
    'a secret that is filled in later',
    atBackend('auth/client-credentials', { client_secret: '{{ env "S" }}' }),
  ],
  ['8.1.5', 'a schema that names a password', atEndpoint('validation/json-schema', { properties: { password: 'x' } })],
  ['8.3.1', 'a plugin folder of the owner', root({ plugin: { folder: '/mine/', pattern: '.js' } })],
];

describe('the audit rules', () => {
  it('recommend nothing for a complete configuration', () => {
    deepEqual(auditOf(() => {}).recommendations, []);
  });

  for (const [id, change, at, also = []] of cases) {
    it(`include ${id}, which matches at ${at.map((pointer) => pointer || 'the document').join(' and ')}`, () => {
      const { recommendations } = auditOf(change);
      deepEqual(recommendations.map(({ rule }) => rule).sort(), [id, ...also].sort());
      const pointers = recommendations.find(({ rule }) => rule === id)!.instances.map(({ pointer }) => pointer);
      deepEqual(pointers, at);
    });
  }

  for (const [id, sentence, change] of harmless) {
    it(`include ${id}, which does not match ${sentence}`, () => {
      ok(!auditOf(change).recommendations.some(({ rule }) => rule === id));
    });
  }

  it('recommend only components that the gateway has', () => {
    for (const [id, change] of cases) {
      const document = JSON.parse(JSON.stringify(clean));
      change(document);
      const written = JSON.stringify(document);
      const { config, origin } = normalize(document);
      const { recommendations } = audit({ config, document, origin }, rules, { files, available: new Set(), known });
      for (const { rule, message } of recommendations) {
        const named = known.compatibility.namespaces.filter((name) => name.includes('/') && message.includes(name));
        deepEqual(
          named.filter((name) => !written.includes(`"${name}"`)),
          [],
          `${rule} in the case of ${id}`,
        );
      }
    }
  });

  it('have at least one test case each in which they match', () => {
    const covered = new Set(cases.map(([id]) => id));
    deepEqual(
      rules.filter(({ id }) => !covered.has(id)),
      [],
    );
  });

  it('are listed in order of their ids, without duplicates', () => {
    const ids = rules.map(({ id }) => id);
    deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    );
  });

  it('recommend an action in one sentence', () => {
    for (const { message } of rules) equal(/^[A-Z][^\n]*[^.]\.$/.test(message), true, message);
  });
});
