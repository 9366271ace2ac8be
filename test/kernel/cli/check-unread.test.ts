import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { atBackend, atEndpoint, type Data, definePlugin } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';
import { createFolder, type Folder, sluice } from './command.ts';

const endpoint = (fields: object = {}) => ({
  endpoint: '/a',
  backend: [{ url_pattern: '/', host: ['http://b.test'] }],
  ...fields,
});
const service = (fields: object = {}): Data => ({ version: 3, endpoints: [endpoint()], ...fields });
const onEndpoint = (extra: object) => service({ endpoints: [endpoint({ extra_config: extra })] });

const keys = [{ public_key: 'shop.pem', private_key: 'shop.key' }];

describe('check without -t', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  const check = (content: unknown, ...flags: string[]) =>
    sluice('check', ...flags, '-c', folder.write('g.json', content));

  const hostless = { endpoints: [endpoint({ backend: [{ url_pattern: '/' }] })] };
  const results: readonly (readonly [title: string, content: unknown, code: string])[] = [
    ['a backend without a host', service(hostless), 'BACKEND_HOST'],
    [
      'a backend without a host whose TLS files are not read',
      service({ ...hostless, client_tls: { ca_certs: ['ca.pem'] } }),
      'BACKEND_HOST',
    ],
    ['an unknown log level', service({ extra_config: { 'telemetry/logging': { level: 'LOUD' } } }), 'LOGGING_LEVEL'],
    [
      'a rate limit per client without a strategy',
      onEndpoint({ 'qos/ratelimit/router': { client_max_rate: 1 } }),
      'RATELIMIT_STRATEGY',
    ],
    [
      'a period that is too short',
      onEndpoint({ 'qos/ratelimit/router': { max_rate: 1, every: '500ms' } }),
      'RATELIMIT_EVERY',
    ],
    ['an invalid JSON schema', onEndpoint({ 'validation/json-schema': { type: 'objct' } }), 'JSON_SCHEMA_INVALID'],
    [
      'an invalid DNS name',
      service({ endpoints: [endpoint({ backend: [{ url_pattern: '/', sd: 'dns', host: ['http://b:80'] }] })] }),
      'SD_RECORD',
    ],
  ];
  for (const [title, content, code] of results) {
    it(`reports ${title}`, async () => {
      const ended = await check(content);
      equal(ended.code, 1);
      match(ended.err, new RegExp(`\\[${code}\\]`));
    });
  }

  it('prints Syntax OK! if the configuration names no files', async () => {
    match((await check(service())).out, /\nSyntax OK!\n$/);
  });
  it('lists the files that it did not read in its last line', async () => {
    const { code, out } = await check(service({ tls: { keys } }));
    equal(code, 0);
    match(out, /\nSyntax OK! Not checked: shop\.pem, shop\.key \(check -t reads them\)\.\n$/);
  });
  it('prints the number of unread files if they are too many to list', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `${index}.pem`);
    const { out } = await check(service({ client_tls: { ca_certs: names } }));
    match(out, /Not checked: 0\.pem \(check/);
    const tls = { keys: names.slice(0, 4).map((name) => ({ public_key: name, private_key: `k${name}` })) };
    match((await check(service({ tls }))).out, /Not checked: 0\.pem, k0\.pem, 1\.pem, k1\.pem, 2\.pem and 3 more \(/);
  });
  it('does not report missing files, unlike check -t', async () => {
    const { code, err } = await check(service({ tls: { keys } }), '-t');
    equal(code, 1);
    match(err, /\[TLS_FILE\]/);
  });
});

/** A component that reads a file without an error message of its own. */
const reader = definePlugin({
  name: 'test/reader',
  description: 'Reads a file.',
  places: [
    atEndpoint({ type: 'object', properties: { file: { type: 'string', default: 'rules.txt' } } }, (site) => {
      site.read(site.config.file);
      return {};
    }),
  ],
});

const remote = definePlugin({
  name: 'test/remote',
  description: 'Reaches a backend with a key of its own.',
  places: [
    atBackend({ type: 'object', properties: {} }, (site) => {
      site.read('remote.key');
      throw site.fault('NEVER', '', 'is not told');
    }),
  ],
});

describe('a check that reads no files', () => {
  const registry = new Registry(
    {
      ...catalogue,
      plugins: {
        ...catalogue.plugins,
        'test/reader': async () => ({ plugin: reader }),
        'test/remote': async () => ({ plugin: remote }),
      },
    },
    toolServices(),
  );
  after(() => registry.close());

  it('lists the files that the configuration names', async () => {
    const { errors, files, unread } = await examine(onEndpoint({ 'test/reader': {} }), {}, registry, false);
    deepEqual(errors, []);
    deepEqual(files, []);
    deepEqual(unread, ['rules.txt']);
  });
  it('still reports other errors of the endpoint', async () => {
    const broken = service({
      endpoints: [endpoint({ output_encoding: 'jsn', extra_config: { 'test/reader': {} } })],
    });
    const { errors } = await examine(broken, {}, registry, false);
    deepEqual(
      errors.map(({ code }) => code),
      ['ENCODING_UNKNOWN'],
    );
  });
  it('does not report a missing host if a component could provide it by a file', async () => {
    const backend = [{ url_pattern: '/', extra_config: { 'test/remote': {} } }];
    const { errors } = await examine(service({ endpoints: [endpoint({ backend })] }), {}, registry, false);
    deepEqual(errors, []);
  });
  it('does not report a file that cannot be read', async () => {
    const { errors } = await examine(onEndpoint({ 'test/reader': { file: '/nowhere/rules.txt' } }), {}, registry, true);
    deepEqual(
      errors.map(({ code, pointer, message }) => [code, pointer, message]),
      [
        [
          'FILE_UNREADABLE',
          '/endpoints/0/extra_config/test~1reader/file',
          'cannot read /nowhere/rules.txt: no such file',
        ],
      ],
    );
  });
  it('reports an error of a component at the root once, not again at each endpoint that depends on it', async () => {
    const protectedBy = (fields: object) =>
      service({
        endpoints: [endpoint({ extra_config: { 'auth/basic': {} } })],
        extra_config: { 'auth/basic': fields },
      });
    const codesOf = async (data: Data) => (await examine(data, {}, registry, true)).errors.map(({ code }) => code);
    deepEqual(await codesOf(protectedBy({ htpasswd_path: '/nowhere/users' })), ['BASIC_FILE']);
    deepEqual(await codesOf(protectedBy({ htpasswd_path: 5 })), ['SCHEMA_TYPE']);
    deepEqual(await codesOf(protectedBy({})), ['BASIC_NO_USERS']);
  });
  it('lists unread files, unlike a check that reads the files', async () => {
    const { errors, unread } = await examine(
      onEndpoint({ 'test/reader': { file: import.meta.filename } }),
      {},
      registry,
      true,
    );
    deepEqual(errors, []);
    deepEqual(unread, []);
    ok(registry.plugin('test/reader'));
  });
});
