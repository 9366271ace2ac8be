import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisClient } from '@redis/client';
import { freePort, until } from './conditions.ts';
import { isInstalled } from './debian.ts';

/** Addition to the title of a skipped suite. */
export const withoutRedis = isInstalled('redis-server') ? null : 'apt-get install redis-server';

/** The same options as the gateway's, so that the library reuses its class of clients, which takes 19 ms to create. */
const COMMANDS = { RESP: 2 } as const;

/** A Redis for tests, on the loopback address. */
export interface TestRedis {
  readonly port: number;
  readonly address: string;
  /** The server's reply to a command, over a connection of the test. */
  command(...command: (string | Buffer)[]): Promise<unknown>;
  /** Suspends the process. */
  pause(): void;
  resume(): void;
  /** Kills the process; no data is kept. */
  stop(): Promise<void>;
  /** Restarts at the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** @param options command-line options. @param tls settings of the test's connections. @param program command line of the server. */
export async function startRedis(
  options: readonly string[] = [],
  tls?: object,
  program: readonly string[] = ['redis-server'],
): Promise<TestRedis> {
  const [command, ...before] = program;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  const port = await freePort();
  const where = tls ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
  const fixed = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory];
  let server: ChildProcess | null = null;
  const client = RedisClient.factory(COMMANDS)({
    ...COMMANDS,
    socket: { host: '127.0.0.1', port, reconnectStrategy: 20, ...(tls && { tls: true as const, ...tls }) },
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  client.on('error', () => {});
  const self: TestRedis = {
    port,
    address: `127.0.0.1:${port}`,
    command: (...command) => client.sendCommand(command),
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    async stop() {
      if (!server) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      server = null;
    },
    async start() {
      const mode = options[0]?.endsWith('.conf') ? [options[0], ...where, ...options.slice(1)] : [...where, ...options];
      server = spawn(command!, [...before, ...mode, ...fixed], { stdio: 'ignore' });
      if (!client.isOpen) await client.connect();
      await until(async () => {
        try {
          await client.sendCommand(['PING']);
          return true;
        } catch (error) {
          return /^NOAUTH|^NOPERM/.test((error as Error).message);
        }
      });
    },
    async close() {
      client.destroy();
      await self.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await self.start();
  return self;
}
