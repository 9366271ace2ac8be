import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigText, type Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { openGateway, rememberingSinks } from '../../support/gateway.ts';

describe('watching of files continues', () => {
  let directory: string;
  let gateway: Operations | undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-watching-'));
  });
  afterEach(async () => {
    delete process.env['FC_ENABLE'];
    delete process.env['FC_SETTINGS'];
    await gateway?.close();
    gateway = undefined;
    rmSync(directory, { recursive: true });
  });

  it('for the settings of a template, while a configuration from the admin API serves', async () => {
    const settings = join(directory, 'settings');
    const file = join(directory, 'gateway.tmpl');
    mkdirSync(settings);
    writeFileSync(join(settings, 'env.json'), '{"timeout": "2s"}');
    writeFileSync(file, '{"version": 3, "timeout": "{{ .env.timeout }}", "endpoints": []}');
    Object.assign(process.env, { FC_ENABLE: '1', FC_SETTINGS: settings });
    gateway = await openGateway(file, { port: 0, sinks: rememberingSinks() });
    await gateway.watch();
    const watched = gateway.watcher!.status.files;
    await gateway.apply({
      trigger: 'api',
      source: new ConfigText('{"version":3,"timeout":"9s","endpoints":[]}', 'json'),
    });
    equal(gateway.config.timeout, 9000);
    await until(() => gateway!.watcher!.status.files === watched);
    writeFileSync(join(settings, 'env.json'), '{"timeout": "6s"}');
    await until(() => gateway!.config.timeout === 6000);
    equal(gateway.attempts.list[0]!.trigger, 'watch');
  });

  it('after the last good configuration was resumed, until the file is valid', async () => {
    const file = join(directory, 'gateway.json');
    const good = JSON.stringify({ version: 3, endpoints: [] });
    const options = { port: 0, sinks: rememberingSinks(), revisionDirectory: join(directory, 'state') };
    writeFileSync(file, good);
    const first = await openGateway(file, options);
    await first.listen();
    await first.close();
    writeFileSync(file, '{"version": 3, "endpoints": 7}');
    gateway = await openGateway(file, { ...options, resumeLastGood: true });
    equal(gateway.serving.trigger, 'resume');
    await gateway.watch();
    writeFileSync(file, good);
    await until(() => gateway!.serving.trigger === 'watch');
    deepEqual([gateway.attempts.list[0]!.result, await gateway.hasDrifted()], ['unchanged', false]);
    ok(gateway.status.revision > 0);
  });
});
