import { equal, match, ok } from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { type NatsLink, openNats } from '../../../../plugins/clients/nats/connection.ts';
import { standardTls } from '../../../../plugins/clients/tls/client-tls.ts';
import { until } from '../../../support/conditions.ts';

/** A misbehaving server over plain TCP. */
describe('a misbehaving NATS server', function () {
  this.timeout(20_000);
  let server: Server;
  let sockets: Set<Socket>;
  let losses: Error[];
  /** Bytes that the client receives once it is connected. */
  let speak: (socket: Socket) => void;

  beforeEach(async () => {
    sockets = new Set();
    losses = [];
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      socket.write('INFO {"version":"2.9.0","proto":1,"headers":true,"max_payload":1048576}\r\n');
      socket.once('data', () => {
        socket.write('PONG\r\n');
        speak(socket);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = (): Promise<NatsLink> => {
    const { port } = server.address() as { port: number };
    const who = { user: undefined, password: undefined, token: undefined, needsTls: false, tls: standardTls() };
    const settings = { servers: [`127.0.0.1:${port}`], ...who, denied: new DeniedAddresses() };
    return openNats(settings, (error) => losses.push(error), new AbortController().signal);
  };
  /** Accepts both messages, because the connection can be lost immediately or soon after it was opened. */
  const lossOf = async (): Promise<Error> => {
    const link = await open().catch((error) => void losses.push(error));
    await until(() => losses.length > 0 && sockets.size === 0);
    await link?.close();
    equal(losses.length, 1);
    return losses[0]!;
  };

  for (const [what, text] of [
    ['bytes of another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['a message without a length', 'MSG a 1 -1\r\n'],
    ['a message of terabytes', 'MSG a 1 9999999999999\r\n'],
    ['a message without subject and ID', 'MSG a\r\n'],
    ['headers longer than their message', 'HMSG a 1 9 3\r\nabc\r\n'],
    ['server information that is not valid JSON', 'INFO {"version"\r\n'],
  ] as const) {
    it(`is disconnected immediately if it sends ${what}, and the reason is logged`, async () => {
      speak = (socket) => void setImmediate(() => socket.write(text));
      const { message } = await lossOf();
      match(message, /^the server does not speak the NATS protocol: "/);
      ok(message.length < 150);
    });
  }

  it('is disconnected if it sends another protocol before the connection is established', async () => {
    server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      socket.resume().write('INFO {"version":"2.9.0","proto":1}\r\nnonsense');
    });
    match((await lossOf()).message, /^the server does not speak the NATS protocol: /);
  });

  it('is disconnected if it sends an endless line', async () => {
    const sent = { bytes: 0 };
    speak = (socket) => {
      const send = () => {
        if (socket.destroyed) return;
        sent.bytes += 65_536;
        socket.write(`${sent.bytes === 65_536 ? '-ERR ' : ''}${'x'.repeat(65_536)}`, send);
      };
      send();
    };
    match((await lossOf()).message, /a line without a line break/);
    ok(sent.bytes < 64 * 1024 * 1024);
  });
});
