import { deepEqual, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

const REWRITE = 'plugin/http-server';
const MODIFIER = 'plugin/req-resp-modifier';
const filter = { CIDR: ['10.0.0.0/8'], allow: false };
const replacer = { a: { find: 'x', replace: 'y' } };

describe('migrate to version 4', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  const configOf = (endpoint: object, backend: object = {}, service: object = {}) => ({
    version: 3,
    extra_config: service,
    endpoints: [
      {
        endpoint: '/a',
        extra_config: endpoint,
        backend: [{ url_pattern: '/', host: ['http://b.test'], extra_config: backend }],
      },
    ],
  });
  const migrated = async (config: object) => {
    const file = folder.write('given.json', config);
    const result = await sluice('migrate', file, '--to', '4', '-o', folder.path('result.json'));
    return { ...result, config: JSON.parse(folder.read('result.json')) };
  };
  /** Differences in meaning between a file and its migration. */
  const differences = async (given: string, result: string) => {
    const { out } = await sluice('diff', folder.path(given), folder.path(result));
    return out.replace(/ {2}\S+\n$/, '');
  };
  const versionOnly = '~ service\n    version: 3 → 4';

  it('lists plugins with their settings, without a change of meaning', async () => {
    const { code, config, err } = await migrated(
      configOf(
        { [MODIFIER]: { name: ['ip-filter'], 'ip-filter': filter } },
        { [MODIFIER]: { '@comment': 'cards', name: ['content-replacer'], 'content-replacer': replacer } },
        { [REWRITE]: { name: ['url-rewrite', 'ip-filter'], 'ip-filter': filter, 'url-rewrite': { literal: {} } } },
      ),
    );
    equal(code, 0);
    deepEqual(config.extra_config[REWRITE], {
      plugins: [
        { name: 'url-rewrite', config: { literal: {} } },
        { name: 'ip-filter', config: filter },
      ],
    });
    const [{ extra_config: own, backend }] = config.endpoints;
    deepEqual(own[MODIFIER], { plugins: [{ name: 'ip-filter', config: filter }] });
    deepEqual(backend[0].extra_config[MODIFIER], {
      '@comment': 'cards',
      plugins: [{ name: 'content-replacer', config: replacer }],
    });
    match(err, /given\.json:4:27: 'plugin\/http-server' is now \{"plugins":\[\{"name":"url-rewrite","config"/);
    equal(await differences('given.json', 'result.json'), versionOnly);
    const again = await sluice('migrate', folder.path('result.json'));
    deepEqual([again.code, again.err], [0, `${folder.path('result.json')}: nothing to migrate\n`]);
  });

  it('renames built-in plugins first', async () => {
    const service = { [REWRITE]: { name: 'krakend-ipfilter', 'krakend-ipfilter': filter } };
    const { config } = await migrated(configOf({}, {}, service));
    deepEqual(config.extra_config[REWRITE], { plugins: [{ name: 'ip-filter', config: filter }] });
  });

  it('converts plugins in workflows, too', async () => {
    const pipe = { [MODIFIER]: { name: ['ip-filter'], 'ip-filter': filter } };
    const workflow = { endpoint: '/w', extra_config: pipe, backend: [{ url_pattern: '/', host: ['http://b.test'] }] };
    const { config } = await migrated(configOf({}, { workflow }));
    const [{ extra_config: inner }] = config.endpoints[0].backend;
    deepEqual(inner.workflow.extra_config[MODIFIER].plugins, [{ name: 'ip-filter', config: filter }]);
  });

  for (const [what, component, why] of [
    ['names repeated', { name: ['a', 'a'] }, '"a" is named twice'],
    ['none', { name: [] }, 'a list needs at least one plugin'],
    ['keys of no plugin', { name: ['a'], b: { c: 1 } }, 'the field "b" does not belong to a listed plugin'],
    ['settings other than objects', { name: ['a'], a: true }, 'the settings of "a" are not an object'],
  ] as const) {
    it(`leaves components with ${what} unchanged, and reports the reason`, async () => {
      const file = folder.write('left.json', configOf({ [MODIFIER]: component }));
      const { out, err } = await sluice('migrate', file, '--to', '4');
      deepEqual(JSON.parse(out).endpoints[0].extra_config[MODIFIER], component);
      match(
        err,
        new RegExp(`left\\.json:\\d+:\\d+: left unchanged: '${MODIFIER}' keeps the form of version 3, .*: ${why}`),
      );
    });
  }

  it('keeps the layout and comments of YAML around the list', async () => {
    const file = folder.write(
      'given.yaml',
      `version: 3 # shop
extra_config:
  plugin/http-server: # first
    name: [ip-filter]
    ip-filter: { CIDR: [10.0.0.0/8], allow: false }
endpoints: [] # none yet
`,
    );
    const { code } = await sluice('migrate', file, '--to', '4', '-o', folder.path('result.yaml'));
    equal(code, 0);
    equal(
      folder.read('result.yaml'),
      `version: 4 # shop
extra_config:
  plugin/http-server: # first
    plugins: [{"name": "ip-filter", "config": {"CIDR": ["10.0.0.0/8"], "allow": false}}]
endpoints: [] # none yet
`,
    );
    equal(await differences('given.yaml', 'result.yaml'), versionOnly);
  });

  it('leaves settings under TOML headers unchanged, and converts the others', async () => {
    const file = folder.write(
      'given.toml',
      `version = 3
[extra_config."plugin/http-server"]
name = ["ip-filter"]
[extra_config."plugin/http-server".ip-filter]
CIDR = ["10.0.0.0/8"]
allow = false
[[endpoints]]
endpoint = "/a"
[endpoints.extra_config]
"plugin/req-resp-modifier" = {name = ["ip-filter"], ip-filter = {CIDR = ["10.1.0.0/16"]}}
[[endpoints.backend]]
url_pattern = "/"
host = ["http://b.test"]
`,
    );
    const { code, out, err } = await sluice('migrate', file, '--to', '4');
    equal(code, 0);
    match(out, /^name = \["ip-filter"\]$/m);
    match(out, /^"plugin\/req-resp-modifier" = \{plugins = \[\{name = "ip-filter", config = /m);
    match(
      err,
      /given\.toml:2:\d+: left unchanged: 'plugin\/http-server' keeps .*: its settings are not written in one place/,
    );
  });
});
