import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { command } from '../../support/programs.ts';
import { openRaw, statusesOf } from './raw.ts';

const get = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';

describe('a gateway process', () => {
  let directory: string;
  let backend: TestBackend;
  /** Delayed responses of the backend. */
  let held: ServerResponse[];
  let arrived: () => void;
  let child: ChildProcess | null = null;
  let output: string;
  let spawned: () => void;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-'));
    backend = await startBackend((seen, response) => {
      if (seen.target === '/stream') response.writeHead(200, { 'Content-Type': 'text/plain' }).write('first');
      held.push(response);
      arrived();
    });
  });
  beforeEach(() => {
    held = [];
    arrived = () => {};
    output = '';
    spawned = () => {};
  });
  afterEach(() => {
    child?.kill('SIGKILL');
    child = null;
  });
  after(async () => {
    await backend.close();
    await rm(directory, { recursive: true });
  });

  const holding = (count: number): Promise<void> =>
    new Promise((resolve) => {
      arrived = () => {
        if (held.length >= count) resolve();
      };
      arrived();
    });

  /** Starts the command in a separate process, and waits until it ends. */
  const run = async (port: number, settings: object = {}): Promise<number | null> => {
    const file = join(directory, `${port}.json`);
    const config = {
      version: 3,
      host: [backend.url],
      timeout: '60s',
      port,
      listen_ip: '127.0.0.1',
      endpoints: [
        { endpoint: '/x', backend: [{ url_pattern: '/x' }] },
        { endpoint: '/stream', output_encoding: 'no-op', backend: [{ url_pattern: '/stream' }] },
      ],
      ...settings,
    };
    await writeFile(file, JSON.stringify(config));
    const env = { ...process.env, GATEWAY_ADMIN_LISTEN: 'off', GATEWAY_STATE_DIR: directory };
    child = spawn(process.execPath, [command, 'run', '-c', file], { stdio: ['ignore', 'pipe', 'pipe'], env });
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk));
    spawned();
    const [code] = await once(child, 'exit');
    return code;
  };

  const reported = async (text: string): Promise<void> => {
    const { stderr, stdout } = child!;
    while (!output.includes(text)) await Promise.race([once(stderr!, 'data'), once(stdout!, 'data')]);
  };

  const started = async (settings: object = {}): Promise<{ port: number; exit: Promise<number | null> }> => {
    const port = await freePort();
    const running = new Promise<void>((resolve) => {
      spawned = resolve;
    });
    const exit = run(port, settings);
    await running;
    await reported('Listening on port');
    return { port, exit };
  };

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`completes pending requests after ${signal}, accepts no new ones, and exits with 0`, async () => {
      const { port, exit } = await started();
      const [busy, idle, silent] = await Promise.all([openRaw(port), openRaw(port), openRaw(port)]);
      idle.write('GET /__health HTTP/1.1\r\nHost: a\r\n\r\n');
      await idle.until((received) => received.includes('"status":"ok"'));
      busy.write(get + get);
      await holding(1);
      child!.kill(signal);
      await reported(signal);
      await Promise.all([idle.ended(), silent.ended()]);
      await rejected(port);
      held[0]!.writeHead(200, { 'Content-Type': 'application/json' }).end('{"a":1}');
      const received = await busy.ended();
      deepEqual(statusesOf(received), [200]);
      match(received, /\r\nConnection: close\r\n/i);
      equal(await exit, 0);
      match(output, /1 request/);
    });
  }

  it('waits for a stream to end, then closes its connection', async () => {
    const { port, exit } = await started();
    const client = await openRaw(port);
    client.write('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((received) => received.includes('first'));
    child!.kill('SIGTERM');
    await reported('SIGTERM');
    held[0]!.end('last');
    match(await client.ended(), /last\r\n0\r\n\r\n$/);
    equal(await exit, 0);
  });

  it('waits no longer than max_shutdown_wait_time', async () => {
    const { port, exit } = await started({ max_shutdown_wait_time: '100ms' });
    const client = await openRaw(port);
    client.write(get);
    await holding(1);
    child!.kill('SIGTERM');
    equal(await client.ended(), '');
    equal(await exit, 0);
  });

  it('exits at once after a second signal', async () => {
    const { port, exit } = await started();
    const client = await openRaw(port);
    client.write(get);
    await holding(1);
    child!.kill('SIGTERM');
    await reported('SIGTERM');
    child!.kill('SIGTERM');
    equal(await exit, 1);
    equal(await client.ended(), '');
  });

  it('exits with an error if its port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const code = await run(port, { extra_config: {} });
    taken.close();
    ok(code !== 0 && code !== null);
    match(output, new RegExp(`ERROR cannot listen on 127\\.0\\.0\\.1:${port}: address already in use`));
    ok(!output.includes('Listening on port'));
  });

  it('exits with an error if its address does not exist', async () => {
    const code = await run(await freePort(), { listen_ip: '203.0.113.1' });
    ok(code !== 0 && code !== null);
    match(output, /ERROR.*203\.0\.113\.1/);
  });
});

/** Asserts that a port accepts no more connections. */
async function rejected(port: number): Promise<void> {
  try {
    const client = await openRaw(port);
    client.socket.destroy();
  } catch (error) {
    equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
    return;
  }
  throw new Error('a connection was taken');
}
