import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndpoint, definePlugin } from '#contract';
import { ConfigText, type Operations, type Ready } from '#kernel';
import { startGateway } from '../../../kernel/index.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { partsOf } from '../../support/gateway.ts';

const content = 'one';

const reads = definePlugin({
  name: 'test/reads',
  description: 'Reads a file.',
  places: [
    atEndpoint(
      { type: 'object', properties: { path: { type: 'string', description: 'A file.' } } } as const,
      (site) => {
        site.read(site.config.path!);
        return {};
      },
    ),
  ],
});

describe('the files that a configuration was read from', () => {
  let directory: string;
  let file: string;
  let other: string;
  let gateway: Operations;

  const endpoint = (path: string, more: object = {}) => ({
    endpoint: path,
    backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
    ...more,
  });
  const config = (...endpoints: object[]) => ({ version: 3, endpoints });
  /** A configuration with a component that reads a file. */
  const named = (path = other) => endpoint('/named', { extra_config: { 'test/reads': { path } } });
  const save = (source: object) => writeFile(file, JSON.stringify(source));
  const control = () => partsOf(gateway).control;
  const read = () => control().filesRead.map(({ path, hash }) => [path, typeof hash]);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-files-'));
    file = join(directory, 'gateway.json');
    other = join(directory, 'other.txt');
    await writeFile(other, content);
    await save(config(named()));
    const plugins = { ...catalogue.plugins, [reads.name]: async () => ({ plugin: reads }) };
    gateway = await startGateway({ ...catalogue, plugins }, file, { port: 0, sinks: silentSinks });
  });
  afterEach(async () => {
    await gateway.close();
    await rm(directory, { recursive: true });
  });

  it('are those of the latest read, with their contents', () => {
    deepEqual(read(), [
      [file, 'string'],
      [other, 'string'],
    ]);
  });

  it('are those of the last valid configuration after a failure, with unknown contents', async () => {
    await save({ ...config(), timeout: 'soon' });
    await rejects(gateway.reload());
    deepEqual(read(), [
      [file, 'string'],
      [other, 'undefined'],
    ]);
    await save(config(endpoint('/a')));
    await gateway.reload();
    deepEqual(read(), [[file, 'string']]);
  });

  it('do not include those of a dry run', async () => {
    const before = control().filesRead;
    await gateway.apply({ trigger: 'api', dryRun: true, source: config(endpoint('/b')) });
    deepEqual(control().filesRead, before);
  });

  it('include, for a configuration sent as text, those it names and the file of the next reload', async () => {
    await gateway.reload(new ConfigText(JSON.stringify(config(named())), 'json'));
    deepEqual(read(), [
      [other, 'string'],
      [file, 'undefined'],
    ]);
  });

  it('do not exist for a configuration that is an object', async () => {
    const plain = await startGateway(catalogue, config(endpoint('/a')), { port: 0, sinks: silentSinks });
    deepEqual(partsOf(plain).control.filesRead, []);
    equal(await plain.hasDrifted(), false);
    await plain.close();
  });

  describe('have drifted from the active configuration', () => {
    it('if their meaning changes, but not if only their layout does', async () => {
      equal(await gateway.hasDrifted(), false);
      await writeFile(file, JSON.stringify(config(named()), null, 4));
      equal(await gateway.hasDrifted(), false);
      await save(config(endpoint('/a')));
      equal(await gateway.hasDrifted(), true);
    });

    it('if the content of a referenced file changes', async () => {
      await writeFile(other, 'two');
      equal(await gateway.hasDrifted(), true);
      await writeFile(other, content);
      equal(await gateway.hasDrifted(), false);
    });

    it('if they are invalid or missing', async () => {
      await save({ ...config(named()), timeout: 'soon' });
      equal(await gateway.hasDrifted(), true);
      await rm(file);
      equal(await gateway.hasDrifted(), true);
    });
  });

  describe('during a change', () => {
    it('are passed to the participants of a change, unless it is a dry run', async () => {
      const reported: string[] = [];
      const ready: Ready = {
        precommit: async () => void reported.push('seal'),
        commit: () => void reported.push('commit'),
        abort: () => void reported.push('abort'),
      };
      gateway.join({
        prepare: async ({ files, snapshot, runtime }) => {
          deepEqual(
            files.map(([path]) => path),
            runtime.compiled.routes.length > 1 ? [other] : [],
          );
          ok(snapshot.text.length > 0);
          return ready;
        },
      });
      const source = config(named(), endpoint('/a'));
      await gateway.apply({ trigger: 'api', dryRun: true, source });
      deepEqual(reported.splice(0), ['abort']);
      await gateway.apply({ trigger: 'api', source });
      deepEqual(reported, ['seal', 'commit']);
    });

    it('are part of reported steps, which end when the gateway closes', async () => {
      const steps: unknown[] = [];
      partsOf(gateway).events.subscribe({ types: ['reload.*'] }, ({ type, data }) => {
        const { attempt, phase, trigger } = data as { attempt: number; phase?: string; trigger?: string };
        if (type === 'reload.phase') steps.push([attempt, phase]);
        if (type === 'reload.started') steps.push([attempt, trigger]);
      });
      const { durationMs } = await gateway.apply({ trigger: 'api', source: config(endpoint('/a')) });
      ok(durationMs >= 0 && durationMs < 60_000);
      deepEqual(steps[0], [2, 'api']);
      ok(steps.some((step) => String(step) === '2,swap') && steps.some((step) => String(step) === '2,validate'));
      await gateway.close();
      await rejects(control().apply({ trigger: 'api' }), { code: 'GATEWAY_CLOSED' });
    });
  });
});
