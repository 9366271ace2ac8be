import { deepEqual, equal } from 'node:assert/strict';
import type { NormalizeOptions } from '../../../kernel/config/index.ts';
import { normalize } from '../../support/known.ts';

const backend = { url_pattern: '/', host: ['http://h'] };
const limiter = 'github.com/devopsfaith/krakend-ratelimit/juju/router';

describe('a configuration file of version 2', () => {
  const old = (fields: object, backendFields: object = {}) =>
    normalize({ version: 2, endpoints: [{ endpoint: '/a', backend: [{ ...backend, ...backendFields }], ...fields }] });

  it('is read with its old field names', () => {
    const { config, errors } = old({ querystring_params: ['a'], headers_to_pass: ['B'] }, { whitelist: ['x'] });
    const [endpoint] = config.endpoints;
    deepEqual(errors, []);
    deepEqual(
      [endpoint!.input_query_strings, endpoint!.input_headers, endpoint!.backend[0]!.allow],
      [['a'], ['B'], ['x']],
    );
  });
  for (const [before, now] of [
    ['allowlist', 'allow'],
    ['denylist', 'deny'],
    ['blacklist', 'deny'],
  ] as const) {
    it(`has ${before} read as ${now}`, () =>
      deepEqual(old({}, { [before]: ['x'] }).config.endpoints[0]!.backend[0]![now], ['x']));
  }
  it('is read with the old field names of its components', () => {
    const { config } = old({ extra_config: { [limiter]: { maxRate: 1, clientMaxRate: 2 } } });
    deepEqual(config.endpoints[0]!.extra_config, { 'qos/ratelimit/router': { max_rate: 1, client_max_rate: 2 } });
  });
  it('keeps the settings of other components unchanged', () => {
    const { config } = old({ extra_config: { 'proxy/x': { maxRate: 1 } } });
    deepEqual(config.endpoints[0]!.extra_config, { 'proxy/x': { maxRate: 1 } });
  });
  it('is reported with the old field names in errors', () => {
    deepEqual(
      old({ headers_to_pass: ['X Y'] }).errors.map(({ pointer }) => pointer),
      ['/endpoints/0/headers_to_pass/0'],
    );
    deepEqual(
      old({ headers_to_pass: 5 }).errors.map(({ pointer }) => pointer),
      ['/endpoints/0/headers_to_pass'],
    );
  });
  it('is rejected if it contains an old and a new name of the same field', () => {
    const [error] = old({ headers_to_pass: ['A'], input_headers: ['B'] }).errors;
    deepEqual([error!.code, error!.pointer], ['CONFIG_CONFLICT', '/endpoints/0/headers_to_pass']);
  });
});

describe('an old namespace of a component', () => {
  const root = (extra_config: object) => normalize({ version: 3, extra_config });

  it('is read as its current name in version 3, too', () => {
    deepEqual(root({ 'github_com/devopsfaith/krakend-cors': { a: 1 } }).config.extra_config, {
      'security/cors': { a: 1 },
    });
    deepEqual(root({ 'github.com/devopsfaith/krakend-cors': { a: 1 } }).config.extra_config, {
      'security/cors': { a: 1 },
    });
  });
  it('of the router configures the router', () => {
    equal(root({ 'github_com/luraproject/lura/router/gin': { auto_options: true } }).config.router.auto_options, true);
  });
  it('is used in messages about its errors', () => {
    const [error] = root({ 'github_com/luraproject/lura/router/gin': { auto_options: 1 } }).errors;
    equal(error!.pointer, '/extra_config/github_com~1luraproject~1lura~1router~1gin/auto_options');
  });
  it('is used when a pointer is mapped back to the document', () => {
    const { origin } = root({ 'github_com/devopsfaith/krakend-cors': {} });
    equal(origin('/extra_config/security~1cors/a'), '/extra_config/github_com~1devopsfaith~1krakend-cors/a');
    equal(origin('/extra_config/security~1http/a'), '/extra_config/security~1http/a');
  });
  it('is ignored with a warning if its current name is also set', () => {
    const { config, warnings } = root({ 'github_com/devopsfaith/krakend-cors': { a: 1 }, 'security/cors': { a: 2 } });
    deepEqual(
      [config.extra_config, warnings.map(({ code }) => code)],
      [{ 'security/cors': { a: 2 } }, ['CONFIG_CONFLICT']],
    );
  });
});

describe('an environment variable with the name of a field', () => {
  const over = (document: object, env: NormalizeOptions['env'], options: NormalizeOptions = {}) =>
    normalize({ version: 3, ...document }, { ...options, env });

  it('replaces a field of the file', () => equal(over({ port: 8081 }, { KRAKEND_PORT: '9000' }).config.port, 9000));
  it('does not add a field that the file does not have', () =>
    equal(over({}, { KRAKEND_PORT: '9000' }).config.port, 8080));
  it('is overridden by the command-line flag', () =>
    equal(over({ port: 1 }, { KRAKEND_PORT: '2' }, { port: 3 }).config.port, 3));
  it('takes precedence with the prefix GATEWAY_', () => {
    equal(over({ name: 'a' }, { KRAKEND_NAME: 'b', GATEWAY_NAME: 'c' }).config.name, 'c');
  });
  it('that Kubernetes has set for a Service is explained in the error', () => {
    const { errors } = over({ port: 1 }, { GATEWAY_PORT: 'tcp://10.0.0.1:80' });
    equal(errors[0]!.hint?.includes('"enableServiceLinks": false'), true);
  });
  it('replaces durations and booleans', () => {
    const { config } = over(
      { timeout: '1s', debug_endpoint: false },
      { KRAKEND_TIMEOUT: '5s', KRAKEND_DEBUG_ENDPOINT: 'T' },
    );
    deepEqual([config.timeout, config.debug_endpoint], [5000, true]);
  });
  it('replaces neither lists nor objects', () => {
    deepEqual(over({ host: ['a'] }, { KRAKEND_HOST: 'b' }).config.host, ['http://a']);
  });
  for (const [variable, value, message] of [
    [
      'GATEWAY_TIMEOUT',
      '5s',
      ['environment variable GATEWAY_TIMEOUT is ignored: the file has no "timeout" to replace'],
    ],
    ['KRAKEND_HOST', 'b', ['environment variable KRAKEND_HOST is ignored: "host" is not a plain value']],
    ['GATEWAY_PORT', 'tcp://10.0.0.1:80', []],
    ['GATEWAY_TIMEOUT', '', []],
  ] as const) {
    it(`causes a warning if it is ignored, unless Kubernetes has set it: ${variable}=${value}`, () => {
      const { errors, warnings } = over({}, { [variable]: value });
      deepEqual([errors, warnings.map(({ message }) => message)], [[], message]);
    });
  }
  it('counts as unset if it is empty', () => equal(over({ port: 8081 }, { KRAKEND_PORT: '' }).config.port, 8081));
  for (const [variable, field, value] of [
    ['KRAKEND_PORT', { port: 1 }, '80a'],
    ['GATEWAY_PORT', { port: 1 }, '70000'],
    ['KRAKEND_TIMEOUT', { timeout: '1s' }, '5'],
    ['KRAKEND_DEBUG_ENDPOINT', { debug_endpoint: true }, 'yes'],
  ] as const) {
    it(`is named in the error if its value is invalid: ${variable}=${value}`, () => {
      const { errors } = over(field, { [variable]: value });
      deepEqual(
        errors.map(({ code, message }) => [code, message.includes(variable)]),
        [['CONFIG_ENVIRONMENT', true]],
      );
    });
  }
});
