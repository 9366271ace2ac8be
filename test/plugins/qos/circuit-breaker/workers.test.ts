import { deepEqual, ok } from 'node:assert/strict';
import { Agent, get } from 'node:http';
import type { Operations } from '#kernel';
import { plugin } from '../../../../plugins/qos/circuit-breaker/index.ts';
import { until } from '../../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';

const program = bundledProgram();
const TOLERATED = 50;
const openText = 'circuit breaker is open';

describe('the circuit breakers of several workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(60_000);
  let backend: TestBackend;
  let gateway: Operations;
  let url: string;
  const agents: Agent[] = [];

  before(async () => {
    backend = await startBackend(json({}, 500));
    gateway = await startGateway(
      {
        extra_config: { router: { return_error_msg: true } },
        endpoints: [
          {
            endpoint: '/a',
            backend: [
              {
                host: [backend.url],
                url_pattern: '/',
                extra_config: { [plugin.name]: { interval: 0, timeout: 600, max_errors: TOLERATED } },
              },
            ],
          },
        ],
      },
      { workers: { count: 2, program, args: [] } },
    );
    url = `http://127.0.0.1:${(await gateway.listen()).port}/a`;
  });
  after(async () => {
    for (const agent of agents) agent.destroy();
    await gateway.close();
    await backend.close();
  });

  /** A client that sends its requests over one connection to one worker. */
  function client(): () => Promise<string> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return () =>
      new Promise((resolve, reject) => {
        get(url, { agent }, async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve(text);
        }).on('error', reject);
      });
  }

  it('open together, even for a worker that starts later', async () => {
    const clients = Array.from({ length: 6 }, client);
    const [first] = clients;
    for (let calls = 0; calls <= TOLERATED; calls++) await first!();
    const responses = () => Promise.all(clients.map((ask) => ask()));
    await until(async () => (await responses()).every((text) => text === openText));
    const calls = backend.requests.length;
    ok(calls < 2 * TOLERATED, `${calls} calls: each worker has opened by itself`);

    const [worker] = gateway.processes.workers;
    process.kill(worker!.pid!, 'SIGKILL');
    await until(() => gateway.processes.workers[0]!.pid !== worker!.pid && gateway.processes.converged);
    const later = await Promise.all(Array.from({ length: 6 }, () => client()()));
    deepEqual([...new Set(later)], [openText]);
    deepEqual(backend.requests.length, calls);
  });
});
