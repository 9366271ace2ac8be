import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ChannelModel, connect } from 'amqplib';
import { freePort } from './conditions.ts';
import { isInstalled } from './debian.ts';

const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const CONTROL = '/usr/lib/rabbitmq/bin/rabbitmqctl';
const run = promisify(execFile);

/** Addition to the title of a skipped suite. */
export const withoutRabbit = isInstalled(SERVER, 'rabbitmq-server') ? null : 'apt-get install rabbitmq-server';

/** Maximum startup time of a broker on a busy machine, in milliseconds. */
export const OPENING_MS = 90_000;

/** A RabbitMQ for tests on the loopback address. It needs about 8 seconds to start, and 130 MB. */
export interface TestRabbit {
  readonly port: number;
  /** URL of the broker, with the user `guest`. */
  readonly url: string;
  /** URL of the broker over TLS; empty without a certificate. */
  readonly tlsUrl: string;
  /** A connection of the test, closed with the broker at the latest. */
  connect(): Promise<ChannelModel>;
  /** Dead-letters messages of a queue to another one from now on, regardless of its declaration. */
  deadLetter(from: string, to: string): Promise<void>;
  /** Suspends the process. */
  pause(): void;
  resume(): void;
  /** Kills the process; durable data is kept. */
  stop(): Promise<void>;
  /** Restarts at the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** @param tls the certificate of a second port. */
export async function startRabbit(tls?: {
  readonly certificate: string;
  readonly privateKey: string;
}): Promise<TestRabbit> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-rabbitmq-'));
  const at = (name: string) => join(directory, name);
  const [port, tlsPort, distribution, epmdPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  writeFileSync(at('plugins'), '[].\n');
  writeFileSync(
    at('rabbitmq.conf'),
    [
      'loopback_users = none',
      'disk_free_limit.absolute = 1MB',
      ...(tls
        ? [
            `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
            `ssl_options.certfile = ${tls.certificate}`,
            `ssl_options.keyfile = ${tls.privateKey}`,
            'ssl_options.verify = verify_none',
          ]
        : []),
      '',
    ].join('\n'),
  );
  const env = {
    ...process.env,
    HOME: directory,
    RABBITMQ_NODENAME: `sluice${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: at('mnesia'),
    RABBITMQ_LOG_BASE: at('log'),
    RABBITMQ_PID_FILE: at('pid'),
    RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: at('plugins'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none',
    // Prevents a crash from writing a dump into the working directory.
    ERL_CRASH_DUMP_SECONDS: '0',
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  // Starts this process separately, because the broker would leave it running when it stops.
  const epmd = spawn('epmd', [], { env, stdio: 'ignore' });
  const connections = new Set<ChannelModel>();
  let server: ChildProcess | null = null;
  const url = `amqp://guest:guest@127.0.0.1:${port}/`;
  const open = async () => {
    const connection = await connect(url);
    connections.add(connection);
    connection.on('error', () => {});
    connection.once('close', () => connections.delete(connection));
    return connection;
  };
  /** The started process is a script that ends with the broker; signals are sent to the broker itself. */
  const signal = (name: NodeJS.Signals) => {
    const pid = Number(readFileSync(at('pid'), 'utf8'));
    process.kill(pid, name);
  };
  const self: TestRabbit = {
    port,
    url,
    tlsUrl: tls ? `amqps://guest:guest@127.0.0.1:${tlsPort}/` : '',
    connect: open,
    async deadLetter(from, to) {
      const definition = JSON.stringify({ 'dead-letter-exchange': '', 'dead-letter-routing-key': to });
      await run(CONTROL, ['set_policy', from, `^${from}$`, definition, '--apply-to', 'queues'], { env });
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async stop() {
      if (!server) return;
      const ended = once(server, 'exit');
      signal('SIGKILL');
      await ended;
      server = null;
    },
    async start() {
      rmSync(at('pid'), { force: true });
      const broker = spawn(SERVER, [], { env, stdio: ['ignore', 'pipe', 'ignore'] });
      server = broker;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let output = '';
      broker.stdout.on('data', (chunk) => {
        output += chunk;
        // Waits for the line that the broker prints once it accepts connections.
        if (/completed with \d+ plugins/.test(output)) resolve();
      });
      broker.once('exit', (code) => reject(new Error(`RabbitMQ ended with ${code}`)));
      await promise;
    },
    async close() {
      for (const connection of connections) await connection.close().catch(() => {});
      await self.stop();
      const ended = once(epmd, 'exit');
      epmd.kill('SIGKILL');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    await self.start();
  } catch (error) {
    await self.close();
    throw error;
  }
  return self;
}
