import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { redisComponents } from './counters.ts';
import { forwardAuth, forwardAuthCached, introspection, introspectionUncached } from './decisions.ts';
import { loggedIn } from './logins.ts';
import { emptyModule } from './modules.ts';
import { small } from './payloads.ts';
import type { Attached, Scenario } from './scenario.ts';
import { httpSignature } from './signatures.ts';
import { tokens } from './tokens.ts';

const noOp = { output_encoding: 'no-op', backend: [{ url_pattern: '/small', encoding: 'no-op' }] };

/** Endpoint that decodes and encodes 1 KiB. */
const decoded = { backend: [{ url_pattern: '/small', deny: ['nothing'] }] };

/** Measures the cost of a component: the same endpoint, which passes 1 KiB as bytes, without it and with it. */
function scenario(name: string, attach: (folder: string) => Attached, endpoint: Scenario['endpoint'] = noOp): Scenario {
  const isUntouched = endpoint === noOp;
  return {
    name,
    path: `/bench/${name}`,
    endpoint,
    attach,
    expected: small,
    ...(isUntouched && { untouched: true as const }),
  };
}

const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };

/** Variants of a split with the same backend. */
const halves = ['a', 'b'].map((name) => ({ name, backends: [0], weight: 1 }));

const scraped = { name: 'local', port: 0, listen_ip: '127.0.0.1' };

export const componentScenarios: readonly Scenario[] = [
  scenario('cors', () => ({
    service: {
      'security/cors': { allow_origins: ['https://*.shop.example'], expose_headers: ['ETag'], allow_credentials: true },
    },
    headers: [{ origin: 'https://www.shop.example' }],
  })),
  scenario('security-http', () => ({
    service: { 'security/http': { allowed_hosts: [], frame_deny: true, content_type_nosniff: true, sts_seconds: 300 } },
  })),
  scenario('bot-detector', () => ({
    service: {
      'security/bot-detector': {
        patterns: ['(?i)(bot|crawler|spider)', '^curl/', 'facebookexternalhit'],
        cache_size: 1000,
      },
    },
    headers: [browser],
  })),
  // Cost of serving a file, and of the file lookup for requests to endpoints.
  scenario(
    'static-file.json',
    (folder) => {
      writeFileSync(join(folder, 'static-file.json'), JSON.stringify(small));
      return { service: { 'server/static-filesystem': { prefix: '/bench/', path: folder } } };
    },
    { ...noOp },
  ),
  scenario('static-beside', (folder) => ({
    service: { 'server/static-filesystem': { prefix: '/media', path: folder } },
  })),
  scenario('rate-limit', () => ({
    endpoint: { 'qos/ratelimit/router': { max_rate: 1e6, client_max_rate: 1e6, strategy: 'ip' } },
  })),
  scenario('rate-limit-service', () => ({
    service: { 'qos/ratelimit/service': { max_rate: 1e6, client_max_rate: 1e6, strategy: 'ip' } },
  })),
  // HTTP/2 to the backend, compared with HTTP/1.1.
  scenario('http2', () => ({ backend: { 'backend/http/client': { http2: true } } })),
  // Three plans, of which the last one matches.
  scenario('rate-limit-tiered', () => ({
    endpoint: {
      'qos/ratelimit/tiered': {
        tier_key: 'X-Plan',
        tiers: [{ tier_value: 'gold' }, { tier_value: 'silver' }, { tier_value: 'free', ratelimit: { max_rate: 1e6 } }],
      },
    },
    headers: [{ 'x-plan': 'free' }],
  })),
  scenario('rate-limit-proxy', () => ({
    backend: { 'qos/ratelimit/proxy': { max_rate: 1e6, capacity: 1e6 } },
  })),
  scenario('circuit-breaker', () => ({
    backend: { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 5 } },
  })),
  scenario('circuit-breaker-http', () => ({
    backend: { 'qos/circuit-breaker/http': { interval: 60, timeout: 10, max_errors: 5, valid_status_codes: [200] } },
  })),
  scenario('retry', () => ({ backend: { 'backend/retry': {} } })),
  scenario('retry-hedged', () => ({ backend: { 'backend/retry': { attempt_timeout: '5s', hedge_after: '1s' } } })),
  // The gateway without the cache calls the backend for every request; a cached response must cost at most 60% of that.
  scenario('http-cache', () => ({ backend: { 'qos/http-cache': {} } }), {
    ...{ output_encoding: 'no-op', backend: [{ url_pattern: '/kept', encoding: 'no-op' }] },
  }),
  scenario('http-cache-json', () => ({ backend: { 'qos/http-cache': {} } }), {
    backend: [{ url_pattern: '/kept' }],
  }),
  scenario('metrics', () => ({ service: { 'telemetry/opentelemetry': { exporters: { prometheus: [scraped] } } } })),
  scenario('stats', () => ({ service: { 'telemetry/metrics': { listen_address: '127.0.0.1:0' } } })),
  // One request in a hundred is recorded.
  scenario('recorder', () => ({ service: { 'telemetry/recorder': { sample_rate: 0.01 } } })),
  scenario('traces-unsampled', () => ({
    service: {
      'telemetry/opentelemetry': {
        trace_sample_rate: 0,
        exporters: { otlp: [{ name: 'collector', host: '127.0.0.1', port: 1, disable_metrics: true }] },
      },
    },
  })),
  scenario('api-keys', () => ({
    service: {
      'auth/api-keys': {
        identifier: 'X-Api-Key',
        keys: Array.from({ length: 1000 }, (_, index) => ({ key: `key-of-client-${index}-7f3a9c`, roles: ['user'] })),
      },
    },
    endpoint: { 'auth/api-keys': { roles: ['user'] } },
    headers: [{ 'x-api-key': 'key-of-client-500-7f3a9c' }],
  })),
  // A password is verified once and then cached.
  scenario('basic', () => ({
    service: { 'auth/basic': { users: { ada: hashSync('correct horse battery', 10) } } },
    endpoint: { 'auth/basic': {} },
    headers: [{ authorization: `Basic ${btoa('ada:correct horse battery')}` }],
  })),
  { ...scenario('forward-auth', forwardAuth), together: 50 },
  scenario('forward-auth-cached', forwardAuthCached),
  scenario('http-signature', httpSignature),
  scenario('introspection', introspection),
  { ...scenario('introspection-uncached', introspectionUncached), together: 50 },
  // Decrypted sessions are cached; the other scenario has more users than the cache holds.
  scenario('login', () => loggedIn(1000)),
  scenario('login-uncached', () => loggedIn(12_000)),
  // Selects three fields of 1 KiB of data.
  scenario(
    'response-body-fields',
    () => ({
      endpoint: {
        'modifier/response-body-generator': {
          template: btoa(
            '{"id":{{ .resp_body.id }},"of":{{ toJson .resp_body.customer }},"orders":{{ len .resp_body.orders }}}',
          ),
        },
      },
    }),
    decoded,
  ),
  // Cached tokens are verified once; the other scenario uses more tokens than the cache holds.
  scenario('token-cached', (folder) => tokens(folder, 'RS256', 1)),
  scenario('token-hs256', (folder) => tokens(folder, 'HS256', 12_000)),
  scenario('token-rs256', (folder) => tokens(folder, 'RS256', 12_000)),
  scenario('token-es256', (folder) => tokens(folder, 'ES256', 12_000)),
  scenario('virtualhost', () => ({ service: { 'server/virtualhost': { hosts: ['a.example', 'b.example'] } } })),
  scenario('split', () => ({ endpoint: { 'proxy/split': { variants: halves } } })),
  scenario('split-sticky', () => ({
    endpoint: { 'proxy/split': { variants: halves, sticky: { strategy: 'header', key: 'X-User' } } },
    headers: [{ 'x-user': 'user-7f3a9c' }],
  })),
  scenario('conditional', () => ({ backend: { 'backend/conditional': { strategy: 'fallback' } } })),
  scenario('conditional-policy', () => ({
    backend: { 'backend/conditional': { strategy: 'policy', value: "req_method == 'GET'" } },
  })),
  // The workflow calls the same backend, one level deeper.
  scenario(
    'workflow',
    () => ({ backend: { workflow: { endpoint: '/deeper', backend: [{ url_pattern: '/small' }] } } }),
    { backend: [{ url_pattern: '/small' }] },
  ),
  scenario('lua', () => ({
    endpoint: {
      'modifier/lua-proxy': {
        pre: `local r = request.load()
local agent = r:headers('User-Agent')
if r:method() ~= 'GET' then custom_error('only GET', 405) end
if agent == '' then agent = 'unknown' end
r:headers('X-Agent', agent .. '/' .. r:query())`,
      },
    },
  })),
  scenario('cel', () => ({
    endpoint: {
      'validation/cel': [
        {
          check_expr:
            "req_method == 'GET' && size(req_params) < 5 && 'Sluice' in req_headers['X-Forwarded-Host'] == false",
        },
      ],
    },
  })),
  scenario('policies', () => ({
    endpoint: {
      'security/policies': {
        req: { policies: ["getCookie('GDPR') == 'yes'", "inCIDR(clientIP(), '127.0.0.0/8') && req_method == 'GET'"] },
      },
    },
    headers: [{ cookie: 'sid=31d4d96e407aad42; GDPR=yes' }],
  })),
  scenario('ip-filter', () => ({
    service: {
      'plugin/http-server': {
        name: ['ip-filter'],
        'ip-filter': { CIDR: ['192.0.2.0/24', '10.0.0.0/8', '2001:db8::/32'], trusted_proxies: ['172.16.0.0/12'] },
      },
    },
  })),
  scenario('geoip', () => ({
    service: { 'plugin/http-server': { name: ['geoip'], geoip: { citydb_path: 'samples/filters/city.mmdb' } } },
  })),
  scenario('url-rewrite', () => ({
    service: {
      'plugin/http-server': {
        name: ['url-rewrite'],
        'url-rewrite': { literal: { '/hi': '/hello' }, regexp: [['^/u-([a-z]+)$', '/users/$1']] },
      },
    },
  })),
  scenario(
    'response-schema',
    () => ({ endpoint: { 'validation/response-json-schema': { schema: { type: 'object', minProperties: 1 } } } }),
    { backend: [{ url_pattern: '/small' }] },
  ),
  scenario(
    'content-replacer',
    () => ({
      endpoint: {
        'plugin/req-resp-modifier': {
          name: ['content-replacer'],
          'content-replacer': { none: { find: 'a', replace: 'b' } },
        },
      },
    }),
    { backend: [{ url_pattern: '/small' }] },
  ),
  scenario('martian', () => ({
    backend: {
      'modifier/martian': {
        'fifo.Group': {
          modifiers: [
            { 'header.Modifier': { scope: ['request'], name: 'X-Team', value: 'checkout' } },
            { 'querystring.Modifier': { scope: ['request'], name: 'v', value: '1' } },
          ],
        },
      },
    },
  })),
  // The gateway without the component decodes the response, too, so this measures only the expression and its filter.
  scenario(
    'jmespath',
    () => ({ endpoint: { 'modifier/jmespath': { expr: 'merge(@, {orders: orders[?total > `0`]})' } } }),
    decoded,
  ),
  scenario(
    'response-body-generator',
    () => ({
      endpoint: {
        'modifier/response-body-generator': { template: Buffer.from('{{ toJson .resp_body }}').toString('base64') },
      },
    }),
    decoded,
  ),
  scenario('request-body-generator', () => ({
    endpoint: {
      'modifier/request-body-generator': {
        template: Buffer.from(
          '{"path":{{ toJson .req_path }},"agent":"{{ index .req_headers "User-Agent" 0 }}"}',
        ).toString('base64'),
      },
    },
  })),
  scenario('response-headers', () => ({
    service: { 'modifier/response-headers': { add: { 'X-Served-By': ['gateway'] }, delete: ['X-Powered-By'] } },
  })),
  // Handlers that do nothing: measures the cost of passing requests and replies to modules.
  scenario('plugin-middleware', (folder) => ({
    endpoint: { 'plugin/middleware': { name: ['empty'] } },
    modules: emptyModule(folder),
  })),
  scenario('plugin-modifier', (folder) => ({
    endpoint: { 'plugin/req-resp-modifier': { name: ['empty'] } },
    modules: emptyModule(folder),
  })),
  scenario('plugin-http-client', (folder) => ({
    backend: { 'plugin/http-client': { name: 'empty' } },
    modules: emptyModule(folder),
  })),
  scenario('plugin-http-server', (folder) => ({
    service: { 'plugin/http-server': { name: ['empty'] } },
    modules: emptyModule(folder),
  })),
  ...redisComponents.map(([name, attach]) => ({ ...scenario(name, attach), together: 50 })),
];
