import { deepEqual, notDeepEqual } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after as afterReply, atBackend, atEndpoint, definePlugin, definePort, offer } from '#contract';
import { openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import { Phases } from '../../../kernel/runtime/build/phases.ts';
import { readConfig } from '../../../kernel/runtime/build/read-config.ts';
import { ReadFiles } from '../../../kernel/runtime/prints/read-files.ts';
import { openHarness, silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { underUnrelatedChanges } from '../../support/unrelated-changes.ts';

/** Values of the configuration that are read once for all backends, and recorded for each. */
const authority = 'test/corpus/files/shop.pem';

const words = definePort<string>('test words');

/** A component that calls each function of its site once. */
const greeting = definePlugin({
  name: 'test/greeting',
  description: 'Greets with what a file says.',
  takes: [words],
  places: [
    atEndpoint(
      { type: 'object', properties: { file: { type: 'string', description: 'File.', default: '' } } },
      ({ config: { file }, setting, use, read, take }) => {
        const text = `${read(file)} ${setting('name')} ${take(words) ?? 'nobody'}`;
        use('clock');
        setting('name');
        return { endpoint: afterReply((reply) => reply.headers.set('X-Greeting', text)) };
      },
    ),
  ],
});

/** A component that uses its site during a request. */
const careless = definePlugin({
  name: 'test/careless',
  description: 'Asks late.',
  places: [
    atBackend({ type: 'object', properties: {} }, (site) => ({
      backend: afterReply((reply) => reply.headers.set('X-Timeout', String(site.setting('timeout')))),
    })),
  ],
});

describe('the recorded settings, files and services that a component reads', () => {
  let folder: string;
  let file: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reads-'));
    file = join(folder, 'hello.txt');
    await writeFile(file, 'hello');
  });
  after(() => rm(folder, { recursive: true }));

  it('contain each name once', async () => {
    const gate = await openHarness(greeting, 'endpoint', { file }, { offers: [offer(words, 'Ada')] });
    const { settings, services, files, ports, gateway: whole } = gate.reads;
    deepEqual(
      { settings, services, files, ports, whole },
      { settings: ['name'], services: ['clock'], files: [file], ports: ['test words'], whole: false },
    );
    await gate.close();
  });

  it('are kept per endpoint, including those of its backends', async () => {
    const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
    const plugins = { ...catalogue.plugins, [greeting.name]: async () => ({ plugin: greeting }) };
    const { generations, registry } = openEngine(
      { ...catalogue, plugins },
      { sinks: silentSinks, events: createEventLog() },
    );
    const document = {
      version: 3,
      client_tls: { ca_certs: [authority] },
      endpoints: [
        { endpoint: '/greeted', backend, extra_config: { 'test/greeting': { file } } },
        { endpoint: '/plain', backend },
      ],
    };
    const normalized = await readConfig(document, {}, registry);
    const prepared = await generations.prepare(normalized, new ReadFiles(), 1, new Phases());
    const [greeted, plain] = prepared.runtime.compiled.routes;
    deepEqual(
      [greeted!.reads.files, greeted!.reads.settings.includes('name'), greeted!.reads.settings.includes('client_tls')],
      [[file, authority], true, true],
    );
    deepEqual(
      [plain!.reads.files, plain!.reads.settings.includes('name'), plain!.reads.settings.includes('client_tls')],
      [[authority], false, true],
    );
    await prepared.abort();
    await registry.close();
  });

  it('include what a component reads after it was attached', async () => {
    const gate = await openHarness(careless, 'backend', {});
    deepEqual(gate.reads.settings, []);
    await gate.send('GET /');
    deepEqual(gate.reads.settings, ['timeout']);
    await gate.close();
  });

  it('include the names in a directory, and reject a path that is not one', async () => {
    const listing = definePlugin({
      name: 'test/listing',
      description: 'Lists a directory.',
      places: [
        atEndpoint({ type: 'object', properties: {} }, ({ list }) => {
          let code = '';
          try {
            list(file);
          } catch (error) {
            code = (error as NodeJS.ErrnoException).code!;
          }
          const names = `${code} ${list(folder).join()}`;
          return { endpoint: afterReply((reply) => reply.headers.set('X-Names', names)) };
        }),
      ],
    });
    const gate = await openHarness(listing, 'endpoint', {});
    const { headers } = await gate.send('GET /');
    deepEqual([headers.get('x-names'), gate.reads.files], [`ENOTDIR ${basename(file)}`, [folder]]);
    await gate.close();
  });

  it('exclude fields that do not affect the result', async () => {
    const { before, outliving, after } = await underUnrelatedChanges(greeting, 'endpoint', { file });
    deepEqual(outliving, before);
    deepEqual(after, before);
  });

  it('are incomplete if a component uses state outside of the object that it is attached with', async () => {
    let made = 0;
    const counting = definePlugin({
      name: 'test/counting',
      description: 'Answers by what was attached last.',
      places: [
        atBackend({ type: 'object', properties: {} }, () => {
          made += 1;
          return { backend: afterReply((reply) => reply.headers.set('X-Made', String(made))) };
        }),
      ],
    });
    const { before, outliving } = await underUnrelatedChanges(counting, 'backend', {});
    notDeepEqual(outliving, before);
  });

  it('are incomplete if a component reads only during a request', async () => {
    const { before, after } = await underUnrelatedChanges(careless, 'backend', {});
    notDeepEqual(after, before);
  });
});
