import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import type { GatewayEvent } from '../../../kernel/index.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';
import { eventually } from '../../support/stream-client.ts';
import { openReading, type ReadingPort } from './support.ts';

describe('the admin operations of a gateway with workers', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;
  let port: number;

  before(async () => {
    backend = await startBackend(json({}, 500));
    const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 1 } };
    const upstream = { host: [backend.url], url_pattern: '/', extra_config: breaker };
    gateway = await startGateway(
      { endpoints: [{ endpoint: '/a', backend: [upstream] }] },
      { workers: { count: 2, program: bundledProgram(), args: [] } },
    );
    ({ port } = await gateway.listen());
    admin = await openReading(gateway);
  });

  after(async () => {
    await admin.close();
    await gateway.close();
    await backend.close();
  });

  it('list every worker with its active configuration', async () => {
    const { workers } = (await admin.ask('/v1/workers')).body;
    deepEqual(
      workers.map(({ id, state, revision, hash }: Record<string, unknown>) => [id, state, revision, hash]),
      [1, 2].map((id) => [id, 'up', 1, gateway.status.hash]),
    );
    equal(new Set(workers.map(({ pid }: { pid: number }) => pid)).size, 2);
  });

  it('show that all workers serve the same configuration', async () => {
    const { workers, converged, state } = (await admin.ask('/v1/status')).body;
    deepEqual([workers, converged, state], [2, true, 'serving']);
  });

  it('combine the configurations of all workers', async () => {
    const { generations } = (await admin.ask('/v1/generations')).body;
    const { ageMs, ...rest } = generations[0];
    ok(ageMs >= 0);
    deepEqual([generations.length, rest], [1, { revision: 1, state: 'current', requests: 0, streams: 0 }]);
  });

  it('count workers by state', async () => {
    const { text } = await admin.ask('/metrics');
    ok(text.includes('gateway_workers{state="up"} 2\n'));
    ok(text.includes('gateway_generations{state="current"} 1\n'));
  });

  it('return the memory of every worker', async () => {
    const { text } = await admin.ask('/metrics');
    for (const name of ['resident', 'heap']) {
      for (const worker of [1, 2]) {
        const [, bytes] = new RegExp(`^gateway_process_${name}_bytes\\{worker="${worker}"\\} (\\d+)$`, 'm').exec(text)!;
        ok(Number(bytes) > 1024 * 1024, `${name} ${worker}: ${bytes}`);
      }
    }
  });

  it("report changes of a worker's circuit breaker", async () => {
    const events: GatewayEvent[] = [];
    const unsubscribe = gateway.events.subscribe({ types: ['breaker.changed'] }, (event) => events.push(event));
    await eventuallyCalled(() => events.length > 0);
    unsubscribe();
    const { worker, ...data } = events[0]!.data as { worker: number };
    ok(worker === 1 || worker === 2);
    deepEqual(data, { name: '', from: 'closed', to: 'open', method: 'GET', endpoint: '/a', backend: 0 });
  });

  it('drain and resume every worker', async () => {
    const probe = async () => String((await fetch(`http://127.0.0.1:${port}/__ready`)).status);
    const connection = async () => (await fetch(`http://127.0.0.1:${port}/__health`)).headers.get('connection');
    await admin.send('POST', '/v1/drain');
    equal((await admin.ask('/ready')).status, 503);
    await untilAnswers(connection, 'close');
    await untilAnswers(probe, '503');
    await admin.send('POST', '/v1/resume');
    await untilAnswers(connection, 'keep-alive');
    await untilAnswers(probe, '200');
    equal((await admin.ask('/ready')).status, 200);
  });

  /** Repeats a call until a condition is true, because the workers respond in turn. */
  async function eventuallyCalled(holds: () => boolean): Promise<void> {
    for (let count = 0; count < 20 && !holds(); count++) {
      await (await fetch(`http://127.0.0.1:${port}/a`, { headers: { connection: 'close' } })).text();
    }
    await eventually(holds);
  }

  async function untilAnswers(ask: () => Promise<string | null>, wanted: string): Promise<void> {
    for (let count = 0; count < 100 && (await ask()) !== wanted; count++);
    equal(await ask(), wanted);
  }
});
