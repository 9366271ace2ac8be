import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { lookup, Resolver } from 'node:dns/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, Socket } from 'node:net';
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
