import { equal, match, ok, rejects } from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Call } from '#contract';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { readAmqpAddress } from '../../../../plugins/clients/amqp/address.ts';
import { keptChannel } from '../../../../plugins/clients/amqp/channel.ts';
import { AmqpConnection } from '../../../../plugins/clients/amqp/connection.ts';
import { openLink } from '../../../../plugins/clients/amqp/link.ts';
import { installFailures } from '../../../../scripts/chaos/failures/install.ts';
import { until } from '../../../support/conditions.ts';

/** A misbehaving server over plain TCP. */
describe('an AMQP client', () => {
  let server: Server;
  let sockets: Set<Socket>;
  let greet: (socket: Socket) => void;

  beforeEach(async () => {
    sockets = new Set();
    greet = () => {};
    server = createServer((socket) => {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => sockets.delete(socket))
        .resume();
      greet(socket);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const settings = (options = 'connection_timeout=100') => ({
    address: readAmqpAddress(`amqp://ann:s3cret@127.0.0.1:${(server.address() as { port: number }).port}/?${options}`),
    tls: null,
    denied: new DeniedAddresses(),
  });
  const { signal } = new AbortController();

  it('fails after the timeout if the broker accepts the connection but stays silent, and closes the socket', async () => {
    await rejects(openLink(settings(), signal), /not connected within 100ms/);
    await until(() => sockets.size === 0);
  });

  it('applies the timeout to the whole handshake if the broker sends single bytes', async () => {
    greet = (socket) => {
      const timer = setInterval(() => socket.write('A'), 20);
      socket.once('close', () => clearInterval(timer));
    };
    await rejects(openLink(settings(), signal), /not connected within 100ms|Invalid frame/);
    await until(() => sockets.size === 0);
  });

  it('reports a server that does not speak AMQP', async () => {
    greet = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    await rejects(openLink(settings(), signal));
    await until(() => sockets.size === 0);
  });

  it('fails if the broker closes the connection during the handshake', async () => {
    greet = (socket) => socket.end();
    await rejects(openLink(settings(), signal), /closed abruptly/);
  });

  it('reports unexpected data after the handshake as the reason, and closes the connection', async () => {
    const frame = (method: string) => Buffer.from(`010000${`0000000${method.length / 2}`.slice(-8)}${method}ce`, 'hex');
    const said = [
      Buffer.from('0100000000001c000a000a00090000000000000005504c41494e00000005656e5f5553ce', 'hex'),
      Buffer.from('0100000000000c000a001e0064000200000000ce', 'hex'),
      Buffer.concat([frame('000a002900'), frame('000a002900')]),
    ];
    greet = (socket) => socket.on('data', () => said.length > 0 && socket.write(said.shift()!));
    await rejects(openLink(settings('connection_timeout=5000'), signal), /Unexpected frame on channel 0/);
    await until(() => sockets.size === 0);
  });

  it('rejects a frame of gigabytes without buffering it', async () => {
    greet = (socket) => socket.write(Buffer.from([1, 0, 0, 0x7f, 0xff, 0xff, 0xff, 1]));
    await rejects(openLink(settings('connection_timeout=5000'), signal), /exceeds/);
    await until(() => sockets.size === 0);
  });

  it('closes its connection during the handshake if it is closed', async () => {
    const connection = new AmqpConnection(settings('connection_timeout=60000'));
    const refused = rejects(connection.link(), /closed/);
    await until(() => sockets.size === 1);
    await connection.close();
    await refused;
    await until(() => sockets.size === 0);
  });

  it('shares one connection attempt between concurrent users', async () => {
    let requested = 0;
    greet = (socket) => {
      requested++;
      socket.end();
    };
    const connection = new AmqpConnection(settings());
    await Promise.all([rejects(connection.link()), rejects(connection.link())]);
    equal(requested, 1);
    await rejects(connection.link());
    equal(requested, 2);
    await connection.close();
  });

  it('delays a request no longer than its deadline, and fails requests immediately after the first attempt', async () => {
    const lines: string[] = [];
    const note = (line: string | (() => string)) => void lines.push(String(line));
    const log = { ...silentLog, error: note } as typeof silentLog;
    const connection = new AmqpConnection(settings('connection_timeout=300'));
    const reconnection = { maxRetries: 1, strategy: 'linear' } as const;
    const channel = keptChannel(connection, { open: async () => 'open' });
    channel.open(log, reconnection);
    const impatient = new Call(silentLog, 50);
    await rejects(async () => channel.current(impatient), /deadline/);
    const patient = new Call(silentLog, 5000);
    await rejects(async () => channel.current(patient), /connection not available, trying to reconnect/);
    // Later requests fail immediately instead of waiting.
    const refused = rejects(async () => channel.current(patient), /connection not available/);
    equal(await Promise.race([refused.then(() => 'at once'), turn().then(() => 'later')]), 'at once');
    match(lines[0]!, /not connected within 300ms/);
    ok(!lines.join().includes('s3cret'));
    impatient.finish();
    patient.finish();
    await Promise.all([channel.close(), connection.close()]);
  });

  it('does not wait for an unresponsive broker when its channel is closed', async () => {
    const connection = new AmqpConnection(settings('connection_timeout=60000'));
    const channel = keptChannel(connection, { open: async () => 'open' });
    channel.open(silentLog, { maxRetries: 0, strategy: 'linear' });
    await until(() => sockets.size === 1);
    const began = performance.now();
    await channel.close();
    await connection.close();
    ok(performance.now() - began < 9000);
    await until(() => sockets.size === 0);
  });

  it('stops waiting for an unresponsive name server after the timeout or on cancellation', async () => {
    const denied = new DeniedAddresses();
    const { port } = server.address() as { port: number };
    denied.deny({ address: '127.0.0.1', port });
    const { remove } = await installFailures({ seed: 1, faults: [{ operation: 'lookup', delayMs: 60_000 }] });
    try {
      await rejects(openLink({ ...settings(), denied }, signal), /not connected within 100ms/);
      const cancelled = new AbortController();
      const opening = openLink({ ...settings('connection_timeout=30000'), denied }, cancelled.signal);
      cancelled.abort();
      await rejects(opening, /closed/);
    } finally {
      remove();
    }
    equal(sockets.size, 0);
  });

  it("never connects to the gateway's own admin port", async () => {
    const denied = new DeniedAddresses();
    const { port } = server.address() as { port: number };
    denied.deny({ address: '127.0.0.1', port });
    await rejects(openLink({ ...settings(), denied }, signal), /admin port/);
    equal(sockets.size, 0);
  });
});
