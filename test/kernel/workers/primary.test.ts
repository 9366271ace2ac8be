import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { command as program } from '../../support/programs.ts';

describe('a gateway command with workers', () => {
  let backend: TestBackend;
  let directory: string;
  let file: string;
  let port: number;
  let child: ChildProcess;

  beforeEach(async () => {
    backend = await startBackend(json({ ok: true }));
    directory = await mkdtemp(join(tmpdir(), 'sluice-primary-'));
    file = join(directory, 'gateway.json');
    port = await freePort();
    await writeFile(file, JSON.stringify(config('one')));
    child = await start();
  });

  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await backend.close();
    await rm(directory, { recursive: true });
  });

  const config = (name: string, path = '/a') => ({
    version: 3,
    name,
    port,
    listen_ip: '127.0.0.1',
    extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true }, router: { disable_access_log: true } },
    endpoints: [{ endpoint: path, backend: [{ host: [backend.url], url_pattern: '/' }] }],
  });

  async function start(): Promise<ChildProcess> {
    const started = spawn(process.execPath, [program, 'run', '-c', file, '--workers', '2', '--no-watch'], {
      env: { ...process.env, GATEWAY_ADMIN_LISTEN: 'off', GATEWAY_STATE_DIR: directory },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    started.stdout!.on('data', (text) => {
      printed += text;
    });
    // Waits for the line that is printed once all workers listen, because a response would only prove that one of them
    // does.
    await until(() => printed.includes('Listening on port'));
    return started;
  }

  const status = (path: string): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );

  const workers = (): number[] =>
    readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

  it('reloads its file on SIGHUP in every worker', async () => {
    await writeFile(file, JSON.stringify(config('two', '/b')));
    child.kill('SIGHUP');
    await until(async () => (await status('/b')) === 200);
    const statuses = await Promise.all(Array.from({ length: 8 }, () => status('/b')));
    deepEqual(statuses, Array(8).fill(200));
  });

  it('leaves no worker and no open port when its main process is killed, and can start again', async () => {
    const pids = workers();
    equal(pids.length, 2);
    child.kill('SIGKILL');
    await until(() => pids.every((pid) => !isAlive(pid)));
    equal(await status('/a'), 0);
    child = await start();
    equal(await status('/a'), 200);
  });

  it('continues to serve if a worker is killed', async () => {
    const [first] = workers();
    process.kill(first!, 'SIGKILL');
    await until(() => workers().length === 2 && !workers().includes(first!));
    const statuses = await Promise.all(Array.from({ length: 8 }, () => status('/a')));
    deepEqual(statuses, Array(8).fill(200));
  });

  it('exits with 0 on SIGTERM', async () => {
    const pids = workers();
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    equal(code, 0);
    await until(() => pids.every((pid) => !isAlive(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
