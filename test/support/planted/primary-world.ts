import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSinks } from '../../../kernel/logging/index.ts';
import { ownerOf } from '../../../scripts/fuzz/reload/kills.ts';
import { freePort, until } from '../conditions.ts';
import { openGateway } from '../gateway.ts';
import { bundledProgram } from '../programs.ts';
import type { World } from './world.ts';

const program = bundledProgram();

/** The primary process of two workers, one of which is killed again and again. */
export async function makeWorld(write: (line: string) => void): Promise<World> {
  let held: ServerResponse | null = null;
  const backend = createServer((message, response) => {
    response.setHeader('content-type', 'application/json');
    if (message.url === '/held') held = response;
    else response.end('{"a":1}');
  }).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const host = [`http://127.0.0.1:${(backend.address() as AddressInfo).port}`];
  const port = await freePort();
  let round = 0;
  const config = () => ({
    version: 3,
    name: `planted ${round}`,
    port,
    listen_ip: '127.0.0.1',
    extra_config: {
      'admin/reload': { drain_timeout: '600s', max_draining: 100 },
      'telemetry/logging': { level: 'INFO', stdout: true },
    },
    endpoints: ['/held', '/quick'].map((path) => ({
      endpoint: path,
      timeout: '600s',
      backend: [{ host, url_pattern: path }],
    })),
  });
  const output = {
    write(bytes: Uint8Array, done: () => void): void {
      for (const line of Buffer.from(bytes).toString().split('\n')) write(line);
      done();
    },
  };
  const gateway = await openGateway(config() as never, {
    sinks: createSinks({ stdout: output, stderr: output }),
    workers: { count: 2, program, args: [] },
  });
  await gateway.listen();
  const { processes } = gateway;
  const url = `http://127.0.0.1:${port}`;
  const ask = async (): Promise<void> => {
    const signal = AbortSignal.timeout(4_000);
    const response = await fetch(`${url}/quick`, { headers: { connection: 'close' }, signal });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`/quick: ${response.status}`);
  };
  const works = async (): Promise<void> => {
    await until(() => processes.converged);
    await ask();
    await ask();
  };
  const pids = (): number[] => processes.workers.map(({ pid }) => pid ?? 0);
  return {
    gateway,
    url,
    rooms: ['kernel/workers/'],
    steps: {
      'a change': async () => {
        round += 1;
        await gateway.reload(config() as never);
        await ask();
      },
      'a worker that dies': async () => {
        await until(() => processes.converged);
        const { remotePort, localPort } = held?.socket ?? {};
        const holder = remotePort && ownerOf(remotePort, localPort!, pids());
        const victim = pids().find((pid) => pid !== holder && pid > 0)!;
        process.kill(victim, 'SIGKILL');
        await until(() => !pids().includes(victim));
        await works();
      },
    },
    works: { 'a worker that dies': works },
    isHeld: () => held !== null,
    async release() {
      held!.end('{}');
    },
    async close() {
      await gateway.close();
      backend.closeAllConnections();
      backend.close();
    },
  };
}
