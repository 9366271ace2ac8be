import { deepEqual, equal, match } from 'node:assert/strict';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { json, openGateway, startBackend, type TestBackend } from '../../support/gateway.ts';
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

describe('the place of a fault in a file', () => {
  let folder: PluginFolder;
  let backend: TestBackend;
  let gateway: Operations | undefined;

  beforeEach(async () => {
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
      { port: 0, sinks: silentSinks },
    );
  };

  it('is told as its author sees the file, also in a file that it imports', async () => {
    folder.write('plugins/failing.ts', source());
    await start();
    equal((await gateway!.inject('/')).statusCode, 500);
    const [fault] = gateway!.containment.records.flatMap(({ faults }) => faults);
    deepEqual([fault!.place, fault!.message], [`${folder.path}plugins/lib/fail.ts:4:9`, 'Error: no']);
  });

  it('is that of what it throws while it is attached', async () => {
    folder.write('plugins/failing.ts', source('fail();'));
    await start().then(
      () => Promise.reject(new Error('accepted')),
      (error: Error) => match(error.message, /PLUGIN_ATTACH .* Error: no \(.*plugins\/lib\/fail\.ts:4:9\)/),
    );
  });

  it('is gone with the content it was in, and so is a suspension', async () => {
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
