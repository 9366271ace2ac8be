import { equal, match } from 'node:assert/strict';
import type { RunningGateway } from '../../../kernel/gateway/start-gateway.ts';
import { until } from '../../support/conditions.ts';
import { partsOf } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { bundledProgram } from '../../support/programs.ts';
import { shout } from '../../support/shout.ts';
import { openRaw, type RawClient } from '../server/raw.ts';

const program = bundledProgram('worker-shouting');

describe('a connection that switches to another protocol in a worker', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(60_000);
  let gateway: RunningGateway;
  let port: number;
  const clients: RawClient[] = [];

  const config = (more: { shout?: object; other?: object } = {}) => ({
    version: 3,
    host: ['http://127.0.0.1:9'],
    extra_config: { 'admin/reload': { stream_drain: '1ms' } },
    endpoints: [
      {
        endpoint: '/shout',
        output_encoding: 'no-op',
        extra_config: { 'test/shout': {} },
        backend: [{ url_pattern: '/' }],
        ...more.shout,
      },
      { endpoint: '/other', backend: [{ url_pattern: '/' }], ...more.other },
    ],
  });

  before(async () => {
    gateway = partsOf(await startWith([shout], config(), { workers: { count: 2, program, args: [] } }));
    ({ port } = await gateway.listen());
  });
  after(() => gateway.close());
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await until(() => streams() === 0);
  });

  const streams = (): number => gateway.processes.workers.reduce((sum, worker) => sum + worker.streams, 0);

  /** @returns the client, with the process that serves its connection. */
  async function shouted(): Promise<{ client: RawClient; pid: number }> {
    const client = await openRaw(port);
    clients.push(client);
    client.write('GET /shout HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n');
    await client.until((received) => /hello from \d+\n$/.test(received));
    return { client, pid: Number(/hello from (\d+)/.exec(client.received)![1]) };
  }

  async function echoes(client: RawClient, text: string): Promise<void> {
    client.write(text);
    await client.until((received) => received.endsWith(text.toUpperCase()));
  }

  it('survives a reload that does not change its endpoint, and is counted', async () => {
    const { client } = await shouted();
    await gateway.reload(config({ other: { timeout: '9s' } }));
    await until(() => gateway.processes.converged && gateway.generations.draining.length === 0);
    await echoes(client, 'abc');
    equal(await gateway.processes.countInFlight(), 1);
    await until(() => gateway.processes.streamsByEndpoint.get('GET /shout') === 1);
  });

  it('ends normally when its endpoint changes', async () => {
    const { client } = await shouted();
    await gateway.reload(config({ shout: { timeout: '9s' } }));
    match(await client.ended(), /bye\n$/);
    await echoes((await shouted()).client, 'abc');
  });

  it('is aborted if its worker dies, and can be opened again', async () => {
    const { client, pid } = await shouted();
    await until(() => streams() === 1);
    process.kill(pid, 'SIGKILL');
    match(await client.ended(), /hello from \d+\n$/);
    await until(() => gateway.processes.workers.every((worker) => worker.state === 'up' && worker.pid !== pid));
    await echoes((await shouted()).client, 'abc');
  });

  it('ends normally when the gateway closes', async () => {
    const { client } = await shouted();
    await gateway.close();
    match(await client.ended(), /bye\n$/);
  });
});
