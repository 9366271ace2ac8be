import { equal, rejects } from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { OwnSockets } from '../../../../plugins/clients/broker/own-sockets.ts';
import { until } from '../../../support/conditions.ts';

describe('sockets of a client library', () => {
  let server: Server;
  let port: number;
  const accepted = new Set<Socket>();

  before(async () => {
    server = createServer((socket) => {
      accepted.add(socket);
      socket.resume().on('error', () => {});
      socket.once('close', () => accepted.delete(socket));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    ({ port } = server.address() as { port: number });
  });
  after(() => new Promise((resolve) => server.close(resolve)));

  it('are closed even if the library opens them after the attempt was canceled', async () => {
    const sockets = new OwnSockets(new DeniedAddresses());
    const looked = Promise.withResolvers<void>();
    let late: Socket | undefined;
    const connecting = sockets.connect(10, new AbortController().signal, async () => {
      await looked.promise;
      late = connect(port, '127.0.0.1');
    });
    await rejects(connecting, /no response within 10ms/);
    looked.resolve();
    await until(() => late !== undefined);
    equal(late!.destroyed, true);
    await until(() => accepted.size === 0);
  });
});
