import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { startGateway } from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';

const program = bundledProgram();

describe('an async agent of a gateway with workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(90_000);
  let gateway: Operations;
  const lines: string[] = [];

  after(() => gateway?.close());

  it('runs in a single process, and every worker reports its last health check', async () => {
    const sink = { terminal: false, lost: 0, write: (line: string) => void lines.push(line) };
    const sinks = { stdout: sink, stderr: sink, lost: 0, open: () => ({ ...sink, close() {} }) };
    gateway = await startGateway(
      {
        async_agent: [
          {
            name: 'orders',
            connection: { max_retries: 1, backoff_strategy: 'linear' },
            consumer: { topic: '#' },
            backend: [{ url_pattern: '/', host: ['http://127.0.0.1:1'] }],
            extra_config: { 'async/amqp': { host: 'amqp://127.0.0.1:1/', name: 'q', exchange: 'ex' } },
          },
        ],
      },
      { sinks, workers: { count: 2, program, args: [] } },
    );
    const { port } = await gateway.listen();
    await until(() => lines.some((line) => line.includes('too many retries')));
    equal(lines.filter((line) => line.includes('Starting the consumer')).length, 2);
    const health = async () => (await (await fetch(`http://127.0.0.1:${port}/__health`)).json()) as { agents: object };
    deepEqual((await health()).agents, { orders: null });
    ok(lines.every((line) => !line.includes('undefined')));
  });
});
