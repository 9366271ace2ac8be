// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is one of the texts that operators write.
import { equal, ok } from 'node:assert/strict';
import { globSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { type DataObject, getPath, setKey } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { readDocument } from '../../../kernel/config/index.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { completeSchema } from '../../../kernel/pipeline/complete-schema.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';

const texts = ['', ' ', '\t', 'x', '-', '*', '/', '0', '1', 'a b', 'é', 'a\nb', '__proto__', '${X}', '\u{1f600}'];

const durations = [
  ...[
    '0s',
    '1s',
    '2s',
    '007s',
    '1.5s',
    '1.s',
    '.5s',
    '90us',
    '90µs',
    '90μs',
    '15ns',
    '1500ms',
    '5m',
    '1h30m',
    '1h1m1s1ms',
  ],
  ...[
    '2',
    '2 s',
    's',
    '-1s',
    '+1s',
    '1e3s',
    '1,5s',
    '..5s',
    '1.5.s',
    '2S',
    '2sec',
    '2d',
    '1s ',
    ' 1s',
    '.s',
    '1ss',
    '∞s',
  ],
  ...['999999h', '1000000h', '99999999h', '99999999m', '100000000m', '9999999999s', '1000000000000000ms'],
  ...['0000000000000000001h', '0.0000000000000000000001h', '9999999999999999999ns', '1h99999999999999ms'],
];
const addresses = [
  ...[
    '127.0.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '256.0.0.1',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.4:80',
    ' 1.2.3.4',
  ],
  ...[
    '::',
    '::1',
    '1::',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::2:3:4:5:6:7:8',
    '1::8',
    '1:2:3:4:5:6:1.2.3.4',
    '::1.2.3.4',
  ],
  ...[
    '1:2:3:4:5:6:7:8:9',
    ':1',
    '1:',
    '1::2::3',
    ':::',
    '12345::',
    'g::',
    '::1.2.3',
    '[::1]',
    'fe80::1%eth0',
    'fe80::1%',
  ],
  ...[
    'localhost',
    'example.com',
    '10.0.0.0/8',
    '10.0.0.0/33',
    '10.0.0.0/',
    '::/0',
    '::/128',
    '::/129',
    '::1/064',
    '10/8',
  ],
];
const headerNames = [
  'X-Id',
  'x_id',
  '__proto__',
  '*',
  '!#$%&',
  'X Id',
  'X-Id:',
  'X:Id',
  'é',
  '"X"',
  '(x)',
  'x\n',
  '@',
  '{}',
];
const levels = ['DEBUG', 'info', 'Warning', 'ERROR', 'critical', 'WARN', 'TRACE', 'FATAL', 'INFO ', 'ınfo', 'debug\n'];
const numbers = [
  0,
  1,
  -1,
  0.5,
  1e3,
  1e21,
  -1e21,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  65535,
  65536,
  '1',
  null,
  true,
  [],
  {},
];

type Place = readonly [where: string, field: string];

/** Every field with a kind of value, each list of values, and the place of the field. */
const fields: readonly (readonly [kind: string, values: readonly unknown[], ...places: Place[]])[] = [
  [
    'duration',
    [...durations, ...texts, ...numbers],
    ['root', 'timeout'],
    ['backend', 'timeout'],
    ['admin/reload', 'drain_timeout'],
  ],
  ['address to listen on', [...addresses, ...texts], ['root', 'listen_ip']],
  [
    'list of networks',
    [...addresses, ...texts].map((text) => [text]),
    ['router', 'trusted_proxies'],
    ['admin/api', 'allowed_ips'],
  ],
  [
    'list of headers',
    [...[...headerNames, ...texts].map((text) => [text]), [], ['', 'a'], ['a', ''], ['a', 'b'], ['', '']],
    ['endpoint', 'input_headers'],
    ['backend', 'input_headers'],
    ['router', 'remote_ip_headers'],
    ['security/http', 'host_proxy_headers'],
  ],
  [
    'map of headers',
    [...headerNames, ...texts].map((name) => ({ [name]: 'x' })),
    ['security/http', 'ssl_proxy_headers'],
  ],
  [
    'value of a header',
    ['', 'a', 'a b', '\t', '\u00ff', '\u0100', '\x00', '\n', '\x7f', '😀'],
    ['security/http', 'referrer_policy'],
    ['security/http', 'ssl_host'],
    ['security/http', 'custom_frame_options_value'],
    ['security/http', 'content_security_policy'],
  ],
  ['log level', [...levels, ...texts], ['telemetry/logging', 'level']],
  [
    'log level of a backend',
    [...levels, ...texts].map((text) => ({ log_with_level: text })),
    ['backend telemetry/logging', 'backend'],
  ],
  ['strategy', ['ip', 'IP', 'Header', 'param', 'heder', 'İp', ...texts], ['qos/ratelimit/router', 'strategy']],
  ['scheme', ['http', 'HTTPS', 'h2c', 'a+b-c.d', '1a', 'http:', 'http://', ...texts], ['backend', 'sd_scheme']],
  [
    'path',
    [
      ...[
        '/',
        '/a',
        '/a/',
        '//',
        '/a/*',
        '/*',
        '/a*',
        '/a/*/b',
        '/a?b',
        '/a&b',
        '/a%20',
        '/a:b',
        '/:a',
        'a',
        '/é',
        '/a b',
      ],
      ...['/{a}', '/{a}/b', '/{a-b_c}', '/{a.b}', '/{}', '/{a', '/a}', '/{{a}}', '/{a}/*', '/{a b}', '/__catchall'],
      ...texts,
    ],
    ['endpoint', 'endpoint'],
  ],
  [
    'address of the admin port',
    [
      ...[
        'off',
        'OFF',
        'unix:/run/x',
        'unix:x',
        'unix:',
        'unix:/',
        '127.0.0.1:9180',
        'localhost:1',
        '[::1]:9180',
        '[::1]',
      ],
      ...[
        '127.0.0.1',
        '127.0.0.1:',
        '127.0.0.1:65536',
        '127.0.0.1:0',
        '127.0.0.1:00080',
        '[::g]:1',
        'a b:1',
        'http://x:1',
      ],
      ...texts,
    ],
    ['admin/api', 'listen'],
  ],
  [
    'address of a proxy',
    [
      ...[
        'http://proxy:3128',
        'HTTPS://proxy.example.com:3128/',
        'socks5://u:p@1.2.3.4:1080',
        'http://[::1]:1',
        'http://proxy',
      ],
      ...[
        'proxy:3128',
        'ftp://proxy:1',
        'http://proxy:65536',
        'http://:1',
        'http://a b:1',
        'http://p:1/x',
        'http://1.2.3:1',
      ],
      ...texts,
    ],
    ['backend/http/client', 'proxy_address'],
  ],
  [
    'version of TLS',
    ['TLS10', 'TLS11', 'TLS12', 'TLS13', 'SSL3.0', 'TLS14', '1.2', ...texts],
    ['client_tls', 'max_version'],
  ],
  [
    'list of cipher suites',
    [4865, 4867, 49199, 49200, 52393, 5, 10, 47, 60, 0, -1, 65535, 0.5].map((n) => [n]),
    ['client_tls', 'cipher_suites'],
  ],
  ['list of curves', [23, 24, 25, 26, 0, '23'].map((n) => [n]), ['client_tls', 'curve_preferences']],
  [
    'number',
    numbers,
    ['root', 'port'],
    ['root', 'max_header_bytes'],
    ['root', 'max_idle_connections_per_host'],
    ['endpoint', 'concurrent_calls'],
    ['router', 'max_payload'],
    ['router', 'decompress_gzip'],
    ['admin/api', 'revisions'],
    ['security/http', 'sts_seconds'],
    ['qos/ratelimit/router', 'max_rate'],
    ['qos/ratelimit/router', 'capacity'],
  ],
  [
    'name of an encoding',
    ['json', 'yaml', 'negotiate', 'rss', 'JSON', 'no-op', ...texts],
    ['endpoint', 'output_encoding'],
    ['backend', 'encoding'],
    ['root', 'output_encoding'],
  ],
  ['name of a discovery', ['static', 'dns', 'Static', 'consul', ...texts], ['backend', 'sd']],
  ['method', ['GET', 'get', 'ANY', 'HEAD', ...texts], ['endpoint', 'method'], ['backend', 'method']],
  ['name of a combiner', ['default', 'deep', 'Deep', ...texts], ['proxy', 'combiner']],
  [
    'format of a log',
    ['default', 'json', 'logstash', 'Custom', ...texts],
    ['telemetry/logging', 'format'],
    ['telemetry/logging', 'access_log_format'],
  ],
  ['facility of a log', ['local0', 'local8', 'user', ...texts], ['telemetry/logging', 'syslog_facility']],
  ['path of the health page', ['/x', 'x', '/', ...texts], ['router', 'health_path']],
  [
    'list of parameters',
    [['resp0_a.b'], ['resp'], ['resp0_'], ['resp0_a b'], ['xresp0'], [''], [1]],
    ['proxy', 'sequential_propagated_params'],
  ],
];

/** Place of a field: the path to its object in a valid document. */
const holders: Readonly<Record<string, readonly string[]>> = {
  root: [],
  client_tls: ['client_tls'],
  router: ['extra_config', 'router'],
  'admin/api': ['extra_config', 'admin/api'],
  'admin/reload': ['extra_config', 'admin/reload'],
  'telemetry/logging': ['extra_config', 'telemetry/logging'],
  'security/http': ['extra_config', 'security/http'],
};

describe('the published schema and check', () => {
  let registry: Registry;
  let validate: ValidateFunction;
  before(async () => {
    registry = new Registry(catalogue, toolServices());
    validate = new Ajv({ strict: false }).compile(JSON.parse(JSON.stringify(await completeSchema(registry))));
  });
  after(() => registry.close());

  const isGood = async (document: object) => (await examine(document, {}, registry, true)).errors.length === 0;

  function documentWith([where, field]: Place, value: unknown): DataObject {
    const backend: DataObject = { host: ['http://users.internal'], url_pattern: '/', extra_config: {} };
    const second = { ...backend, url_pattern: '/b' };
    const endpoint: DataObject = { endpoint: '/a/{x}', backend: [backend], extra_config: {} };
    const document: DataObject = {
      version: 3,
      endpoints: [endpoint],
      extra_config: { router: {}, 'admin/api': {}, 'admin/reload': {}, 'security/http': {} },
    };
    if (where === 'client_tls') {
      document['client_tls'] = field === 'max_version' ? { min_version: 'TLS10', cipher_suites: [47] } : {};
    }
    if (where === 'telemetry/logging') {
      const logging = { level: 'INFO', stdout: true, custom_format: '%{message}', access_log_custom_format: '%{path}' };
      (document['extra_config'] as DataObject)[where] = logging;
    }
    const holder = () => {
      const way = holders[where];
      if (way) return getPath(document, way) as DataObject;
      if (where === 'endpoint') return endpoint;
      if (where === 'backend') return backend;
      const [name, extra] = where.startsWith('backend')
        ? [where.replace(/^backend /, ''), backend['extra_config']]
        : [where, endpoint['extra_config']];
      const component: DataObject = name === 'qos/ratelimit/router' ? { max_rate: 1, key: 'x' } : {};
      (extra as DataObject)[name] = component;
      if (name === 'proxy') {
        endpoint['backend'] = [backend, second];
        component['sequential'] = true;
      }
      return component;
    };
    setKey(holder(), field, value as never);
    return document;
  }

  for (const [kind, values, ...places] of fields) {
    for (const place of places) {
      it(`agree on every ${kind}: ${place.join(' ')}`, async () => {
        let [good, bad] = [0, 0];
        for (const value of values) {
          const document = documentWith(place, value);
          const accepted = await isGood(structuredClone(document));
          equal(validate(document), accepted, `${JSON.stringify(value)}: check ${accepted ? 'accepts' : 'refuses'} it`);
          if (accepted) good += 1;
          else bad += 1;
        }
        ok(good > 0 && bad > 0, 'one of the values is good, one is bad');
      });
    }
  }

  /** Errors that depend on two places, on the content of texts, or on files. */
  const BEYOND =
    /^(?:ENDPOINT_BACKENDS|SD_|HOST_|BACKEND_HOST|PROXY_|OUTPUT_|ROUTE_|HTTP_ERRORS_|LOGGING_PATTERN|RATELIMIT_|JSON_SCHEMA_|PATTERN_INVALID|(?:CLIENT_)?TLS_|DNS_CACHE_TTL|CONFIG_CONFLICT|BACKEND_|PLUGIN_FOLDER)/;

  it('agree on every file of the corpus, except for errors that a schema cannot express', async () => {
    let reported = 0;
    for (const file of globSync('test/corpus/{broken/*,good}/*.{json,yaml,toml}')) {
      if (file.endsWith('expected.json')) continue;
      const data = await readDocument(file).then(
        (document) => document.data as DataObject,
        (error) => {
          if (!(error instanceof ConfigErrors)) throw error;
        },
      );
      if (!data) continue;
      const { errors } = await examine(structuredClone(data), {}, registry, true);
      const accepted = validate(JSON.parse(JSON.stringify(data)));
      if (errors.length === 0) ok(accepted, `${file}: the schema refuses what check accepts`);
      else if (!errors.every(({ code }) => BEYOND.test(code))) {
        equal(accepted, false, `${file}: the schema accepts what check refuses`);
        reported += 1;
      }
    }
    ok(reported > 100);
  });
});
