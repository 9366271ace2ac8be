import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { json, openGateway, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { PluginFolder } from '../../support/plugin-folder.ts';

const source = (more = '') => `import { atEndpoint, definePlugin } from 'sluice/plugin';
import { fail } from './lib/fail.ts';

export const plugin = definePlugin({
  name: 'acme/failing',
  contract: 1,
  description: 'Fails.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => {
      ${more}
      return { proxy: () => async () => fail() };
    }),
  ],
});
`;

/** The source has only one line, so that its positions differ only in their columns. */
const failing = `export function fail(a: string = show('a'), b: string = show('b')): never { throw new TypeError(a + b); }\n`;

describe('the place of a fault in a file', () => {
  let folder: PluginFolder;
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;

  beforeEach(async () => {
    sinks = rememberingSinks();
    folder = new PluginFolder();
    backend = await startBackend(json({}));
    folder.write(
      'plugins/lib/fail.ts',
      `interface Nothing {}\n\nexport function fail(): never {\n  throw new Error('no');\n}\n`,
    );
  });
  afterEach(async () => {
    await gateway?.close();
    await backend.close();
    folder.remove();
  });

  const start = async (): Promise<void> => {
    gateway = await openGateway(
      {
        version: 3,
        plugin: { folder: join(folder.path, 'plugins/'), suspend_after: 1 },
        endpoints: [
          {
            endpoint: '/',
            backend: [{ host: [backend.url], url_pattern: '/' }],
            extra_config: { 'acme/failing': {} },
          },
        ],
      },
      { port: 0, sinks },
    );
  };

  it('is shown in the source as written, also in an imported file', async () => {
    folder.write('plugins/failing.ts', source());
    await start();
    equal((await gateway!.inject('/')).statusCode, 500);
    const [fault] = gateway!.containment.records.flatMap(({ faults }) => faults);
    deepEqual([fault!.place, fault!.message], [`${folder.path}plugins/lib/fail.ts:4:9`, 'Error: no']);
  });

  it('has correct columns in line 1, after imports, types and imported names', async () => {
    folder.write('plugins/lib/fail.ts', `import { inspect as show } from 'node:util'; ${failing}`);
    folder.write('plugins/failing.ts', source());
    await start();
    await gateway!.inject('/');
    const [fault] = gateway!.containment.records.flatMap(({ faults }) => faults);
    const column = `import { inspect as show } from 'node:util'; ${failing}`.indexOf('new TypeError') + 1;
    equal(fault!.place, `${folder.path}plugins/lib/fail.ts:1:${column}`);
    match(sinks.lines.join('\n'), new RegExp(`at fail \\(.*/lib/fail\\.ts:1:${column}\\)`));
  });

  it('has a correct column for code that blocks the event loop', async () => {
    const head = `import { inspect as show } from 'node:util'; export function fail(a: string = show('a')): string { `;
    const loop = 'for (const end: number = Date.now() + 700; Date.now() < end; ) ;';
    folder.write('plugins/lib/fail.ts', `${head}${loop} return a; }\n`);
    folder.write('plugins/failing.ts', source());
    await start();
    let column = 0;
    await until(async () => {
      await gateway!.inject('/');
      column = Number(/ms at .*\/lib\/fail\.ts:1:(\d+)/.exec(sinks.lines.join('\n'))?.[1]);
      return column > 0;
    });
    ok(column > head.length && column <= head.length + loop.length, `${column} is outside of the loop`);
  }).timeout(60_000);

  it('includes what the plugin throws while it is attached', async () => {
    folder.write('plugins/failing.ts', source('fail();'));
    await start().then(
      () => Promise.reject(new Error('accepted')),
      (error: Error) => match(error.message, /PLUGIN_ATTACH .* Error: no \(.*plugins\/lib\/fail\.ts:4:9\)/),
    );
  });

  it('is forgotten when the file changes, and so is a suspension', async () => {
    const file = folder.write('plugins/failing.ts', source());
    await start();
    await gateway!.inject('/');
    equal((await gateway!.inject('/')).statusCode, 503);
    folder.write(
      'plugins/lib/fail.ts',
      `import { Reply } from 'sluice/plugin';\nexport const fail = () => Reply.data({ mended: true });\n`,
    );
    await gateway!.reload();
    equal((await gateway!.inject('/')).body, '{"mended":true}');
    const { plugins } = { plugins: await gateway!.components.list(gateway!.serving, 1) };
    equal(plugins.find(({ name }) => name === 'acme/failing')!.file, file);
  });
});
