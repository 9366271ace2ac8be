import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { lookup, Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { unguarded } from '../../../kernel/net/guard-connections.ts';
import { refuseConnections } from '../../../kernel/sandbox/refuse-connections.ts';
import { type Session, within } from '../../../kernel/sandbox/session.ts';

describe('the connection guard of a sandbox', () => {
  const refused: string[] = [];
  const own = Socket.prototype.connect;
  const ownLookup = lookup;
  const session: Session = {
    respond: () => null,
    refused: ({ address }) => void refused.push(address),
    logged() {},
  };
  const failureOf = (open: (fail: (error: Error) => void) => void) =>
    within(session, () => new Promise<Error>((resolve) => open(resolve)));
  let end: () => void;
  beforeEach(() => {
    refused.length = 0;
    end = refuseConnections();
  });
  afterEach(() => end());

  const rows: readonly (readonly [name: string, address: string, open: (fail: (error: Error) => void) => void])[] = [
    ['sockets', '192.0.2.1:9', (fail) => connect(9, '192.0.2.1').on('error', fail)],
    ['sockets with options', '192.0.2.1:9', (fail) => connect({ host: '192.0.2.1', port: 9 }).on('error', fail)],
    ['Unix sockets', '/run/none.sock', (fail) => connect('/run/none.sock').on('error', fail)],
    ['HTTP/2 sessions', '192.0.2.1:9', (fail) => connectHttp2('https://192.0.2.1:9').on('error', fail)],
    ['fetch', 'users.invalid:443', (fail) => void fetch('https://users.invalid').catch(({ cause }) => fail(cause))],
    [
      'datagrams',
      '192.0.2.1:9',
      (fail) => {
        const socket = createSocket('udp4');
        socket.send('x', 9, '192.0.2.1', (error) => socket.close(() => fail(error!)));
      },
    ],
  ];
  for (const [name, address, open] of rows) {
    it(`refuses ${name}, and names the destination`, async () => {
      match((await failureOf(open)).message, /the sandbox refuses connections/);
      deepEqual(refused, [address]);
    });
  }

  it('refuses DNS lookups of hosts and services', async () => {
    await within(session, () => rejects(lookup('users.invalid'), /refuses connections/));
    await within(session, () => rejects(new Resolver().resolveSrv('users.invalid'), /refuses connections/));
    equal(refused.length, 2);
  });

  it('permits connections that a function opens before it returns, and refuses later ones', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = () => connect(port, '127.0.0.1');
    const socket = within(session, () => unguarded(open));
    await once(socket, 'connect');
    const later = within(session, () => unguarded(() => Promise.resolve().then(open)));
    await rejects(
      later.then((refusedSocket) => once(refusedSocket, 'connect')),
      /refuses connections/,
    );
    deepEqual(refused, [`127.0.0.1:${port}`]);
    socket.destroy();
    server.close();
  });

  it('refuses connections again after a function has thrown', async () => {
    throws(() =>
      unguarded(() => {
        throw new Error('no');
      }),
    );
    match((await failureOf((fail) => connect(9, '192.0.2.1').on('error', fail))).message, /refuses connections/);
  });

  it('permits lookups of services in sessions that look them up', async () => {
    const looking = { ...session, looksUp: true };
    await within(looking, () =>
      rejects(new Resolver().resolveSrv('users.invalid'), /ENOTFOUND|ESERVFAIL|ECONNREFUSED/),
    );
    deepEqual(refused, []);
  });

  it('restores the network functions of Node.js after the last sandbox', async () => {
    const patched = Socket.prototype.connect;
    const other = refuseConnections();
    other();
    other();
    equal(Socket.prototype.connect, patched);
    end();
    equal(Socket.prototype.connect, own);
    equal(lookup, ownLookup);
  });
});
