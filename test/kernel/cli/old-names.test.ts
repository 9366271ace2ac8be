import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

type Names = Readonly<Record<string, string>>;

/** Fields of components by their names in version 1 of KrakenD. */
const fields: Readonly<Record<string, Names>> = {
  'auth/validator': { 'jwk-url': 'jwk_url', 'propagate-claims': 'propagate_claims' },
  'auth/signer': { 'jwk-url': 'jwk_url', 'keys-to-sign': 'keys_to_sign' },
  'auth/revoker': { HashName: 'hash_name', TokenKeys: 'token_keys' },
  'qos/ratelimit/router': { maxRate: 'max_rate', clientMaxRate: 'client_max_rate' },
  'qos/ratelimit/proxy': { maxRate: 'max_rate' },
  'qos/circuit-breaker': { maxErrors: 'max_errors', logStatusChange: 'log_status_change' },
  'security/bot-detector': { whitelist: 'allow', blacklist: 'deny', cacheSize: 'cache_size' },
  'documentation/openapi': {
    termsOfService: 'terms_of_service',
    'contact-name': 'contact_name',
    'contact-url': 'contact_url',
    'contact-email': 'contact_email',
    basePath: 'base_path',
    'license-name': 'license_name',
    'license-url': 'license_url',
  },
};

const handlers: Names = {
  'krakend-basic-auth': 'basic-auth',
  'krakend-jwk-aggregator': 'jwk-aggregator',
  'krakend-redirect': 'no-redirect',
  'krakend-dumper': 'http-logger',
  'krakend-geoip': 'geoip',
  'krakend-ipfilter': 'ip-filter',
  'krakend-static-live': 'static-filesystem',
  'krakend-wildcard': 'wildcard',
};

const namespaces: Names = {
  'devopsfaith/krakend/transport/http/server/handler': 'plugin/http-server',
  'devopsfaith/krakend/transport/http/client/executor': 'plugin/http-client',
  'devopsfaith/krakend/proxy/plugin': 'plugin/req-resp-modifier',
  'devopsfaith/krakend/proxy': 'proxy',
  'luraproject/lura/router/gin': 'router',
  'devopsfaith/krakend/http': 'backend/http',
  'devopsfaith/krakend/transport/http/client/graphql': 'backend/graphql',
  'devopsfaith/krakend-ratelimit/juju/router': 'qos/ratelimit/router',
  'devopsfaith/krakend-ratelimit/juju/proxy': 'qos/ratelimit/proxy',
  'devopsfaith/krakend-httpcache': 'qos/http-cache',
  'devopsfaith/krakend-circuitbreaker/gobreaker': 'qos/circuit-breaker',
  'devopsfaith/krakend-oauth2-clientcredentials': 'auth/client-credentials',
  'devopsfaith/krakend-jose/validator': 'auth/validator',
  'devopsfaith/krakend-jose/signer': 'auth/signer',
  'devopsfaith/krakend-botdetector': 'security/bot-detector',
  'devopsfaith/krakend-httpsecure': 'security/http',
  'devopsfaith/krakend-cors': 'security/cors',
  'devopsfaith/krakend-cel': 'validation/cel',
  'devopsfaith/krakend-jsonschema': 'validation/json-schema',
  'devopsfaith/krakend-amqp/consume': 'backend/amqp/consumer',
  'devopsfaith/krakend-amqp/produce': 'backend/amqp/producer',
  'devopsfaith/krakend-lambda': 'backend/lambda',
  'devopsfaith/krakend-pubsub/publisher': 'backend/pubsub/publisher',
  'devopsfaith/krakend-pubsub/subscriber': 'backend/pubsub/subscriber',
  'devopsfaith/krakend-gelf': 'telemetry/gelf',
  'devopsfaith/krakend-gologging': 'telemetry/logging',
  'devopsfaith/krakend-logstash': 'telemetry/logstash',
  'devopsfaith/krakend-metrics': 'telemetry/metrics',
  'devopsfaith/krakend-influx': 'telemetry/influx',
  'devopsfaith/krakend-opencensus': 'telemetry/opencensus',
  'devopsfaith/krakend-lua/router': 'modifier/lua-endpoint',
  'devopsfaith/krakend-lua/proxy/backend': 'modifier/lua-backend',
  'devopsfaith/krakend-lua/proxy': 'modifier/lua-proxy',
  'devopsfaith/krakend-martian': 'modifier/martian',
  'devopsfaith/krakend-swagger': 'documentation/openapi',
  'devopsfaith/krakend-apikeys': 'auth/api-keys',
  'devopsfaith/krakend-websocket': 'websocket',
  'devopsfaith/bloomfilter': 'auth/revoker',
  'letgoapp/krakend-influx': 'telemetry/influx',
};

const coreFields: Names = { headers_to_pass: 'input_headers', querystring_params: 'input_query_strings' };
const backendFields: Names = { whitelist: 'allow', blacklist: 'deny' };

/** Names are not changed in values, paths and texts. */
const texts = { host: ['http://jwk-url'], url_pattern: '/maxRate/{whitelist}' };
const document = (version: number, rootConfig: object, ownConfig: object, own: object = {}, backend: object = {}) => ({
  version,
  '@comment': 'jwk-url krakend-basic-auth github_com/devopsfaith/krakend-cors',
  extra_config: rootConfig,
  endpoints: [
    { endpoint: '/jwk-url/{whitelist}', ...own, extra_config: ownConfig, backend: [{ ...texts, ...backend }] },
  ],
});

/** Every old name of a table as a key, or every current one. */
const keysOf = (names: Names, isOld: boolean) =>
  Object.fromEntries(Object.entries(names).map(([old, present]) => [isOld ? old : present, 'whitelist']));
const componentsOf = (isOld: boolean) =>
  Object.fromEntries(Object.entries(fields).map(([name, names]) => [name, keysOf(names, isOld)]));

describe('names of version 1 files', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  const migrate = async (given: object) => {
    const { out, err } = await sluice('migrate', '-c', folder.write('g.json', given));
    return { data: JSON.parse(out), err };
  };

  for (const version of [2, 3]) {
    it(`are renamed as fields, in version ${version}`, async () => {
      const of = (isOld: boolean, at: number) =>
        document(at, {}, componentsOf(isOld), keysOf(coreFields, isOld), keysOf(backendFields, isOld));
      deepEqual((await migrate(of(true, version))).data, of(false, 3));
    });
    for (const prefix of ['github_com/', 'github.com/']) {
      it(`are renamed as namespaces with ${prefix}, in version ${version}`, async () => {
        for (const [old, present] of Object.entries(namespaces)) {
          const { data } = await migrate(document(version, { [prefix + old]: 7 }, { [prefix + old]: 7 }));
          const levels = [data.extra_config, data.endpoints[0].extra_config];
          ok(
            levels.every((level) => Object.keys(level).every((key) => key.replace(/^@/, '') === present)),
            old,
          );
        }
      });
    }
    it(`are renamed as handlers with their settings, in version ${version}`, async () => {
      for (const [old, present] of Object.entries(handlers)) {
        const of = (name: string, at: number) =>
          document(
            at,
            { 'plugin/http-server': { name: ['x', name], [name]: { '@note': old } } },
            {},
            {},
            {
              extra_config: { 'plugin/http-client': { name, [name]: {} } },
            },
          );
        deepEqual((await migrate(of(old, version))).data, of(present, 3));
      }
    });
  }

  it('are hinted at by check in version 3, with the current names', async () => {
    for (const [namespace, names] of Object.entries(fields)) {
      for (const [old, present] of Object.entries(names)) {
        const isAtRoot = namespace === 'auth/revoker';
        const component = { [namespace]: { [old]: 'x' } };
        const given = isAtRoot ? document(3, component, {}) : document(3, {}, component);
        const { code, out } = await sluice('check', '--format', 'json', '-c', folder.write('g.json', given));
        equal(code, 1);
        match(out, new RegExp(`'${old}' is an old name of '${present}': sluice migrate renames it`));
      }
    }
  });
  it('are corrected by check --fix in version 3', async () => {
    const server = (name: string) => ({ 'plugin/http-server': { name: [name], [name]: { allow: true } } });
    const limit = (name: string) => ({ 'qos/ratelimit/router': { [name]: 1 } });
    const file = folder.write('fix.json', document(3, server('krakend-ipfilter'), limit('maxRate')));
    await sluice('check', '--fix', '-c', file);
    deepEqual(JSON.parse(folder.read('fix.json')), document(3, server('ip-filter'), limit('max_rate')));
  });
  it('of handlers are kept if a module provides a handler of that name', async () => {
    const source =
      "export const plugin = { contract: 1, name: 'mine/wild', description: 'Is one.', handlers: ['krakend-wildcard'] };";
    folder.write('module.js', source);
    const given = {
      ...document(3, { 'plugin/http-server': { name: ['krakend-wildcard'] } }, {}),
      plugin: { folder: folder.path(''), pattern: 'module.js' },
    };
    deepEqual((await migrate(given)).data, given);
  });
  for (const name of ['instana', 'etcd', 'consul']) {
    it(`of krakend-${name}, which KrakenD removed, are reported with exit code 1`, async () => {
      const given = document(2, { [`github_com/devopsfaith/krakend-${name}`]: {} }, {});
      const { code, out, err } = await sluice('migrate', '-c', folder.write('g.json', given));
      equal(code, 1);
      deepEqual(JSON.parse(out), { ...given, version: 3 });
      ok(err.includes(`'github_com/devopsfaith/krakend-${name}' is no longer part of KrakenD`), err);
    });
  }
});

describe('plugins that are not installed', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());
  const given = {
    version: 2,
    plugin: { folder: '/no/such/plugins', pattern: '.so' },
    extra_config: {
      'plugin/http-server': { name: ['mine'] },
      'mine/own': {},
      'server/static-filesystem': { path: '/no/such/files', prefix: '/files/' },
    },
    endpoints: [{ endpoint: '/a', headers_to_pass: ['A'], backend: [{ url_pattern: '/', host: ['http://b.test'] }] }],
  };

  it('do not stop migrate, which leaves their settings unchanged', async () => {
    const { code, out, err } = await sluice('migrate', '-c', folder.write('g.json', given));
    deepEqual([code, JSON.parse(out).extra_config], [0, given.extra_config], err);
    deepEqual(JSON.parse(out).endpoints[0].input_headers, ['A']);
  });
  it('are listed by check, and rejected by check -t', async () => {
    const file = folder.write('g.json', given);
    const { code, out, err } = await sluice('check', '-c', file);
    equal(code, 0);
    match(err, /"\.so" selects compiled plugins, which cannot be loaded \(\/plugin\/pattern\) \[PLUGIN_FOLDER\]/);
    match(out, /Not checked: .*\/no\/such\/plugins/);
    match(out, /Not checked: .*\/no\/such\/files/);
    const read = await sluice('check', '-t', '-c', file);
    equal(read.code, 1);
    match(read.err, /\[PLUGIN_FOLDER\]/);
    match(read.err, /\[STATIC_PATH\]/);
  });
  it('are rejected if --plugins names a missing folder', async () => {
    const { code } = await sluice('check', '-c', folder.write('g.json', given), '--plugins', folder.path('none'));
    equal(code, 1);
  });
});
