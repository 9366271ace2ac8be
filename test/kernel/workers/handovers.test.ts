import { equal, rejects } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import type { Operations } from '#kernel';
import { freePort, until } from '../../support/conditions.ts';
import { openGateway } from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';

const program = bundledProgram();

describe('a connection that a worker has not accepted', function () {
  this.timeout(60_000);
  let gateway: Operations;

  const start = async (workers: number, port: number): Promise<void> => {
    gateway = await openGateway(config(port), { workers: { count: workers, program, args: [] } });
    await gateway.listen();
  };
  afterEach(() => gateway.close());

  it('is served by another worker if the first worker is killed, and the port can be closed later', async () => {
    const port = await freePort();
    await start(2, port);
    const { pid } = gateway.processes.workers[0]!;
    process.kill(pid!, 'SIGSTOP');
    let answered = 0;
    const statuses = Array.from({ length: 4 }, async () => {
      const status = await ask(port);
      answered += 1;
      return status;
    });
    await until(() => answered === 3);
    process.kill(pid!, 'SIGKILL');
    for (const status of await Promise.all(statuses)) equal(status, 404);
    await until(() => gateway.processes.converged && gateway.processes.workers[0]!.pid !== pid);
    const next = await freePort();
    await gateway.reload(config(next));
    equal(await ask(next), 404);
    await until(() =>
      ask(port).then(
        () => false,
        ({ code }) => code === 'ECONNREFUSED',
      ),
    );
  });

  it('is closed when the only worker is killed', async () => {
    const port = await freePort();
    await start(1, port);
    const { pid } = gateway.processes.workers[0]!;
    process.kill(pid!, 'SIGSTOP');
    const before = descriptors();
    const asked = ask(port);
    const failed = rejects(asked, /socket hang up|ECONNRESET/);
    // The connection opens two descriptors: one in the client, one in the primary.
    await until(() => descriptors() >= before + 2);
    process.kill(pid!, 'SIGKILL');
    await failed;
    await until(() => gateway.processes.converged);
    equal(await ask(port), 404);
  });
});

function config(port: number): { version: 3 } {
  const host = ['http://127.0.0.1:9'];
  const endpoints = [{ endpoint: '/a', backend: [{ host, url_pattern: '/' }] }];
  return { version: 3, port, listen_ip: '127.0.0.1', endpoints } as { version: 3 };
}

/** Requests an unknown path over a new connection. */
function ask(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/nothing', agent: false }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode!));
    }).once('error', reject);
  });
}

/** Number of open descriptors of this process. */
function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
