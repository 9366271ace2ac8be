import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { DeniedAddresses } from '../../../../kernel/contract/internal.ts';
import { plugin } from '../../../../plugins/telemetry/gelf/index.ts';
import { openTcp } from '../../../../plugins/telemetry/gelf/tcp.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { logsOf } from '../fixture.ts';

/** A Graylog server that records its messages, each terminated by a NUL byte. */
class Receiver {
  readonly messages: { short_message: string }[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((socket) => {
      this.sockets.add(socket);
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        text += bytes;
        const ends = text.split('\0');
        text = ends.pop()!;
        for (const message of ends) this.messages.push(JSON.parse(message));
      });
    });
  }

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe('GELF over TCP', () => {
  let receiver: Receiver;
  let logs: Awaited<ReturnType<typeof logsOf>> | undefined;

  beforeEach(() => {
    receiver = new Receiver();
  });
  afterEach(async () => {
    await logs?.close();
    logs = undefined;
  });

  const open = async (port: number, logging?: object) => {
    logs = await logsOf(plugin, { address: `127.0.0.1:${port}`, enable_tcp: true }, logging);
    return logs;
  };
  const texts = () => receiver.messages.map(({ short_message }) => short_message);

  it('terminates messages with a NUL byte, regardless of their content', async () => {
    const { log, accessSink } = await open(await receiver.listen());
    log.error('one\ntwo \0 three');
    log.info('next');
    accessSink!.write('[GATEWAY] GET "/a"\n', 'INFO');
    await until(() => receiver.messages.length === 3);
    deepEqual(texts(), ['one', 'next', '[GATEWAY] GET "/a"']);
    await receiver.close();
  });

  it('also writes to the other outputs, and keeps its connection across a reload', async () => {
    const port = await receiver.listen();
    const { log, stdout, reload } = await open(port);
    log.info('both');
    await until(() => receiver.messages.length === 1);
    await reload({ address: `127.0.0.1:${port}`, enable_tcp: true });
    log.info('again');
    await until(() => receiver.messages.length === 2);
    match(stdout.text, /INFO.*both\n.*INFO.*again\n/);
    equal(receiver.sockets.size, 1);
    await receiver.close();
  });

  it('logs a refused connection, buffers lines and sends them later', async () => {
    const port = await freePort();
    const reports: string[] = [];
    const events = { lost: (reason: string) => reports.push(reason), restored: () => reports.push('restored') };
    const connection = openTcp({ host: '127.0.0.1', port }, new DeniedAddresses(), events, 5);
    connection.write(Buffer.from('{"short_message":"held"}\n'), () => {});
    await until(() => reports.length === 1);
    deepEqual(reports, [`127.0.0.1:${port}: ECONNREFUSED`]);
    await receiver.listen(port);
    await until(() => receiver.messages.length === 1);
    deepEqual([texts(), reports[1]], [['held'], 'restored']);
    connection.close();
    await receiver.close();
  });

  it('reconnects after the server closes the connection', async () => {
    const { log } = await open(await receiver.listen());
    log.info('one');
    await until(() => receiver.messages.length === 1);
    const [first] = receiver.sockets;
    const gone = once(first!, 'close');
    first!.destroy();
    await gone;
    await until(() => {
      log.info('more');
      return receiver.messages.length > 1;
    });
    equal(receiver.sockets.size, 2);
    await receiver.close();
  });

  for (const [where, stdout] of [
    ['in the log on stdout', true],
    ['on stderr if no other log is configured', false],
  ] as const) {
    it(`reports an outage ${where}`, async () => {
      const port = await freePort();
      const { log, ...outputs } = await open(port, { level: 'INFO', stdout });
      log.info('lost?');
      const output = stdout ? outputs.stdout : outputs.stderr;
      await until(() => output.text.includes('[GELF]'));
      match(
        output.text,
        /\[SERVICE: Logging\] \[GELF\] cannot connect; log lines are buffered: 127\.0\.0\.1:\d+: ECONNREFUSED/,
      );
    });
  }

  it("never connects to the gateway's admin port", async () => {
    const port = await receiver.listen();
    const denied = { has: () => true, hasPort: () => true } as unknown as DeniedAddresses;
    const reports: string[] = [];
    const events = { lost: (reason: string) => reports.push(reason), restored() {} };
    const connection = openTcp({ host: '127.0.0.1', port }, denied, events);
    connection.write(Buffer.from('{}\n'), () => {});
    await until(() => reports.length === 1);
    deepEqual([reports, receiver.messages], [[`127.0.0.1:${port}: the gateway's own admin port`], []]);
    connection.close();
    await receiver.close();
  });
});
