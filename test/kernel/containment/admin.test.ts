import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { openAdmin, type TestAdmin } from '../../admin/support.ts';
import { PluginFolder } from '../../support/plugin-folder.ts';
import { containedConfig, filePlugin, type Hooks } from './support.ts';

describe('faults of plugins from files, in the admin API', () => {
  let one: TestAdmin;
  const hooks: Hooks = {
    endpoint: {
      proxy: () => () => {
        throw new TypeError('boom');
      },
    },
  };

  beforeEach(async () => {
    const config = containedConfig('http://127.0.0.1:9', hooks, { policy: { suspend_after: 2 } });
    one = await openAdmin(config, { gateway: { plugins: [filePlugin(import.meta.url, hooks)] } });
  });
  afterEach(() => one.close());

  const fail = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await one.gateway.inject('/a');
  };
  const plugin = async () =>
    (await one.ask('/v1/plugins')).body.plugins.find(({ name }: { name: string }) => name === 'acme/test');

  it('are listed with plugin, hook, count, and the latest one with its place', async () => {
    deepEqual((await plugin()).faults, []);
    await fail(1);
    const { kind, file, hash, isolated, faults, suspended, blocking } = await plugin();
    deepEqual([kind, file, hash, isolated], ['file', fileURLToPath(import.meta.url), 'one', false]);
    const [{ place, at, ...rest }] = faults;
    deepEqual(rest, { hook: 'proxy', count: 1, endpoint: 'GET /a', message: 'TypeError: boom' });
    match(place, /admin\.test\.ts:\d+:\d+$/);
    ok(Math.abs(Date.now() - Date.parse(at)) < 60_000);
    deepEqual([suspended, blocking], [null, { count: 0, longestMs: 0 }]);
  });

  it('come with the time of each hook, in milliseconds, which the metrics have in seconds', async () => {
    const { hooks } = await plugin();
    deepEqual(hooks, []);
    one.gateway.containment.records[0]!.countBusy('proxy', 20.4, true);
    one.gateway.containment.records[0]!.countBusy('proxy', 10, true);
    deepEqual((await plugin()).hooks, [{ hook: 'proxy', busyMs: 30 }]);
    const { text: body } = await one.ask('/metrics');
    match(body, /^gateway_plugin_hook_seconds_total\{plugin="acme\/test",hook="proxy"\} 0\.03$/m);
  });

  it('are counted in the metrics', async () => {
    await fail(3);
    const { text: body } = await one.ask('/metrics');
    match(body, /^gateway_plugin_faults_total\{plugin="acme\/test"\} 2$/m);
    match(body, /^gateway_plugin_suspended\{plugin="acme\/test"\} 1$/m);
    match(body, /^gateway_plugin_blocking_seconds_bucket\{plugin="acme\/test",le="\+Inf"\} 0$/m);
  });

  for (const name of ['acme/test', 'acme%2Ftest']) {
    it(`show a suspension, which DELETE /v1/plugins/${name}/suspension lifts`, async () => {
      await fail(3);
      equal((await plugin()).suspended.message, 'TypeError: boom');
      const path = `/v1/plugins/${name}/suspension`;
      equal((await one.ask(path, { method: 'DELETE' })).status, 204);
      equal((await plugin()).suspended, null);
      const again = await one.ask(path, { method: 'DELETE' });
      equal(again.status, 404);
      match(again.body.detail, /no plugin named acme\/test is suspended/);
    });
  }

  it('are sent as events', async () => {
    const seen: string[] = [];
    one.gateway.events.subscribe({ types: ['plugin.*'] }, ({ type }) => seen.push(type));
    await fail(2);
    await one.ask('/v1/plugins/acme/test/suspension', { method: 'DELETE' });
    deepEqual(seen, ['plugin.suspended', 'plugin.resumed']);
  });
});

describe('modules from files, in the admin API', () => {
  it('are isolated if they run in a thread of their own', async () => {
    const folder = new PluginFolder();
    const module = (name: string, more: string) =>
      `export const plugin = { name: '${name}', apiVersion: 1, ${more} middleware: () => (ctx, request, next) => next() };`;
    folder.write('apart.js', module('apart', 'isolate: true,'));
    folder.write('inside.js', module('inside', ''));
    const endpoint = {
      endpoint: '/a',
      extra_config: { 'plugin/middleware': { name: ['apart', 'inside'] } },
      backend: [{ url_pattern: '/' }],
    };
    const one = await openAdmin({
      version: 3,
      host: ['http://127.0.0.1:9'],
      plugin: { folder: folder.path },
      endpoints: [endpoint],
    });
    try {
      const { plugins } = (await one.ask('/v1/plugins')).body as { plugins: { name: string; isolated: boolean }[] };
      const isolatedOf = (wanted: string) => plugins.find(({ name }) => name === wanted)?.isolated;
      deepEqual([isolatedOf('apart'), isolatedOf('inside'), isolatedOf('proxy')], [true, false, false]);
    } finally {
      await one.close();
      folder.remove();
    }
  }).timeout(60_000);
});
