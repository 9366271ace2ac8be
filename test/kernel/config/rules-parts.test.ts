// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, equal } from 'node:assert/strict';
import { definePlugin } from '#contract';
import { interpolate } from '../../../kernel/config/flexible/interpolation.ts';
import { known } from '../../support/known.ts';
import { backends, finding, findings, pointedAt, service } from './findings.ts';

describe('two backends with the same group', () => {
  const pair = (endpoint: object = {}, second: object = {}) =>
    findings(backends([{ group: 'a' }, { group: 'a', ...second }], endpoint), 'MERGE_GROUP');

  it('cause a warning at the later backend', () => {
    const [warning] = pair();
    deepEqual([warning!.pointer, warning!.related], ['/endpoints/0/backend/1/group', ['/endpoints/0/backend/0/group']]);
  });
  it('cause no warning with a combiner that merges groups with the same name', () => {
    deepEqual(pair({ extra_config: { proxy: { combiner: 'deep' } } }), []);
    equal(pair({ extra_config: { proxy: { combiner: 'ordered' } } }).length, 1);
  });
  it('cause no warning if one is a shadow or has a condition', () => {
    deepEqual(pair({}, { extra_config: { proxy: { shadow: true } } }), []);
    const plugin = definePlugin({
      name: 'test/else',
      description: 'Is called else.',
      meaning: () => ({ apart: true }),
    });
    const withElse = {
      plugin: () => plugin,
      encoding: () => undefined,
      hasHandler: () => false,
      compatibility: known.compatibility,
    };
    const sections = backends([{ group: 'a' }, { group: 'a', extra_config: { 'test/else': {} } }]);
    deepEqual(findings(sections, 'MERGE_GROUP', { known: withElse }), []);
  });
});

describe('response shaping of a backend', () => {
  it('causes a warning for allow together with deny', () => {
    const warning = finding(backends([{ allow: ['a'], deny: ['b'] }]), 'SHAPE_ALLOW_DENY');
    deepEqual([warning.pointer, warning.related], ['/endpoints/0/backend/0/deny', ['/endpoints/0/backend/0/allow']]);
  });
  it('causes a warning that lists all fields without effect if nothing is decoded', () => {
    const fields = { mapping: { a: 'b' }, target: 'data' };
    const warning = finding(backends([fields], { output_encoding: 'no-op' }), 'SHAPE_UNREAD');
    deepEqual(
      [warning.pointer, warning.related],
      ['/endpoints/0/backend/0/target', ['/endpoints/0/backend/0/mapping', '/endpoints/0/output_encoding']],
    );
  });
  it('causes a warning if the encoding makes it ineffective', () => {
    const warning = finding(backends([{ allow: ['a'], encoding: 'no-op' }]), 'SHAPE_UNREAD');
    deepEqual(warning.related, ['/endpoints/0/backend/0/encoding']);
  });
  it('causes no warning for streamed messages', () => {
    deepEqual(findings(backends([{ allow: ['a'] }], { output_encoding: 'ndjson' }), 'SHAPE_UNREAD'), []);
  });
  it('causes no warning if it is empty', () => {
    const fields = { allow: [], mapping: {}, target: '', is_collection: false };
    deepEqual(findings(backends([fields], { output_encoding: 'no-op' }), 'SHAPE_UNREAD'), []);
  });
});

describe('a name in the wrong list of forwarded names', () => {
  for (const name of ['Authorization', 'content-type', 'X-Forwarded-For']) {
    it(`causes a warning: header ${name} among query parameters`, () => {
      const warning = finding(service([{ input_query_strings: ['page', name] }]), 'FORWARD_HEADER_AS_QUERY');
      equal(warning.pointer, '/endpoints/0/input_query_strings/1');
    });
  }
  it('causes no warning if it could be a parameter', () => {
    const names = ['accept', 'host', 'x-api-key', 'origin'];
    deepEqual(findings(service([{ input_query_strings: names }]), 'FORWARD_HEADER_AS_QUERY'), []);
  });
  it('causes a warning for a header listed twice in different case', () => {
    const warning = finding(service([{ input_headers: ['X-Id', 'x-id'] }]), 'FORWARD_TWICE');
    deepEqual([warning.pointer, warning.related], ['/endpoints/0/input_headers/1', ['/endpoints/0/input_headers/0']]);
  });
});

describe('a name that a backend lists and its endpoint does not', () => {
  const never = (backend: object, endpoint: object = {}) => findings(backends([backend], endpoint), 'FORWARD_NEVER');

  it('causes a warning', () => {
    const [warning] = never({ input_headers: ['X-Id'] }, { input_headers: ['X-Other'] });
    deepEqual(
      [warning!.pointer, warning!.related],
      ['/endpoints/0/backend/0/input_headers/0', ['/endpoints/0/input_headers']],
    );
    equal(never({ input_query_strings: ['page'] }).length, 1);
  });
  it('causes no warning if the endpoint forwards it', () => {
    deepEqual(never({ input_headers: ['x-id'] }, { input_headers: ['X-Id'] }), []);
    deepEqual(never({ input_headers: ['X-Id'] }, { input_headers: ['*'] }), []);
  });
  it('causes no warning if the gateway itself sends it', () =>
    deepEqual(never({ input_headers: ['User-Agent', 'X-Forwarded-For'] }), []));
  it('causes no warning if a component may set it', () => {
    deepEqual(never({ input_headers: ['X-Id'], extra_config: { 'modifier/martian': {} } }), []);
  });
  it('causes a warning despite a rate limit, which sets no headers', () => {
    equal(never({ input_headers: ['X-Id'] }, { extra_config: { 'qos/ratelimit/router': {} } }).length, 1);
  });
  it('causes no warning if the list drops everything', () => deepEqual(never({ input_headers: [''] }), []));
});

describe('a secret in the configuration file', () => {
  const secret = (component: object) => findings(service([{ extra_config: component }]), 'SECRET_LITERAL');

  it('causes a warning that does not show it', () => {
    const [warning] = secret({ 'auth/x': { client_secret: 'hunter2' } });
    equal(warning!.pointer, '/endpoints/0/extra_config/auth~1x/client_secret');
    equal(JSON.stringify(warning).includes('hunter2') || warning!.message.includes('hunter2'), false);
  });
  it('is recognized by the name of its field', () => {
    for (const field of ['password', 'db_password', 'token', 'api_key', 'aws_secret_access_key']) {
      equal(secret({ 'auth/x': { list: [{ [field]: 'v' }] } }).length, 1, field);
    }
  });
  it('is not reported for fields that refer to something else', () => {
    for (const field of ['token_keys', 'private_key', 'jwk_url', 'secret_url', 'cache_key']) {
      deepEqual(secret({ 'auth/x': { [field]: 'v' } }), [], field);
    }
  });
  it('is not reported for references', () => {
    for (const value of ['', '$PASSWORD', '{{ env "X" }}', 'env:PASSWORD']) {
      deepEqual(secret({ 'auth/x': { password: value } }), [], value);
    }
  });
  it('is not reported for variables and file paths', () => {
    const environment = { PASSWORD_OF_RULES: 'pa55-of-rules' };
    const readFile = () => '-----BEGIN PRIVATE KEY-----\nof rules\n-----END PRIVATE KEY-----\n';
    const filled = (component: object) => secret(interpolate(component as never, { environment, readFile }) as object);
    const settings = (password: string) => ({ 'auth/x': { password } });
    deepEqual(filled(settings('${PASSWORD_OF_RULES}')), []);
    deepEqual(filled(settings('Bearer ${PASSWORD_OF_RULES}')), []);
    deepEqual(
      filled({ 'auth/x': { url: 'amqp://user:${PASSWORD_OF_RULES}@broker:5672', key: '${file:/key.pem}' } }),
      [],
    );
    equal(filled(settings('${OTHER_OF_RULES:-written here}')).length, 1);
  });
  it('is not reported for maps whose keys are data', () => {
    deepEqual(secret({ proxy: { static: { data: { token: 'v' }, strategy: 'always' } } }), []);
    deepEqual(findings(backends([{ mapping: { password: 'pw' } }]), 'SECRET_LITERAL'), []);
  });
  it('is recognized in an address and pointed to', () => {
    const host = 'amqp://user:pa55@broker:5672';
    const warning = finding(backends([{ host: [host], disable_host_sanitize: true }]), 'SECRET_LITERAL');
    deepEqual([warning.pointer, pointedAt(host, warning)], ['/endpoints/0/backend/0/host/0', 'pa55']);
  });
  it('is recognized in a private key in any field', () => {
    const pem = '-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----';
    equal(
      finding(service([], { tls: { keys: [{ public_key: 'a.pem', private_key: pem }] } }), 'SECRET_LITERAL').pointer,
      '/tls/keys/0/private_key',
    );
  });
  it('is not reported for certificates', () => {
    deepEqual(secret({ 'auth/x': { cert: '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----' } }), []);
  });
});

describe('concurrent calls', () => {
  it('cause a warning for a backend with a writing method', () => {
    const backend = [
      { url_pattern: '/', host: ['http://a'], method: 'GET' },
      { url_pattern: '/', host: ['http://a'], method: 'POST' },
    ];
    deepEqual(finding(service([{ concurrent_calls: 2, backend }]), 'CONCURRENT_UNSAFE').related, [
      '/endpoints/0/backend/1',
    ]);
  });
});

describe('the listening port', () => {
  const socket = { listen_ip: 'unix:/run/a.sock' };
  for (const [title, fields, message] of [
    [
      'causes a warning if the gateway listens on a Unix socket',
      { ...socket, port: 8080 },
      "'port' has no effect: listen_ip names a Unix socket",
    ],
    [
      'causes a warning with socket_mode',
      { port: 8080, socket_mode: '0600' },
      "'socket_mode' has no effect: listen_ip does not name a Unix socket",
    ],
  ] as const) {
    it(title, () => {
      const warning = finding(service([], fields), 'LISTEN_UNUSED');
      deepEqual([warning.pointer, warning.message], [`/${/\w+/.exec(message)![0]}`, message]);
    });
  }
  it('causes no warning if an address is set, or if only a Unix socket and its mode are set', () => {
    deepEqual(findings(service([], { port: 8080, listen_ip: '127.0.0.1' }), 'LISTEN_UNUSED'), []);
    deepEqual(findings(service([], { ...socket, socket_mode: '0600' }), 'LISTEN_UNUSED'), []);
  });
});
