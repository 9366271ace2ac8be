import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createInbox, type NatsConnection } from '@nats-io/transport-node';
import { freePort, until } from './conditions.ts';
import { isInstalled } from './debian.ts';

/** Addition to the title of a skipped suite. */
export const withoutNats = isInstalled('nats-server') ? null : 'apt-get install nats-server';

/** A NATS server for tests, on the loopback address. */
export interface TestNats {
  readonly port: number;
  readonly address: string;
  /** A connection of the test, closed with the server. */
  connect(options?: Parameters<typeof connect>[0]): Promise<NatsConnection>;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  /** Restarts at the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Sends a request without waiting for a response. @returns whether a subscriber received it: the server reports immediately that the subject has no subscriber. */
export async function isHeard(client: NatsConnection, subject: string, payload: string): Promise<boolean> {
  let isHeard = true;
  const reply = createInbox();
  const subscription = client.subscribe(reply, {
    callback: () => {
      isHeard = false;
    },
  });
  client.publish(subject, payload, { reply });
  await client.flush();
  subscription.unsubscribe();
  return isHeard;
}

/** @param options command-line options. */
export async function startNats(options: readonly string[] = []): Promise<TestNats> {
  const port = await freePort();
  let server: ChildProcess | null = null;
  const clients = new Set<NatsConnection>();
  const self: TestNats = {
    port,
    address: `nats://127.0.0.1:${port}`,
    async connect(given = {}) {
      const client = await connect({
        servers: `127.0.0.1:${port}`,
        reconnect: true,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 20,
        reconnectJitter: 0,
        ...given,
      });
      clients.add(client);
      return client;
    },
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
      const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), ...options], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      server = child;
      let log = '';
      child.stderr!.on('data', (chunk) => {
        log += chunk;
      });
      await until(() => {
        if (child.exitCode !== null) throw new Error(log);
        return log.includes('Server is ready');
      });
    },
    async close() {
      for (const client of clients) await client.close();
      await self.stop();
    },
  };
  await self.start();
  return self;
}
