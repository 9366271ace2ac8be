import { deepEqual, equal } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { editDocument, parseDocument, planMigration } from '../../../../kernel/config/index.ts';
import { known, normalize } from '../../../support/known.ts';

const migrate = (text: string, file: string): string => {
  const document = parseDocument(text, file);
  return editDocument(document, planMigration(document.data as DataObject, known).changes).text;
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

describe('a migrated configuration', () => {
  it('has current names of fields, namespaces and fields of components at every level', () => {
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

  it('means the same as before', () => {
    const migrated = migrate(JSON.stringify(old), 'a.json');
    deepEqual(normalize(JSON.parse(migrated)).config, normalize(old).config);
  });

  it('needs no further migration', () => {
    const migrated = JSON.parse(migrate(JSON.stringify(old), 'a.json'));
    deepEqual(planMigration(migrated, known).changes, []);
  });

  it('has current field names in version 3, too', () => {
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

  it('has current names in parts that YAML merges in', () => {
    const text = 'version: 2\n_base: &b { whitelist: [a] }\nendpoints:\n  - backend: [{ <<: *b }, *b]\n';
    equal(migrate(text, 'a.yaml'), text.replace('2', '3').replace('whitelist', 'allow'));
  });

  it('comes with a report about an old field whose current name is also set', () => {
    const { problems } = planMigration({ version: 2, endpoints: [{ headers_to_pass: [], input_headers: [] }] }, known);
    deepEqual(
      problems.map(({ code, pointer }) => [code, pointer]),
      [['CONFIG_CONFLICT', '/endpoints/0/headers_to_pass']],
    );
  });

  it('comments out an old namespace if its current name, which takes precedence, is also set', () => {
    const name = 'github.com/devopsfaith/krakend-martian';
    const text = JSON.stringify({ version: 2, extra_config: { [name]: {}, 'modifier/martian': {} } });
    equal(migrate(text, 'a.json'), text.replace('2', '3').replace(name, `@${name}`));
  });

  it('comments out an old field, which version 3 rejects, if its current name is also set', () => {
    const text = '{"version":3,"endpoints":[{"headers_to_pass":["A"],"input_headers":[],"@headers_to_pass":1}]}';
    equal(migrate(text, 'a.json'), text.replace('"headers_to_pass"', '"@@headers_to_pass"'));
  });

  it('cannot be made from an invalid version', () => {
    deepEqual(
      planMigration({ version: 1 }, known).problems.map(({ code }) => code),
      ['CONFIG_VERSION'],
    );
  });

  describe('with old settings', () => {
    it('moves the certificate in public_key and private_key into the list "keys"', () => {
      const text = '{"version":3,"tls":{"public_key":"a.pem","private_key":"a.key"}}';
      equal(
        migrate(text, 'a.json'),
        '{"version":3,"tls":{"keys":[{"public_key": "a.pem", "private_key": "a.key"}],"@private_key":"a.key"}}',
      );
    });
    it('has the moved certificate after the existing entries of the list "keys"', () => {
      const keys = [{ public_key: 'a.pem', private_key: 'a.key' }];
      const tls = { keys, public_key: 'b.pem', private_key: 'b.key' };
      deepEqual(JSON.parse(migrate(JSON.stringify({ version: 3, tls }), 'a.json')).tls, {
        keys: [...keys, { public_key: 'b.pem', private_key: 'b.key' }],
        '@public_key': 'b.pem',
        '@private_key': 'b.key',
      });
    });
    it('has certificate settings of backends moved to client_tls', () => {
      const text = '{"version":3,"allow_insecure_connections":true}';
      equal(migrate(text, 'a.json'), '{"version":3,"client_tls":{"allow_insecure_connections": true}}');
    });
    it('has certificate settings of backends moved into an existing client_tls', () => {
      const data = { version: 3, allow_insecure_connections: true, client_tls: { min_version: 'TLS12' } };
      deepEqual(JSON.parse(migrate(JSON.stringify(data), 'a.json')), {
        version: 3,
        '@allow_insecure_connections': true,
        client_tls: { allow_insecure_connections: true, min_version: 'TLS12' },
      });
    });
    it('has use_h2c of the router moved to the root', () => {
      const name = 'github_com/luraproject/lura/router/gin';
      const data = { version: 3, extra_config: { [name]: { use_h2c: true } } };
      deepEqual(JSON.parse(migrate(JSON.stringify(data), 'a.json')), {
        version: 3,
        use_h2c: true,
        extra_config: { router: { '@use_h2c': true } },
      });
    });
    it('has the same changes in YAML and TOML', () => {
      equal(
        migrate(
          'version: 3 # now\ntls: # one\n  public_key: a.pem # pair\n  private_key: a.key\nextra_config: {router: {use_h2c: true}}\n',
          'a.yaml',
        ),
        'use_h2c: true\nversion: 3 # now\ntls: # one\n  keys: [{"public_key": "a.pem", "private_key": "a.key"}] # pair\n  "@private_key": a.key\nextra_config: {router: {"@use_h2c": true}}\n',
      );
      equal(
        migrate(
          'version = 3\nallow_insecure_connections = true\n[client_tls]\n# old\nmin_version = "TLS12"\n',
          'a.toml',
        ),
        'version = 3\n"@allow_insecure_connections" = true\n[client_tls]\n# old\nallow_insecure_connections = true\nmin_version = "TLS12"\n',
      );
    });
    it('causes no warnings', () => {
      const text = JSON.stringify({
        version: 3,
        allow_insecure_connections: true,
        tls: { disabled: true, public_key: 'a.pem', private_key: 'a.key' },
        extra_config: { router: { use_h2c: true } },
      });
      deepEqual(normalize(JSON.parse(migrate(text, 'a.json'))).warnings, []);
    });
    it('keeps old settings that have no effect', () => {
      const data = {
        version: 3,
        allow_insecure_connections: false,
        tls: null,
        extra_config: { router: { use_h2c: false } },
      };
      deepEqual(planMigration(data, known).changes, []);
    });
  });
});
