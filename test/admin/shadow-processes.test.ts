import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ShadowReport } from '../../kernel/control/shadow-report.ts';
import { until } from '../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../support/gateway.ts';
import { PluginFolder } from '../support/plugin-folder.ts';
import { bundledProgram, command } from '../support/programs.ts';
import { openAdmin, type TestAdmin, type TestAdminOptions } from './support.ts';

/** Source of a plugin whose endpoints use this much processor time for each request. */
const busySource = (ms: number): string => `import { atEndpoint, before, definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: 'acme/busy',
  contract: 1,
  description: 'Uses processor time.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      endpoint: before(() => {
        const { user } = process.cpuUsage();
        while (process.cpuUsage().user - user < ${ms * 1000});
      }),
    })),
  ],
});
`;

describe('the processes of a shadow run', function () {
  // Processes start slowly on a busy machine.
  this.timeout(120_000);
  const folder = new PluginFolder();
  let backend: TestBackend;
  let one: TestAdmin;
  before(async () => {
    folder.write('busy.ts', busySource(20));
    backend = await startBackend(json({ id: 1, name: 'Ada', email: 'ada@example.test' }));
  });
  afterEach(() => one.close());
  after(async () => {
    folder.remove();
    await backend.close();
  });

  const source = (backendMore: object, more: object = {}) => ({
    version: 3,
    timeout: '20s',
    endpoints: [
      {
        endpoint: '/users/{id}',
        backend: [{ host: [backend.url], url_pattern: '/v1/users/{id}', ...backendMore }],
        ...more,
      },
    ],
  });
  const careful = { allow: ['id', 'name'] };
  const open = async (gateway: TestAdminOptions['gateway'] = {}): Promise<void> => {
    one = await openAdmin(source(careful), { gateway: { program: command, ...gateway } });
  };
  const start = async (body: object): Promise<void> => {
    const { status, text } = await one.ask('/v1/config?shadow=1h&sample=100%', { method: 'PUT', body });
    equal(status, 200, text);
  };
  const report = async (): Promise<ShadowReport> => (await one.ask('/v1/shadow')).body;
  const stop = async (): Promise<ShadowReport> => (await one.ask('/v1/shadow', { method: 'DELETE' })).body;
  const get = async (id: number) => {
    const address = `http://127.0.0.1:${one.gateway.processes.port}/users/${id}`;
    return (await fetch(address, { headers: { connection: 'close' } })).text();
  };
  /** Sends five requests, and waits until they have been compared. */
  const compareFive = async (): Promise<void> => {
    const { compared } = await report();
    for (let id = 0; id < 5; id++) equal(await get(id), '{"id":1,"name":"Ada"}');
    await until(async () => (await report()).compared === compared + 5);
  };
  const children = (): number[] =>
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

  it('take samples of all workers, also of those that are restarted', async () => {
    await open({ workers: { count: 2, program: bundledProgram(), args: [] } });
    await start(source({}));
    await compareFive();
    await compareFive();
    await until(() => one.gateway.processes.workers.every(({ requests }) => requests > 0));
    const pid = one.gateway.processes.workers[0]!.pid!;
    process.kill(pid, 'SIGKILL');
    await until(() => one.gateway.processes.workers.every((each) => each.state === 'up' && each.pid !== pid));
    await compareFive();
    const { changes, different, skipped } = await stop();
    deepEqual(
      changes.map(({ cause, at, requests }) => [cause, at, requests]),
      [['visible', 'email', 15]],
    );
    deepEqual([different, skipped.busy, skipped.budget], [15, 0, 0]);
  });

  it('use at most a fifth of a core, however many requests there are', async () => {
    await open({ pluginFolder: folder.path });
    const startedAt = performance.now();
    await start(source(careful, { extra_config: { 'acme/busy': {} } }));
    // Requests arrive faster than the candidate can handle any of them.
    await until(async () => {
      await Promise.all(Array.from({ length: 8 }, (_, id) => get(id)));
      const { budget, busy } = (await report()).skipped;
      return budget > 0 && budget + busy > 200;
    });
    const { cpuMs, compared, skipped } = await stop();
    const boundMs = 0.2 * (performance.now() - startedAt) + 1000;
    // Requests that are admitted together before their cost is known can exceed the budget once.
    const excessMs = 600;
    ok(cpuMs <= boundMs + excessMs, `${cpuMs} ms of ${Math.round(boundMs)} ms`);
    // On a busy machine, requests of a candidate that gets no processor time fail, which counts as a difference.
    ok(compared > 0 && compared < skipped.budget + skipped.busy, `${compared} compared`);
  });

  it('run below the priority of all others, and end with the run', async function () {
    if (process.platform !== 'linux') this.skip();
    await open();
    const before = children();
    await start(source({}));
    const [pid] = children().filter((each) => !before.includes(each)) as [number];
    const nice = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[16];
    equal(nice, '19');
    await stop();
    await until(() => !children().includes(pid));
  });

  it('leave the gateway serving when the process of the candidate is killed', async function () {
    if (process.platform !== 'linux') this.skip();
    await open();
    const before = children();
    await start(source({}));
    const [pid] = children().filter((each) => !before.includes(each)) as [number];
    process.kill(pid, 'SIGKILL');
    await until(async () => (await report()).state === 'failed');
    equal((await report()).reason, 'its process has ended');
    equal(await get(1), '{"id":1,"name":"Ada"}');
    ok(one.lines.some((line) => /WARNING.*shadow run of attempt 2 failed: its process has ended/.test(line)));
  });

  it('end with the gateway', async () => {
    await open();
    const before = children();
    await start(source({}));
    const [pid] = children().filter((each) => !before.includes(each)) as [number];
    await one.admin.close();
    await until(() => !children().includes(pid));
  });
});
