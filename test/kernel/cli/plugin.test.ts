import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { compiler } from '../../../scripts/build/compiler.ts';
import { openGateway } from '../../support/gateway.ts';
import { headerSource, PluginFolder } from '../../support/plugin-folder.ts';
import { sluice, sluiceProcess } from './command.ts';
import { MODULE_KINDS } from './module-kinds.ts';

const KINDS = ['endpoint', 'backend', 'service', 'encoding', 'protocol', 'discovery', 'agent'];

/** Kinds of modules that can be isolated, of those that the tests write. */
const ISOLATED = ['module', 'http-client'];

describe('sluice plugin', () => {
  let folder: PluginFolder;
  let at: string;

  beforeEach(() => {
    folder = new PluginFolder();
    at = join(folder.path, 'plugins');
  });
  afterEach(() => folder.remove());

  /** The bundled command, whose tests and threads start in a third of the time. */
  const bundled = (...args: string[]) => sluiceProcess({}, ...args);
  const make = (kind: string, name = `acme/my-${kind}`) =>
    sluice('plugin', 'new', name, '--kind', kind, '--folder', at);

  describe('new', () => {
    let compilerOutput: string;

    /** Everything is compiled together, because the compiler reads the whole gateway for it. */
    before(async function () {
      this.timeout(120_000);
      const all = new PluginFolder();
      const at = join(all.path, 'plugins');
      const write = (kind: string, name: string, ...more: string[]) =>
        sluice('plugin', 'new', `acme/${name}`, '--kind', kind, '--folder', at, ...more);
      for (const kind of [...KINDS, ...MODULE_KINDS]) await write(kind, `my-${kind}`);
      for (const kind of ISOLATED) await write(kind, `isolated-${kind}`, '--isolate');
      await write('endpoint', 'header');
      const file = join(at, 'header.ts');
      writeFileSync(file, readFileSync(file, 'utf8').replace('config.value', 'config.valeu'));
      symlinkSync(resolve('node_modules'), join(all.path, 'node_modules'));
      const { stdout } = spawnSync(process.execPath, [compiler, '--checkers', '1', '--project', at]);
      compilerOutput = stdout.toString();
      all.remove();
    });

    /** Errors of the compiler in the files of these names. */
    const errorsOf = (names: RegExp) => compilerOutput.split('\n').filter((line) => names.test(line));

    it('writes a plugin of each kind and its test, which pass, compile and can be loaded', async () => {
      for (const kind of KINDS) {
        const { code, out } = await make(kind);
        equal(code, 0);
        match(out, new RegExp(`my-${kind}\\.ts\n[^]*my-${kind}\\.test\\.ts\n[^]*Use it: `));
      }
      const tested = await bundled('plugin', 'test', at);
      equal(tested.code, 0, tested.out + tested.err);
      match(tested.out, /pass 8\b/);
      const checked = await bundled('plugin', 'check', at);
      deepEqual([checked.code, checked.err.replace(/^WARNING types of .*\n/, '')], [0, '']);
      equal(checked.out.match(/^OK /gm)!.length, KINDS.length);
      deepEqual(errorsOf(/my-/), []);
    }).timeout(120_000);

    it('writes a module of each kind, isolated ones too, which pass their tests and can be loaded', async () => {
      for (const kind of MODULE_KINDS) equal((await make(kind)).code, 0);
      for (const kind of ISOLATED) {
        const name = `acme/isolated-${kind}`;
        equal((await sluice('plugin', 'new', name, '--kind', kind, '--isolate', '--folder', at)).code, 0);
      }
      const tested = await bundled('plugin', 'test', at);
      equal(tested.code, 0, tested.out + tested.err);
      match(tested.out, /pass 7\b/);
      const checked = await bundled('plugin', 'check', at);
      deepEqual([checked.code, checked.err.replace(/^WARNING types of .*\n/, '')], [0, '']);
      equal(checked.out.match(/^OK acme\/(?:my|isolated)-/gm)!.length, 7);
      deepEqual(errorsOf(/(my|isolated)-/), []);
    }).timeout(240_000);

    it('rejects --isolate for HTTP servers and plugins of another form', async () => {
      for (const kind of ['http-server', 'endpoint']) {
        const { code, err } = await sluice('plugin', 'new', 'acme/a', '--kind', kind, '--isolate', '--folder', at);
        equal(code, 2);
        match(err, new RegExp(`--isolate cannot be combined with --kind ${kind}; use one of module, middleware, `));
      }
      ok(!existsSync(at));
    });

    it('writes plugins that serve together in one configuration', async () => {
      for (const kind of KINDS) await make(kind);
      const gateway = await openGateway(
        {
          version: 3,
          plugin: { folder: `${at}/` },
          extra_config: { 'acme/my-service': { value: 'served' } },
          async_agent: [
            {
              name: 'ticker',
              consumer: { topic: 't' },
              backend: [{ url_pattern: '/', extra_config: { 'acme/my-protocol': {} } }],
              extra_config: { 'acme/my-agent': { every: '1h' } },
            },
          ],
          endpoints: [
            {
              endpoint: '/a',
              output_encoding: 'my-encoding',
              extra_config: { 'acme/my-endpoint': { value: 'ends' } },
              backend: [
                {
                  url_pattern: '/asked',
                  host: ['http://users'],
                  sd: 'my-discovery',
                  extra_config: { 'acme/my-protocol': {}, 'acme/my-backend': { value: 'x' } },
                },
              ],
            },
          ],
        },
        { port: 0, sinks: silentSinks },
      );
      const { body, headers } = await gateway.inject('/a');
      equal(body, 'target=/asked\n');
      deepEqual([headers['x-acme-my-endpoint'], headers['x-acme-my-service']], ['ends', 'served']);
      await gateway.close();
    });

    it('writes typed plugins even without an installed package, so that a wrong key does not compile', async () => {
      const [error, ...others] = compilerOutput.trim().split('\n');
      match(
        error ?? '',
        /header\.ts\(\d+,\d+\): error TS2551: Property 'valeu' does not exist on type .* Did you mean 'value'\?/,
      );
      deepEqual(others, []);
      await make('endpoint', 'acme/header');
      ok(existsSync(join(at, 'header.test.ts')));
    });

    it('does not overwrite existing files', async () => {
      await make('endpoint', 'acme/header');
      writeFileSync(join(at, 'tsconfig.json'), '{}');
      const again = await make('backend', 'other/header');
      deepEqual([again.code, again.err], [1, `ERROR ${at}/header.ts already exists\n`]);
      await make('backend', 'acme/other');
      equal(readFileSync(join(at, 'tsconfig.json'), 'utf8'), '{}');
    });

    it('rejects invalid namespaces and unknown kinds', async () => {
      match((await sluice('plugin', 'new', '../x', '--folder', at)).err, /^not a namespace: \.\.\/x/);
      match((await make('endpont')).err, /endpont.*endpoint/);
      deepEqual((await sluice('plugin', 'new')).code, 2);
      ok(!existsSync(at));
    });
  });

  describe('check', () => {
    it("accepts modules with handlers for KrakenD's extension points, and lists the handlers", async () => {
      const file = folder.write(
        'plugins/team.js',
        `export const plugin = [{ name: 'a', apiVersion: 1, middleware: () => () => null }, { name: 'b', apiVersion: 1, httpServer: () => () => null }];`,
      );
      const { code, out, err } = await sluice('plugin', 'check', at);
      deepEqual([code, out, err], [0, `OK a ${file}\nOK b ${file}\n`, '']);
      const listed = await sluice('plugin', 'list', '--plugins', at, '--format', 'json');
      deepEqual(
        JSON.parse(listed.out).plugins.map(({ name, kinds }: { name: string; kinds: string[] }) => [name, kinds]),
        [
          ['a', ['handler']],
          ['b', ['handler']],
        ],
      );
    });
  });

  it('checks isolated modules in threads, and ends the threads', async () => {
    const module = (body: string) => `export const plugin = { name: 'team', apiVersion: 1, isolate: true, ${body} };`;
    folder.write('plugins/team.js', module('middleware: () => () => null'));
    const checked = await sluice('plugin', 'check', at);
    deepEqual([checked.code, checked.out], [0, `OK team ${join(at, 'team.js')}\n`]);
    folder.write('plugins/team.js', module('middleware: () => () => null, httpServer: () => null'));
    const refused = await sluice('plugin', 'check', at);
    equal(refused.code, 1);
    match(refused.err, /"httpServer" cannot be isolated: .* \[PLUGIN_MODULE\]/);
    folder.write('plugins/team.js', "\nthrow new Error('no luck'); // isolate");
    match((await sluice('plugin', 'check', at)).err, /team\.js:2:7: no luck \[PLUGIN_LOAD\]/);
    folder.write('plugins/team.js', module("configSchema: { required: ['a'] }, middleware: () => () => null"));
    const endpoint = {
      endpoint: '/a',
      extra_config: { 'plugin/middleware': { name: ['team'] } },
      backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
    };
    const document = { version: 3, plugin: { folder: `${at}/` }, endpoints: [endpoint] };
    const invalid = await sluice('check', '-c', folder.write('gateway.json', JSON.stringify(document)));
    equal(invalid.code, 1);
    match(invalid.out + invalid.err, /PLUGIN_SETTINGS/);
  }).timeout(120_000);

  describe('test', () => {
    it('does not warn about a folder without a package.json', async () => {
      folder.write('plugins/a.test.ts', `import { test } from 'node:test';\ntest('passes', () => {});\nexport {};`);
      const { code, out, err } = await sluice('plugin', 'test', at);
      deepEqual([code, /TYPELESS/.test(out + err)], [0, false]);
    });

    it('fails if a test fails, and without any tests', async () => {
      const file = folder.write(
        'plugins/a.test.ts',
        `import { test } from 'node:test';\ntest('no', () => { throw new Error('no'); });`,
      );
      equal((await sluice('plugin', 'test', file)).code, 1);
      folder.delete('plugins/a.test.ts');
      const none = await sluice('plugin', 'test', at);
      deepEqual([none.code, none.err], [1, 'ERROR no tests found: no file is named *.test.ts, .mts, .js or .mjs\n']);
    }).timeout(120_000);
  });

  describe('check', () => {
    it('reports file, line and column of errors, and resources that an example leaves open', async () => {
      const broken = folder.write('plugins/broken.ts', 'const a = ;');
      const leaky = folder.write(
        'plugins/leaky.ts',
        headerSource('a').replace("type: 'object', ", "type: 'object', examples: [{}, { suffix: 7 }], "),
      );
      const { code, err } = await sluice('plugin', 'check', at);
      equal(code, 1);
      match(err, new RegExp(`^ERROR ${broken}:1:11: SyntaxError: Unexpected token \\[PLUGIN_LOAD\\]$`, 'm'));
      match(
        err,
        new RegExp(`^ERROR ${leaky}: acme/header: example 1 of its schema at endpoint level: .*\\[SCHEMA_TYPE\\]`, 'm'),
      );
    });

    it('reports type errors, which loading does not, if a compiler is installed', async () => {
      const file = folder.write('plugins/wrong.ts', `${headerSource('a')}export const count: number = 'one';\n`);
      folder.write(
        'plugins/tsconfig.json',
        JSON.stringify({ compilerOptions: { strict: true, noResolve: true, types: [] }, include: ['*.ts'] }),
      );
      const without = await sluice('plugin', 'check', at);
      equal(without.code, 0);
      match(without.err, /^WARNING types of .* were not checked: no TypeScript .*npm install --save-dev typescript/);
      symlinkSync(resolve('node_modules'), join(folder.path, 'node_modules'));
      const { code, err } = await sluice('plugin', 'check', at);
      equal(code, 1);
      match(
        err,
        new RegExp(`^ERROR ${file}:13:14: Type 'string' is not assignable to type 'number'. \\[TS2322\\]$`, 'm'),
      );
    }).timeout(60_000);

    it('can check a single file', async () => {
      folder.write('plugins/broken.ts', 'const a = ;');
      const file = folder.write('plugins/header.ts', headerSource('a'));
      const { code, out } = await sluice('plugin', 'check', file);
      deepEqual([code, out], [0, `OK acme/header ${file}\n`]);
    });
  });

  describe('list', () => {
    it('prints the places and sources of plugins, as text and as JSON', async () => {
      folder.write('plugins/header.ts', headerSource('a'));
      const { out } = await sluice('plugin', 'list', '--plugins', at);
      match(out, /^NAME +LEVELS +FILE +HASH\nacme\/header +endpoint +\S*header\.ts +[0-9a-f]{12}\n$/);
      const listed = JSON.parse((await sluice('plugin', 'list', '--plugins', at, '--format', 'json')).out);
      deepEqual(
        listed.plugins.map(({ name, kinds }: Record<string, unknown>) => [name, kinds]),
        [['acme/header', ['endpoint']]],
      );
    });

    it('uses ./plugins by default, and reports its path if the folder does not exist', async () => {
      folder.write('plugins/header.ts', headerSource('a'));
      const home = process.cwd();
      try {
        process.chdir(folder.path);
        match((await sluice('plugin', 'list')).out, /acme\/header +endpoint +plugins\/header\.ts/);
        process.chdir(at);
        const { code, err } = await sluice('plugin', 'list');
        equal(code, 1);
        match(
          err,
          new RegExp(`cannot read the plugin folder: .*ENOENT[^]*relative paths start at the working directory, ${at}`),
        );
        equal((await sluice('plugin', 'list', '--all')).code, 0);
      } finally {
        process.chdir(home);
      }
    });

    it('includes plugins of a configuration, and the reason why one cannot be loaded', async () => {
      folder.write('plugins/header.ts', headerSource('a'));
      const file = folder.write('gateway.json', JSON.stringify({ version: 3, plugin: { folder: `${at}/` } }));
      match((await sluice('plugin', 'list', '-c', file)).out, /acme\/header/);
      folder.write('plugins/broken.ts', 'const a = ;');
      const { code, err } = await sluice('plugin', 'list', '-c', file);
      equal(code, 1);
      match(
        err,
        /broken\.ts:1:11: error: SyntaxError: Unexpected token \(\/plugin\/folder\) \[PLUGIN_LOAD\]\n\n1 error/,
      );
    });
  });

  it('lists its subcommands, and explains each of them', async () => {
    deepEqual((await sluice('plugin')).code, 2);
    match((await sluice('help', 'plugin', 'new')).out, /^usage: sluice plugin new NAME/);
    match((await sluice('plugin', 'new', '--help')).out, /--kind KIND/);
  });
});

describe('the flag --plugins', () => {
  let folder: PluginFolder;
  let file: string;
  let given: string[];

  beforeEach(() => {
    folder = new PluginFolder();
    folder.write('plugins/header.ts', headerSource('a'));
    const endpoints = [
      {
        endpoint: '/a',
        extra_config: { 'acme/header': {} },
        backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
      },
    ];
    file = folder.write('gateway.json', JSON.stringify({ version: 3, endpoints }));
    given = ['--plugins', join(folder.path, 'plugins')];
  });
  afterEach(() => folder.remove());

  it('makes the plugins of a folder known to every command that reads a configuration', async () => {
    match((await sluice('check', '-c', file)).err, /unknown namespace "acme\/header"/);
    equal((await sluice('check', '-c', file, ...given)).code, 0);
    match((await sluice('routes', '-c', file, '--namespace', 'acme/header', ...given)).out, /acme\/header/);
    match((await sluice('explain', '-c', file, 'GET', '/a', ...given)).out, /acme\/header/);
    ok((await sluice('audit', '-c', file, ...given)).code! < 2);
    equal((await sluice('migrate', '-c', file, ...given)).code, 0);
    deepEqual((await sluice('diff', file, file, ...given)).code, 0);
    match((await sluice('schema', 'acme/header', ...given)).out, /"suffix"/);
    ok((await sluice('schema', ...given)).out.includes('"acme/header"'));
  });

  it('is not needed if the configuration names the folder', async () => {
    const document = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...document, plugin: { folder: join(folder.path, 'plugins/') } }));
    equal((await sluice('check', '-c', file)).code, 0);
    match((await sluice('schema', 'acme/header', '-c', file)).out, /"suffix"/);
    equal(readdirSync(join(folder.path, 'plugins')).length, 1);
  });
});
