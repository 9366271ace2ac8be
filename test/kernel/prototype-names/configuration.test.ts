import { doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { holding, PROTOTYPE_NAMES } from '../../support/prototype-names.ts';
import { createFolder, type Folder, sluice, sluiceIn } from '../cli/command.ts';

const endpointOf = (fields: object, ...backends: object[]) => ({
  endpoint: '/a',
  backend: (backends.length === 0 ? [{}] : backends).map((given) => ({
    host: ['http://127.0.0.1:9'],
    url_pattern: '/b',
    ...given,
  })),
  ...fields,
});

for (const name of PROTOTYPE_NAMES) {
  describe(`the name ${name}`, () => {
    let folder: Folder;
    before(() => {
      folder = createFolder();
    });
    after(() => folder.remove());
    afterEach(() => equal(Object.keys(Object.prototype).length, 0, 'something was put into Object.prototype'));

    describe('in a configuration file', () => {
      const check = async (document: object | string, extension = 'json') => {
        const file = folder.write(`gateway.${extension}`, document);
        const ended = await sluice('check', '-t', '-c', file);
        doesNotMatch(ended.err, /\n {4}at /, ended.err);
        doesNotMatch(ended.err, /internal|GATEWAY_FAULT/, ended.err);
        return ended;
      };
      const whole = (fields: object) => ({ version: 3, endpoints: [endpointOf({})], ...fields });
      const isComment = name === '__proto__';

      for (const [level, document] of [
        ['the service', (extra: object) => whole({ extra_config: extra })],
        ['an endpoint', (extra: object) => whole({ endpoints: [endpointOf({ extra_config: extra })] })],
        ['a backend', (extra: object) => whole({ endpoints: [endpointOf({}, { extra_config: extra })] })],
      ] as const) {
        it(`is reported as an unknown component of ${level}`, async () => {
          const { code, err } = await check(document(holding(name, {})));
          equal(code, isComment ? 0 : 1);
          if (!isComment) match(err, /NAMESPACE_UNKNOWN/);
        });
      }

      it('is an ordinary unknown key', async () => {
        for (const document of [
          whole(holding(name, 1)),
          whole({ endpoints: [endpointOf(holding(name, 1))] }),
          whole({ endpoints: [endpointOf({}, holding(name, 1))] }),
          whole({ extra_config: { router: holding(name, 1) } }),
          whole({ extra_config: { 'security/http': holding(name, 1) } }),
        ]) {
          const { code, err } = await check(document);
          equal(code, isComment ? 0 : 1);
          if (!isComment) match(err, /SCHEMA_UNKNOWN_KEY/);
        }
      });

      it('is an ordinary unknown key in YAML and TOML', async () => {
        for (const [text, extension] of [
          [`version: 3\nendpoints: []\n${name}: {a: 1}\nextra_config:\n  ${name}: {}\n`, 'yaml'],
          [`version = 3\nendpoints = []\n${name} = {a = 1}\n[extra_config]\n${name} = {}\n`, 'toml'],
        ] as const) {
          equal((await check(text, extension)).code, isComment ? 0 : 1);
        }
      });

      it('is not a known encoding, method, strategy, level or discovery', async () => {
        for (const document of [
          whole({ endpoints: [endpointOf({ output_encoding: name })] }),
          whole({ output_encoding: name }),
          whole({ endpoints: [endpointOf({ method: name })] }),
          whole({ endpoints: [endpointOf({}, { encoding: name })] }),
          whole({ endpoints: [endpointOf({}, { sd: name })] }),
          whole({ endpoints: [endpointOf({ extra_config: { proxy: { combiner: name } } }, {}, {})] }),
          whole({ endpoints: [endpointOf({ extra_config: { proxy: { static: { strategy: name, data: {} } } } })] }),
          whole({
            endpoints: [
              endpointOf({ extra_config: { 'qos/ratelimit/router': { client_max_rate: 1, strategy: name } } }),
            ],
          }),
          whole({ extra_config: { 'telemetry/logging': { level: name, stdout: true } } }),
          whole({ extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true, format: name } } }),
          whole({ extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true, access_log_format: name } } }),
          whole({ extra_config: { 'telemetry/logging': { level: 'INFO', syslog: true, syslog_facility: name } } }),
          whole({ client_tls: { min_version: name } }),
          whole({ client_tls: { cipher_suites: [name] } }),
          whole({ version: name }),
        ]) {
          equal((await check(document)).code, 1, JSON.stringify(document));
        }
      });

      it('is not a known variable of a log line', async () => {
        const logging = { level: 'INFO', stdout: true, format: 'custom', custom_format: `%{${name}}\n` };
        match((await check(whole({ extra_config: { 'telemetry/logging': logging } }))).err, /LOGGING_PATTERN/);
        const { access_log_custom_format, ...rest } = {
          ...logging,
          format: 'default',
          custom_format: undefined,
          access_log_format: 'custom',
          access_log_custom_format: `%{${name}}\n`,
        };
        const access = { ...rest, access_log_custom_format };
        match((await check(whole({ extra_config: { 'telemetry/logging': access } }))).err, /LOGGING_PATTERN/);
      });

      it('can be the name of a header in settings', async () => {
        for (const extra of [
          { 'security/http': { ssl_proxy_headers: holding(name, 'https'), ssl_redirect: true } },
          { 'security/http': { allowed_hosts: [name], host_proxy_headers: [name] } },
        ]) {
          const { code, err } = await check(whole({ extra_config: extra }));
          equal(code, 0, err);
        }
      });

      it('is shown, compared, explained, migrated and audited like any other name', async () => {
        const endpoint = endpointOf(
          { endpoint: `/a/{${name}}`, input_query_strings: [name], input_headers: [name] },
          { url_pattern: `/{${name}}`, group: name, mapping: holding(name, name) },
          { url_pattern: `/{resp0_${name}.inner}` },
        );
        const document = whole({ endpoints: [{ ...endpoint, extra_config: { proxy: { sequential: true } } }] });
        const file = folder.write('one.json', document);
        const other = folder.write('two.json', whole({ endpoints: [endpointOf(holding(`@${name}`, 1))] }));
        for (const command of [
          ['routes', '-c', file],
          ['explain', '-c', file, 'GET', `/a/x?${name}=1`, '-H', `${name}: 1`],
          ['diff', file, other],
          ['audit', '-c', file],
          ['migrate', '-c', file],
          ['check', '-c', file, '-ddd'],
        ]) {
          const { code, out, err } = await sluice(...command);
          ok(code !== null && code < 2, `${command[0]}: ${err}`);
          doesNotMatch(`${out}${err}`, /\n {4}at |native code|\[object/, command[0]);
        }
      });

      it('does not name a field that an environment variable overrides', async () => {
        const file = folder.write('env.json', whole({}));
        const env = { [`GATEWAY_${name.toUpperCase()}`]: '1', [name]: '1', GATEWAY_ADMIN_LISTEN: 'off' };
        equal((await sluiceIn(env, 'check', '-t', '-c', file)).code, 0);
      });
    });

    describe('on the command line', () => {
      it('is not a known command, topic or component', async () => {
        for (const command of [[name], ['help', name], [name, '--help'], ['schema', name]]) {
          const { out, err } = await sluice(...command);
          doesNotMatch(`${out}${err}`, /undefined|native code|\[object|\n {4}at /, command.join(' '));
        }
        equal((await sluice(name)).code, 2);
        equal((await sluice('schema', name)).code, 2);
      });

      it('is not a known format or flag', async () => {
        const file = folder.write('formats.json', { version: 3, endpoints: [] });
        for (const command of [
          ['check', '-c', file, '--format', name],
          ['audit', '-c', file, '--format', name],
          ['routes', '-c', file, '--format', name],
          ['explain', '-c', file, 'GET', '/', '--format', name],
          ['check', '-c', file, `--${name}`],
        ]) {
          const { code, out, err } = await sluice(...command);
          equal(code, 2, command.join(' '));
          doesNotMatch(`${out}${err}`, /native code|\[object|\n {4}at /);
        }
      });
    });
  });
}
