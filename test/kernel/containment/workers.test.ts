import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { RunningGateway } from '../../../kernel/gateway/start-gateway.ts';
import { until } from '../../support/conditions.ts';
import { partsOf } from '../../support/gateway.ts';
import { misbehaving } from '../../support/misbehaving.ts';
import { startWith } from '../../support/plugged.ts';

const program = fileURLToPath(new URL('../../support/worker-misbehaving.ts', import.meta.url));

describe('a plugin from a file in workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(180_000);
  let gateway: RunningGateway;
  let port: number;

  before(async () => {
    const config = {
      version: 3,
      host: ['http://127.0.0.1:9'],
      plugin: { suspend_after: 1 },
      endpoints: [
        {
          endpoint: '/a',
          input_query_strings: ['*'],
          extra_config: { 'test/misbehaving': {} },
          backend: [{ url_pattern: '/' }],
        },
      ],
    };
    gateway = partsOf(await startWith([misbehaving], config, { workers: { count: 2, program, args: [] } }));
    ({ port } = await gateway.listen());
  });
  after(() => gateway.close());

  /** Each request has its own connection, so that any worker can respond. */
  const ask = (query = ''): Promise<{ status: number; pid: number | null }> =>
    new Promise((resolve, reject) => {
      const sent = get({ port, path: `/a${query}`, agent: false }, (response) => {
        let text = '';
        response.on('data', (bytes) => {
          text += bytes;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode!, pid: text === '' ? null : JSON.parse(text).pid }),
        );
      });
      sent.on('error', reject);
    });
  const faults = () => gateway.containment.records.flatMap((record) => record.faults);

  /** Repeats requests until that many consecutive responses have the status: then all workers have returned it. */
  const always = async (status: number): Promise<void> => {
    let row = 0;
    await until(async () => {
      row = (await ask()).status === status ? row + 1 : 0;
      return row === 12;
    });
  };

  it('is suspended in all workers after its faults in one, also in a worker that starts later, until the suspension is lifted', async () => {
    const events: object[] = [];
    gateway.events.subscribe({ types: ['plugin.*'] }, ({ type, data }) => events.push({ type, ...data }));
    equal((await ask('?act=throw')).status, 500);
    await always(503);
    await until(() => faults().length > 0);
    deepEqual(
      faults().map(({ hook, count, message }) => [hook, count, message]),
      [['endpoint', 1, 'TypeError: boom']],
    );
    const { pid } = gateway.processes.workers[0]!;
    process.kill(pid!, 'SIGKILL');
    await until(() => gateway.processes.workers[0]!.pid !== pid && gateway.processes.converged);
    await always(503);
    equal(gateway.containment.lift('test/misbehaving'), true);
    await always(200);
    deepEqual(
      events.map((event) => (event as { type: string }).type),
      ['plugin.suspended', 'plugin.resumed'],
    );
  });

  it('that never returns to the event loop is reported, and its worker replaced', async () => {
    const reasons: string[] = [];
    gateway.events.subscribe({ types: ['worker.down'] }, ({ data }) =>
      reasons.push((data as { reason: string }).reason),
    );
    const pids = gateway.processes.workers.map(({ pid }) => pid);
    await ask('?act=loop').catch(() => {});
    await until(() => reasons.length > 0);
    match(
      reasons[0]!,
      /^SIGKILL: plugin "test\/misbehaving" has blocked the event loop for \d+ s at .*misbehaving\.ts:\d+:\d+, in hook "endpoint" of GET \/a$/,
    );
    await until(() => gateway.processes.converged && gateway.processes.workers.every(({ state }) => state === 'up'));
    equal(gateway.processes.workers.filter(({ pid }) => !pids.includes(pid)).length, 1);
    await always(200);
    ok(gateway.containment.records[0]!.blocking.longestMs >= 1000);
  });

  it('has the time of its hooks in all workers', async () => {
    const busyMs = () => gateway.containment.records[0]!.hooks.find(({ hook }) => hook === 'endpoint')?.busyMs ?? 0;
    const before = busyMs();
    await until(async () => {
      await ask('?act=block&ms=40');
      return busyMs() >= before + 100;
    });
  });
});
