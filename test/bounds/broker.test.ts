import { equal, match, rejects, throws } from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import type { ConfirmChannel } from 'amqplib';
import { Call } from '#contract';
import { silentLog } from '../../kernel/contract/internal.ts';
import { DeniedAddresses } from '../../kernel/net/denied-addresses.ts';
import type { AmqpLink } from '../../plugins/clients/amqp/link.ts';
import { Publisher } from '../../plugins/clients/amqp/publisher.ts';
import { TopicQueue } from '../../plugins/clients/kafka/producer/producer.ts';
import { NatsConnection, openNats } from '../../plugins/clients/nats/connection.ts';
import { Connection } from '../../plugins/clients/redis/connection.ts';
import { defineScript } from '../../plugins/clients/redis/script.ts';
import { standardTls } from '../../plugins/clients/tls/client-tls.ts';
import { until } from '../support/conditions.ts';

const MEBIBYTE = 1024 * 1024;
const count = 10_000;

/** Plain TCP servers that accept all data and confirm nothing. */
describe('a client of a message broker or of Redis, with pending data,', function () {
  this.timeout(60_000);
  let server: Server;
  const sockets = new Set<Socket>();
  let greet: (socket: Socket) => void;

  beforeEach(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
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

  const port = (): number => (server.address() as { port: number }).port;

  it('rejects AMQP messages if ten thousand are unconfirmed', () => {
    const channel = { on() {}, prependListener() {}, publish() {} } as unknown as ConfirmChannel;
    const link = { blocked: null } as AmqpLink;
    const message = (bytes: number) => ({ routingKey: 'a', content: new Uint8Array(bytes), properties: {} });
    const many = new Publisher(channel, link, 'e', false);
    for (let sent = 0; sent < count; sent++) void many.publish(message(1), new Call());
    throws(() => many.publish(message(1), new Call()), /has not confirmed 10000 messages/);
    const large = new Publisher(channel, link, 'e', false);
    for (let sent = 0; sent < 64; sent++) void large.publish(message(MEBIBYTE), new Call());
    throws(() => large.publish(message(1), new Call()), /has not confirmed 64 messages/);
  });

  it('rejects Kafka records if ten thousand are pending', async () => {
    const record = { payload: Buffer.alloc(0), headers: [] };
    const never = new Promise<never>(() => {});
    const many = new TopicQueue(() => never, MEBIBYTE);
    for (let waiting = 0; waiting < count; waiting++) void many.add(record, 1, new Call());
    await rejects(many.add(record, 1, new Call()), /10000 records wait to be written/);
    const large = new TopicQueue(() => never, 64 * MEBIBYTE);
    for (let waiting = 0; waiting < 64; waiting++) void large.add(record, MEBIBYTE, new Call());
    await rejects(large.add(record, 1, new Call()), /64 records wait to be written/);
  });

  describe('for NATS', () => {
    const settings = () => ({
      servers: [`127.0.0.1:${port()}`],
      user: undefined,
      password: undefined,
      token: undefined,
      needsTls: false,
      tls: standardTls(),
      denied: new DeniedAddresses(),
    });
    beforeEach(() => {
      greet = (socket) => {
        socket.write(`INFO {"version":"2.9.0","proto":1,"headers":true,"max_payload":${MEBIBYTE}}\r\n`);
        socket.once('data', () => socket.resume().write('PONG\r\n'));
      };
    });

    it('rejects messages if more than 64 MiB are unconfirmed', async () => {
      const connection = new NatsConnection(settings(), 'NATS');
      connection.open(silentLog);
      const message = { payload: Buffer.alloc(MEBIBYTE), headers: [] };
      await until(() => connection.isConnected);
      const calls = Array.from({ length: 64 }, () => new Call());
      const sent = calls.map((call) => connection.publish('a', message, call).catch(() => {}));
      await rejects(connection.publish('a', message, new Call()), /the server has not confirmed too many messages/);
      for (const call of calls) call.cancel();
      await Promise.all(sent);
      await connection.close();
    });

    it('counts rejections for at most a thousand subjects', async () => {
      const link = await openNats(settings(), () => {}, new AbortController().signal);
      const [socket] = sockets;
      const refusal = (at: number) => `-ERR 'Permissions Violation for Publish to "s${at}"'\r\n`;
      for (let at = 0; at <= 1000; at++) socket!.write(refusal(at));
      socket!.write(refusal(0));
      await until(() => link.refusals.get('s0') === 2);
      equal(link.refusals.size, 1000);
      await link.close();
    });
  });

  it('rejects Redis commands if ten thousand are pending', async () => {
    greet = (socket) => void socket.once('data', () => socket.resume().write('+PONG\r\n'));
    const connection = new Connection(
      {
        name: 'counters',
        kind: 'server',
        addresses: [{ host: '127.0.0.1', port: port() }],
        username: undefined,
        password: undefined,
        clientName: undefined,
        database: 0,
        maxRedirects: 3,
        master: null,
        connectMs: 50_000,
        commandMs: 50_000,
        backoffMs: { least: 5, most: 20 },
        tls: null,
      },
      silentLog,
    );
    connection.open(silentLog);
    const script = defineScript('return 1');
    const run = () => connection.run(script, ['n'], [], new Call());
    const first = run().catch(() => {});
    await until(() => sockets.size === 1);
    const waiting: Promise<unknown>[] = [first];
    let refused: Error | null = null;
    await until(async () => {
      // The server never completes the handshake, so that commands wait for the connection.
      await new Promise((resolve) => setImmediate(resolve));
      for (let at = 0; at < 1000; at++) {
        waiting.push(
          run().catch((error: Error) => {
            refused ??= error;
          }),
        );
      }
      await new Promise((resolve) => setImmediate(resolve));
      return refused !== null;
    });
    match((refused as Error | null)?.message ?? '', /has not responded to 10000 commands/);
    equal(waiting.length <= count + 2000, true);
    connection.close();
    await Promise.all(waiting);
  });
});
