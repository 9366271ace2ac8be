import { deepEqual, equal } from 'node:assert/strict';
import { parseExact } from '#contract';
import { compileSchema } from '../../../kernel/config/index.ts';
import { normalize } from '../../support/known.ts';
import { backends, finding, findings, pointedAt, service } from './findings.ts';

describe('a misspelled key', () => {
  const unknown = (fields: object) => finding(service([fields]), 'SCHEMA_UNKNOWN_KEY');

  it('comes with a fix that renames it', () => {
    deepEqual(unknown({ methud: 'GET' }).fix, { key: 'method' });
    deepEqual(unknown({ 'cache-ttl': '1s' }).fix, { key: 'cache_ttl' });
  });
  it('gets no fix if the correct key exists too', () => {
    const error = unknown({ methud: 'GET', method: 'POST' });
    deepEqual([error.hint, error.fix], ['method', undefined]);
  });
  it('gets no fix if more than two letters differ', () => {
    const error = unknown({ input_query_str: [] });
    deepEqual([error.hint, error.fix], ['input_query_strings', undefined]);
  });
  it('gets no fix if two keys are equally similar', () => {
    const schema = { type: 'object', properties: { cat: { type: 'string' }, car: { type: 'string' } } } as const;
    equal(compileSchema(schema)({ cap: 'x' }, '').errors[0]!.fix, undefined);
  });
});

describe('a key that belongs to another object', () => {
  const rows: [what: string, document: object, message: string][] = [
    [
      'a field of the endpoint on a backend',
      backends([{ output_encoding: 'json' }]),
      "'output_encoding' belongs to the endpoint, not to a backend",
    ],
    [
      'a field of a backend on an endpoint',
      service([{ url_pattern: '/' }]),
      "'url_pattern' belongs to a backend, not to an endpoint",
    ],
    ['a field of the root on an endpoint', service([{ port: 80 }]), "'port' belongs to the root, not to an endpoint"],
    [
      'a field of the root on a backend',
      backends([{ write_timeout: '1s' }]),
      "'write_timeout' belongs to the root, not to a backend",
    ],
    [
      'a field of an endpoint at the root',
      service([], { input_headers: [] }),
      "'input_headers' belongs to an endpoint, not to the root",
    ],
    [
      'a field of the router at the root',
      service([], { return_error_msg: true }),
      "'return_error_msg' belongs to extra_config.router, not to the root",
    ],
    [
      'a field of the root in the router',
      service([], { extra_config: { router: { port: 1 } } }),
      "'port' belongs to the root, not to extra_config.router",
    ],
    [
      'a component outside extra_config',
      service([{ 'qos/ratelimit/router': {} }]),
      "'qos/ratelimit/router' is a component: it belongs in 'extra_config'",
    ],
  ];
  for (const [what, document, message] of rows) {
    it(`is reported with the object that it belongs to: ${what}`, () =>
      equal(finding(document, 'SCHEMA_UNKNOWN_KEY').message, message));
  }
  it('is treated as misspelled if its own object has a similar key', () => {
    const error = finding(service([{ endpoint: undefined, endpoints: '/a' }]), 'SCHEMA_UNKNOWN_KEY');
    deepEqual(error.fix, { key: 'endpoint' });
  });
});

describe('an old name in a configuration', () => {
  it('of a field comes with a fix that renames it', () => {
    deepEqual(finding(backends([{ whitelist: ['a'] }]), 'SCHEMA_UNKNOWN_KEY').fix, { key: 'allow' });
    deepEqual(finding(service([{ headers_to_pass: ['A'] }]), 'SCHEMA_UNKNOWN_KEY').fix, { key: 'input_headers' });
  });
  it('of a field gets no fix if the current name exists too', () => {
    equal(finding(backends([{ whitelist: ['a'], allow: ['b'] }]), 'SCHEMA_UNKNOWN_KEY').fix, undefined);
  });
  it('of a field of another object is reported with both names', () => {
    const message = "'whitelist' is an old name of 'allow', which belongs to a backend, not to an endpoint";
    equal(finding(service([{ whitelist: ['a'] }]), 'SCHEMA_UNKNOWN_KEY').message, message);
  });
  it('of a namespace causes a warning with the current one as a fix', () => {
    const old = 'github_com/devopsfaith/krakend-cors';
    const warning = finding(service([], { extra_config: { [old]: {} } }), 'CONFIG_OLD_NAME');
    deepEqual(
      [warning.pointer, warning.fix],
      ['/extra_config/github_com~1devopsfaith~1krakend-cors', { key: 'security/cors' }],
    );
  });
  it('of a namespace causes no warning in a file of version 2', () => {
    const document = { version: 2, extra_config: { 'github_com/devopsfaith/krakend-cors': {} } };
    deepEqual(findings(document, 'CONFIG_OLD_NAME'), []);
  });
});

describe('a value of the wrong type', () => {
  const fixOf = (fields: object, code = 'SCHEMA_TYPE') => finding(service([], fields), code).fix;

  it('comes with a fix: the number or boolean that the text represents', () => {
    deepEqual(fixOf({ port: '8080' }), { value: 8080 });
    deepEqual(fixOf({ debug_endpoint: 'true' }), { value: true });
    deepEqual(fixOf({ version: '3' }, 'CONFIG_VERSION'), { value: 3 });
  });
  it('comes with a list as a fix if the field is a list', () =>
    deepEqual(fixOf({ host: 'http://a' }), { value: ['http://a'] }));
  it('gets no fix if it could be several entries', () => equal(fixOf({ host: 'a, b' }), undefined));
  it('gets no fix if it cannot be converted', () => equal(fixOf({ debug_endpoint: 'yes' }), undefined));
  it('comes with a fix: the duration that the text represents', () => {
    for (const [text, value] of [
      ['2 s', '2s'],
      ['2S', '2s'],
      ['1,5s', '1.5s'],
      ['2 minutes', '2m'],
      ['2d', '48h'],
      ['0', '0s'],
    ]) {
      deepEqual(fixOf({ timeout: text }, 'DURATION_INVALID'), { value }, text);
    }
  });
  it('that is a number without a unit comes with a hint but no fix', () => {
    const error = finding(service([], { timeout: 30 }), 'DURATION_INVALID');
    deepEqual([error.hint, error.fix], ['with its unit: "30ms" or "30s"', undefined]);
  });
  it('is not shown in the hint if it is a secret', () => {
    const { errors } = compileSchema({ type: 'integer', secret: true })('1234', '/pin');
    deepEqual([errors[0]!.hint, errors[0]!.fix], [undefined, undefined]);
  });
  it('comes with a fix for a choice of types, too', () => {
    const schema = { anyOf: [{ type: 'boolean' }, { type: 'integer' }] } as const;
    deepEqual(compileSchema(schema)('true', '').errors[0]!.fix, { value: true });
  });
  it('is not reported for a number with many digits', () => {
    deepEqual(compileSchema({ type: 'number' })(parseExact('1.00000000000000000001'), '').errors, []);
  });
});

describe('an invalid duration', () => {
  for (const [text, segment] of [
    ['1h30', '30'],
    ['2x', '2x'],
    ['1.2.3s', '1.2.3s'],
    ['10', '10'],
    ['5m 3s', ' 3s'],
  ] as const) {
    it(`is reported at the invalid character: ${text}`, () => {
      equal(pointedAt(text, finding(service([], { timeout: text }), 'DURATION_INVALID')), segment);
    });
  }
});

describe('an invalid value of an enumeration', () => {
  it('comes with the nearest value as a fix', () => {
    deepEqual(finding(service([{ method: 'get' }]), 'SCHEMA_ENUM').fix, { value: 'GET' });
  });
  it('gets no fix if two values are equally similar', () => {
    equal(finding(service([{ method: 'POT' }]), 'SCHEMA_ENUM').fix, undefined);
  });
});

describe('a duplicate list entry', () => {
  it('is reported with its first position', () => {
    const { related } = finding(service([{ input_headers: ['A', 'B', 'A'] }]), 'SCHEMA_DUPLICATE');
    deepEqual(related, ['/endpoints/0/input_headers/0']);
  });
  it('is reported by its field name in the document', () => {
    const document = { ...service([{ headers_to_pass: ['A', 'A'] }]), version: 2 };
    const [error] = normalize(document).errors;
    deepEqual([error!.pointer, error!.related], ['/endpoints/0/headers_to_pass/1', ['/endpoints/0/headers_to_pass/0']]);
  });
});
