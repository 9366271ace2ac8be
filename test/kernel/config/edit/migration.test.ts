import { deepEqual, equal } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { editDocument, normalize, parseDocument, planMigration } from '../../../../kernel/config/index.ts';

const migrate = (text: string, file: string): string => {
  const document = parseDocument(text, file);
  return editDocument(document, planMigration(document.data as DataObject).changes).text;
};

const old: DataObject = {
  version: 2,
  extra_config: { 'github_com/devopsfaith/krakend-cors': { allow_origins: ['*'] } },
  endpoints: [
    {
      endpoint: '/a',
      headers_to_pass: ['A'],
      querystring_params: ['q'],
      extra_config: { 'github.com/devopsfaith/krakend-ratelimit/juju/router': { maxRate: 1, clientMaxRate: 2 } },
      backend: [
        {
          url_pattern: '/',
          host: ['http://h'],
          whitelist: ['a'],
          extra_config: { 'github.com/devopsfaith/krakend-circuitbreaker/gobreaker': { maxErrors: 1 } },
        },
        { url_pattern: '/', host: ['http://h'], denylist: ['b'], mapping: { whitelist: 'allowlist' } },
      ],
    },
  ],
};

describe('a migration', () => {
  it('renames fields, namespaces and fields of components at every level', () => {
    deepEqual(JSON.parse(migrate(JSON.stringify(old), 'a.json')), {
      version: 3,
      extra_config: { 'security/cors': { allow_origins: ['*'] } },
      endpoints: [
        {
          endpoint: '/a',
          input_headers: ['A'],
          input_query_strings: ['q'],
          extra_config: { 'qos/ratelimit/router': { max_rate: 1, client_max_rate: 2 } },
          backend: [
            {
              url_pattern: '/',
              host: ['http://h'],
              allow: ['a'],
              extra_config: { 'qos/circuit-breaker': { max_errors: 1 } },
            },
            { url_pattern: '/', host: ['http://h'], deny: ['b'], mapping: { whitelist: 'allowlist' } },
          ],
        },
      ],
    });
  });

  it('does not change what the configuration means', () => {
    const migrated = migrate(JSON.stringify(old), 'a.json');
    deepEqual(normalize(JSON.parse(migrated)).config, normalize(old).config);
  });

  it('finds nothing to do in what it made', () => {
    const migrated = JSON.parse(migrate(JSON.stringify(old), 'a.json'));
    deepEqual(planMigration(migrated).changes, []);
  });

  it('renames old fields in version 3 too', () => {
    const text = '{"version":3,"endpoints":[{"endpoint":"/","headers_to_pass":[],"backend":[]}]}';
    equal(migrate(text, 'a.json'), text.replace('headers_to_pass', 'input_headers'));
  });

  it('keeps comments and layout of YAML', () => {
    equal(
      migrate('# shop\nversion: 2   # old\nendpoints:\n  - endpoint: /a\n    headers_to_pass: [A] # why\n', 'a.yaml'),
      '# shop\nversion: 3   # old\nendpoints:\n  - endpoint: /a\n    input_headers: [A] # why\n',
    );
  });

  it('keeps comments and layout of TOML', () => {
    const name = 'github.com/devopsfaith/krakend-ratelimit/juju/router';
    equal(
      migrate(
        `version = 2 # old\n[[endpoints]]\nendpoint = "/a"\n[endpoints.extra_config."${name}"]\nmaxRate = 1\n`,
        'a.toml',
      ),
      'version = 3 # old\n[[endpoints]]\nendpoint = "/a"\n[endpoints.extra_config."qos/ratelimit/router"]\nmax_rate = 1\n',
    );
  });

  it('renames in what YAML merges in', () => {
    const text = 'version: 2\n_base: &b { whitelist: [a] }\nendpoints:\n  - backend: [{ <<: *b }, *b]\n';
    equal(migrate(text, 'a.yaml'), text.replace('2', '3').replace('whitelist', 'allow'));
  });

  it('tells of an old field beside its present name', () => {
    const { problems } = planMigration({ version: 2, endpoints: [{ headers_to_pass: [], input_headers: [] }] });
    deepEqual(
      problems.map(({ code, pointer }) => [code, pointer]),
      [['CONFIG_CONFLICT', '/endpoints/0/headers_to_pass']],
    );
  });

  it('tells of an old namespace beside its present name', () => {
    const name = 'github.com/devopsfaith/krakend-martian';
    const { problems } = planMigration({ version: 3, extra_config: { [name]: {}, 'modifier/martian': {} } });
    deepEqual(
      problems.map(({ pointer }) => pointer),
      ['/extra_config/github.com~1devopsfaith~1krakend-martian'],
    );
  });

  it('tells of a version that is none', () => {
    deepEqual(
      planMigration({ version: 1 }).problems.map(({ code }) => code),
      ['CONFIG_VERSION'],
    );
  });

  it('notes old forms that are understood all the same', () => {
    const { notes, changes } = planMigration({ version: 3, allow_insecure_connections: true });
    deepEqual(
      notes.map(({ pointer }) => pointer),
      ['/allow_insecure_connections'],
    );
    deepEqual(changes, []);
  });
});
