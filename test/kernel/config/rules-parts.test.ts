// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, equal } from 'node:assert/strict';
import { definePlugin } from '#contract';
import { interpolate } from '../../../kernel/config/flexible/interpolation.ts';
import { known } from '../../support/known.ts';
import { backends, finding, findings, pointedAt, service } from './findings.ts';

describe('two parts of one group', () => {
  const pair = (endpoint: object = {}, second: object = {}) =>
    findings(backends([{ group: 'a' }, { group: 'a', ...second }], endpoint), 'MERGE_GROUP');

  it('are warned of at the later one', () => {
    const [warning] = pair();
    deepEqual([warning!.pointer, warning!.related], ['/endpoints/0/backend/1/group', ['/endpoints/0/backend/0/group']]);
  });
  it('are what a joining combiner is for', () => {
    deepEqual(pair({ extra_config: { proxy: { combiner: 'deep' } } }), []);
    equal(pair({ extra_config: { proxy: { combiner: 'ordered' } } }).length, 1);
  });
  it('do not conflict if one is a shadow, or has a condition', () => {
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

describe('the shape of an answer', () => {
  it('that is both allowed and denied is warned of', () => {
    const warning = finding(backends([{ allow: ['a'], deny: ['b'] }]), 'SHAPE_ALLOW_DENY');
    deepEqual([warning.pointer, warning.related], ['/endpoints/0/backend/0/deny', ['/endpoints/0/backend/0/allow']]);
  });
  it('that is never decoded is warned of, with everything without effect', () => {
    const fields = { mapping: { a: 'b' }, target: 'data' };
    const warning = finding(backends([fields], { output_encoding: 'no-op' }), 'SHAPE_UNREAD');
    deepEqual(
      [warning.pointer, warning.related],
      ['/endpoints/0/backend/0/target', ['/endpoints/0/backend/0/mapping', '/endpoints/0/output_encoding']],
    );
  });
  it('without effect because of its encoding is reported', () => {
    const warning = finding(backends([{ allow: ['a'], encoding: 'no-op' }]), 'SHAPE_UNREAD');
    deepEqual(warning.related, ['/endpoints/0/backend/0/encoding']);
  });
  it('of a message is looked at', () => {
    deepEqual(findings(backends([{ allow: ['a'] }], { output_encoding: 'ndjson' }), 'SHAPE_UNREAD'), []);
  });
  it('that is empty says nothing', () => {
    const fields = { allow: [], mapping: {}, target: '', is_collection: false };
    deepEqual(findings(backends([fields], { output_encoding: 'no-op' }), 'SHAPE_UNREAD'), []);
  });
});

describe('a name in the wrong list', () => {
  for (const name of ['Authorization', 'content-type', 'X-Forwarded-For']) {
    it(`is a header among query parameters: ${name}`, () => {
      const warning = finding(service([{ input_query_strings: ['page', name] }]), 'FORWARD_HEADER_AS_QUERY');
      equal(warning.pointer, '/endpoints/0/input_query_strings/1');
    });
  }
  it('is not suspected where it could be a parameter', () => {
    const names = ['accept', 'host', 'x-api-key', 'origin'];
    deepEqual(findings(service([{ input_query_strings: names }]), 'FORWARD_HEADER_AS_QUERY'), []);
  });
  it('is a header listed twice in other letters', () => {
    const warning = finding(service([{ input_headers: ['X-Id', 'x-id'] }]), 'FORWARD_TWICE');
    deepEqual([warning.pointer, warning.related], ['/endpoints/0/input_headers/1', ['/endpoints/0/input_headers/0']]);
  });
});

describe('a name only a backend lists', () => {
  const never = (backend: object, endpoint: object = {}) => findings(backends([backend], endpoint), 'FORWARD_NEVER');

  it('is warned of', () => {
    const [warning] = never({ input_headers: ['X-Id'] }, { input_headers: ['X-Other'] });
    deepEqual(
      [warning!.pointer, warning!.related],
      ['/endpoints/0/backend/0/input_headers/0', ['/endpoints/0/input_headers']],
    );
    equal(never({ input_query_strings: ['page'] }).length, 1);
  });
  it('gets there when the endpoint lets it through', () => {
    deepEqual(never({ input_headers: ['x-id'] }, { input_headers: ['X-Id'] }), []);
    deepEqual(never({ input_headers: ['X-Id'] }, { input_headers: ['*'] }), []);
  });
  it('gets there when the gateway sends it', () =>
    deepEqual(never({ input_headers: ['User-Agent', 'X-Forwarded-For'] }), []));
  it('may come from a component', () => {
    deepEqual(never({ input_headers: ['X-Id'], extra_config: { 'modifier/martian': {} } }), []);
  });
  it('cannot come from a limiter', () => {
    equal(never({ input_headers: ['X-Id'] }, { extra_config: { 'qos/ratelimit/router': {} } }).length, 1);
  });
  it('is nothing where the list drops all', () => deepEqual(never({ input_headers: [''] }), []));
});

describe('a secret in the file', () => {
  const secret = (component: object) => findings(service([{ extra_config: component }]), 'SECRET_LITERAL');

  it('is warned of, and not shown', () => {
    const [warning] = secret({ 'auth/x': { client_secret: 'hunter2' } });
    equal(warning!.pointer, '/endpoints/0/extra_config/auth~1x/client_secret');
    equal(JSON.stringify(warning).includes('hunter2') || warning!.message.includes('hunter2'), false);
  });
  it('is known by its field', () => {
    for (const field of ['password', 'db_password', 'token', 'api_key', 'aws_secret_access_key']) {
      equal(secret({ 'auth/x': { list: [{ [field]: 'v' }] } }).length, 1, field);
    }
  });
  it('does not include fields that refer to something else', () => {
    for (const field of ['token_keys', 'private_key', 'jwk_url', 'secret_url', 'cache_key']) {
      deepEqual(secret({ 'auth/x': { [field]: 'v' } }), [], field);
    }
  });
  it('does not include references', () => {
    for (const value of ['', '$PASSWORD', '{{ env "X" }}', 'env:PASSWORD']) {
      deepEqual(secret({ 'auth/x': { password: value } }), [], value);
    }
  });
  it('does not include variables and paths of files', () => {
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
  it('does not include maps whose keys are data', () => {
    deepEqual(secret({ proxy: { static: { data: { token: 'v' }, strategy: 'always' } } }), []);
    deepEqual(findings(backends([{ mapping: { password: 'pw' } }]), 'SECRET_LITERAL'), []);
  });
  it('in an address is pointed at', () => {
    const host = 'amqp://user:pa55@broker:5672';
    const warning = finding(backends([{ host: [host], disable_host_sanitize: true }]), 'SECRET_LITERAL');
    deepEqual([warning.pointer, pointedAt(host, warning)], ['/endpoints/0/backend/0/host/0', 'pa55']);
  });
  it('is a private key anywhere', () => {
    const pem = '-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----';
    equal(
      finding(service([], { tls: { keys: [{ public_key: 'a.pem', private_key: pem }] } }), 'SECRET_LITERAL').pointer,
      '/tls/keys/0/private_key',
    );
  });
  it('does not include certificates', () => {
    deepEqual(secret({ 'auth/x': { cert: '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----' } }), []);
  });
});

describe('calls that are repeated', () => {
  it('are reported with the backend that they change', () => {
    const backend = [
      { url_pattern: '/', host: ['http://a'], method: 'GET' },
      { url_pattern: '/', host: ['http://a'], method: 'POST' },
    ];
    deepEqual(finding(service([{ concurrent_calls: 2, backend }]), 'CONCURRENT_UNSAFE').related, [
      '/endpoints/0/backend/1',
    ]);
  });
});
