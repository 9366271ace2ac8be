import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../kernel/contract/internal.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { until } from '../support/conditions.ts';
import { json, openGateway, startBackend, type TestBackend } from '../support/gateway.ts';
import { headerSource, PluginFolder } from '../support/plugin-folder.ts';
import { bundledProgram } from '../support/programs.ts';

describe('plugins from files in a running gateway', function () {
  this.timeout(60_000);
  let folder: PluginFolder;
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  after(() => backend.close());
  beforeEach(() => {
    folder = new PluginFolder();
  });
  afterEach(async () => {
    await gateway?.close();
    folder.remove();
  });

  const documentOf = (extra: object = { 'acme/header': {} }, more: object = {}): string =>
    JSON.stringify({
      version: 3,
      plugin: { folder: join(folder.path, 'plugins/') },
      endpoints: [{ endpoint: '/', backend: [{ host: [backend.url], url_pattern: '/' }], extra_config: extra }],
      ...more,
    });
  const save = (document = documentOf()): string => folder.write('gateway.json', document);
  const start = async (options: object = {}): Promise<void> => {
    gateway = await openGateway(join(folder.path, 'gateway.json'), { port: 0, sinks: silentSinks, ...options });
  };
  const team = async () => (await gateway.inject('/')).headers['x-team'];
  const teamOver = async (port: number) => (await fetch(`http://127.0.0.1:${port}/`)).headers.get('x-team');

  it('work like built-in plugins: they are selected by namespace and validated with their schema', async () => {
    folder.write('plugins/header.ts', headerSource('a'));
    save(documentOf({ 'acme/header': { suffix: '!' } }));
    await start();
    equal(await team(), 'a!');
    await gateway.reload(JSON.parse(documentOf({ 'acme/header': { sufix: 1 } }))).then(
      () => Promise.reject(new Error('accepted')),
      (error: ConfigErrors) => {
        const [{ code, pointer, hint }] = error.errors as [ConfigErrors['errors'][0]];
        deepEqual([code, pointer], ['SCHEMA_UNKNOWN_KEY', '/endpoints/0/extra_config/acme~1header/sufix']);
        match(hint!, /suffix/);
      },
    );
  });

  it('are replaced when saved, added with a new file and removed with a deleted one, without a restart', async () => {
    folder.write('plugins/header.ts', headerSource('a'));
    save();
    await start();
    await gateway.watch();
    folder.write('plugins/header.ts', headerSource('b'));
    await until(async () => (await team()) === 'b');
    folder.write('plugins/other.ts', headerSource('c', 'acme/other'));
    save(documentOf({ 'acme/other': {} }));
    await until(async () => (await team()) === 'c');
    const { revision } = gateway.status;
    folder.delete('plugins/header.ts');
    await until(() => gateway.status.revision > revision);
    equal(await team(), 'c');
    folder.delete('plugins/other.ts');
    await until(() => gateway.attempts.list[0]?.result === 'failed');
    equal(await team(), 'c', 'what serves goes on');
  });

  it('are reloaded when a file that they import changes', async () => {
    folder.write('plugins/lib/value.ts', `export const value = 'a';`);
    const source = headerSource('').replace("''", 'value');
    folder.write('plugins/header.ts', `import { value } from './lib/value.ts';\n${source}`);
    save();
    await start();
    await gateway.watch();
    equal(await team(), 'a');
    folder.write('plugins/lib/value.ts', `export const value = 'b';`);
    await until(async () => (await team()) === 'b');
  });

  it('with errors leave the active version in place until they are corrected', async () => {
    folder.write('plugins/header.ts', headerSource('a'));
    save();
    await start();
    await gateway.watch();
    folder.write('plugins/header.ts', 'const a = ;');
    await until(() => gateway.attempts.list[0]?.result === 'failed');
    equal(await team(), 'a');
    const [issue] = gateway.attempts.list[0]!.problem!.issues;
    deepEqual(
      [issue!.file, issue!.line, issue!.column, issue!.code],
      [join(folder.path, 'plugins/header.ts'), 1, 11, 'PLUGIN_LOAD'],
    );
    folder.write('plugins/header.ts', headerSource('b'));
    await until(async () => (await team()) === 'b');
  });

  it('with errors stop the start, without further errors about their namespaces', async () => {
    folder.write('plugins/header.ts', 'throw new Error("no licence");');
    save();
    await start().then(
      () => Promise.reject(new Error('started')),
      ({ errors }: ConfigErrors) =>
        deepEqual(
          errors.map(({ code }) => code),
          ['PLUGIN_LOAD'],
        ),
    );
  });

  it('can provide encodings and service discoveries', async () => {
    folder.write(
      'plugins/kind.ts',
      `import { definePlugin } from 'sluice/plugin';
export const plugin = [
  definePlugin({
    name: 'encoding/shout', contract: 1, description: 'Capitals.',
    encodings: [{ name: 'shout', encode: (data: unknown) => ({ contentType: 'text/plain', body: JSON.stringify(data).toUpperCase() }) }],
  }),
];`,
    );
    save(documentOf({}, { output_encoding: 'shout' }));
    await start();
    equal((await gateway.inject('/')).body, '{"A":1}');
  });

  describe('keep their values', () => {
    const keeping = (value: string, more = '') => `import { after, atEndpoint, definePlugin } from 'sluice/plugin';
export const plugin = definePlugin({
  name: 'acme/header', contract: 1, description: 'Counts.', ${more}
  places: [atEndpoint({ type: 'object', properties: {} }, ({ keep }) => {
    const count = keep('count', () => ({ of: 0 }));
    return { endpoint: after((reply) => reply.headers.set('X-Team', '${value}' + ++count.of)) };
  })],
});`;

    it('while their file content is unchanged', async () => {
      folder.write('plugins/header.ts', keeping('a'));
      save();
      await start();
      equal(await team(), 'a1');
      save(documentOf({ 'acme/header': {} }, { name: 'renamed' }));
      await gateway.reload();
      equal(await team(), 'a2');
      folder.write('plugins/header.ts', keeping('b'));
      await gateway.reload();
      equal(await team(), 'b1');
    });

    it('over changed file contents that declare the same version of the values', async () => {
      folder.write('plugins/header.ts', keeping('a', 'keeps: 2,'));
      save();
      await start();
      equal(await team(), 'a1');
      folder.write('plugins/header.ts', keeping('b', 'keeps: 2,'));
      await gateway.reload();
      equal(await team(), 'b2');
      folder.write('plugins/header.ts', keeping('c', 'keeps: 3,'));
      await gateway.reload();
      equal(await team(), 'c1');
    });
  });

  it('are sent to workers in the version with which the configuration was built', async () => {
    folder.write('plugins/header.ts', headerSource('a'));
    save();
    const program = bundledProgram();
    await start({ workers: { count: 2, program, args: [] } });
    const { port } = await gateway.listen();
    equal(await teamOver(port), 'a');
    await gateway.watch();
    folder.write('plugins/header.ts', headerSource('b'));
    await until(async () => (await teamOver(port)) === 'b');
    const seen = new Set(await Promise.all(Array.from({ length: 20 }, () => teamOver(port))));
    deepEqual([...seen], ['b']);
  });

  it('can be in a folder given on the command line', async () => {
    folder.write('given/header.ts', headerSource('a'));
    save(documentOf({ 'acme/header': {} }, { plugin: undefined }));
    await start({ pluginFolder: join(folder.path, 'given') });
    equal(await team(), 'a');
  });

  it('are loaded for a dry run without becoming active', async () => {
    folder.write('plugins/header.ts', headerSource('a'));
    save(documentOf({}));
    await start();
    const before = gateway.status.hash;
    folder.write('plugins/header.ts', headerSource('b'));
    equal((await gateway.apply({ trigger: 'api', dryRun: true })).result, 'dry_run');
    equal(gateway.status.hash, before);
    await gateway.reload();
    notEqual(gateway.status.hash, before);
  });
});
