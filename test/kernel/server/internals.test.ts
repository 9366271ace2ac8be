import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer as createPort, type Server as Port, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connect as connectTls, createSecureContext, createServer as createTlsServer } from 'node:tls';
import Koa from 'koa';
import {
  beforeFirstRead,
  carrierOf,
  decideUpgrades,
  forgetFirstRead,
  handConnection,
  isDisconnected,
  openConnections,
  respondByKoa,
  untaken,
  useContext,
  watchTimeouts,
} from '../../../kernel/server/port/internals.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';

describe('undocumented features of Node.js and Koa that the gateway uses', () => {
  const open: Port[] = [];
  afterEach(() => {
    for (const port of open.splice(0)) port.close();
  });

  /** A port that passes its connections to another server. */
  async function portTo(take: (socket: Socket) => void): Promise<number> {
    const port = createPort(take).listen(0, '127.0.0.1');
    open.push(port);
    await once(port, 'listening');
    return (port.address() as AddressInfo).port;
  }

  it('let an HTTP server serve connections that it has not accepted itself, and close late ones', async () => {
    const server = createServer({ connectionsCheckingInterval: 5 }, (_message, response) => response.end('hi'));
    watchTimeouts(server);
    const port = await portTo((socket) => handConnection(server, socket));
    const [response] = (await once(request({ port, host: '127.0.0.1', agent: false }).end(), 'response')) as [
      IncomingMessage,
    ];
    equal((await response.toArray()).join(''), 'hi');
    Object.assign(server, { headersTimeout: 20, requestTimeout: 20 });
    const late = connect(port, '127.0.0.1').on('error', () => {});
    late.write('GET / HTTP/1.1\r\n');
    const [head] = (await once(late, 'data')) as [Buffer];
    equal(head.toString().split('\r\n')[0], 'HTTP/1.1 408 Request Timeout');
    late.destroy();
    server.close();
  });

  it('let a server know how many of its connections are open', async () => {
    const sockets: Socket[] = [];
    const port = await portTo((socket) => sockets.push(socket));
    const [server] = open as [Port];
    equal(openConnections(server), 0);
    const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await until(() => sockets.length === 2);
    equal(openConnections(server), 2);
    for (const client of clients) client.destroy();
    await until(() => openConnections(server) === 0);
  });

  it('let a connection know that its client has reset it, even if nothing is read', async () => {
    let accepted: Socket | undefined;
    const port = await portTo((socket) => {
      accepted = socket.on('error', () => {}).pause();
    });
    const client = connect(port, '127.0.0.1');
    await until(() => accepted !== undefined);
    equal(isDisconnected(accepted!), false);
    client.resetAndDestroy();
    await until(() => isDisconnected(accepted!));
    accepted!.destroy();
    equal(isDisconnected(accepted!), true);
  });

  it('do not consider an open connection of a Unix socket lost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-internals-'));
    const path = join(folder, 'a.sock');
    const accepted = Promise.withResolvers<Socket>();
    const port = createPort(accepted.resolve).listen(path);
    open.push(port);
    await once(port, 'listening');
    const client = connect(path);
    const socket = await accepted.promise;
    equal(isDisconnected(socket), false);
    socket.destroy();
    equal(isDisconnected(socket), true);
    client.destroy();
    rmSync(folder, { recursive: true });
  });

  it('let an HTTP server pass on connections that switch to another protocol, and no others', async () => {
    const server = createServer((_message, response) => response.end('answered'));
    decideUpgrades(server, ({ url }) => url === '/other');
    server.on('upgrade', (_message, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    const port = await portTo((socket) => handConnection(server, socket));
    const ask = async (path: string) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return head.toString().split(' ')[1];
    };
    deepEqual([await ask('/other'), await ask('/')], ['101', '200']);
    server.closeAllConnections();
  });

  it('let a TLS server use another context, and find the connection that carries a TLS connection', async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const { certificatePem: cert, privateKeyPem: key } = certificates.issue('given', authority);
    let carrier: Socket | undefined;
    const server = createTlsServer({}, (socket) => {
      carrier = carrierOf(socket);
      socket.end();
    });
    useContext(server, createSecureContext({ cert, key }));
    let accepted: Socket | undefined;
    const port = await portTo((socket) => {
      accepted = socket;
      handConnection(server, socket);
    });
    const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(client, 'secureConnect');
    equal(client.getPeerCertificate().subject.CN, 'given');
    await until(() => carrier !== undefined);
    equal(carrier, accepted);
    client.destroy();
    certificates.remove();
  });

  it('report how many bytes of a write the system has not accepted yet', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const client = connect(await portTo(accepted.resolve), '127.0.0.1');
    const socket = await accepted.promise;
    const written = new Promise((resolve) => void socket.write(Buffer.alloc(64 * 1024 * 1024), resolve));
    const before = untaken(socket);
    ok(before > 0);
    await once(client, 'data');
    await until(() => untaken(socket) < before);
    await written;
    equal(untaken(socket), 0);
    client.destroy();
    socket.destroy();
    equal(untaken(socket), 0);
  });

  it('report the first read of a stream, which continues normally', async () => {
    const stream = new PassThrough();
    let reads = 0;
    beforeFirstRead(stream, () => {
      reads++;
      stream.end('ab');
    });
    equal(reads, 0);
    equal((await stream.toArray()).join(''), 'ab');
    equal(reads, 1);
  });

  it('report the first read of a request body, unless that is canceled', async () => {
    const seen: string[] = [];
    const server = createServer(async (message, response) => {
      const { url } = message;
      beforeFirstRead(message, () => seen.push(url!));
      if (url === '/off') forgetFirstRead(message);
      seen.push(`${url} ${(await message.toArray()).join('')}`);
      response.end();
    }).listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const path of ['/told', '/off']) {
      const asking = request({ port, path, host: '127.0.0.1', method: 'POST', agent: false });
      asking.end('body');
      const [response] = (await once(asking, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    }
    deepEqual(seen, ['/told', '/told body', '/off body']);
  });

  it('let Koa respond on the basis of the state of a context', async () => {
    class Through extends Koa {
      handleRequest(context: Koa.Context, run: (context: Koa.Context) => Promise<void>): Promise<void> {
        return respondByKoa.call(this, context, run);
      }
    }
    const app = new Through();
    app.use((context) => {
      context.body = { by: 'koa' };
    });
    const server = app.listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
      headers: { connection: 'close' },
    });
    deepEqual(await response.json(), { by: 'koa' });
    ok(response.headers.get('content-type')!.startsWith('application/json'));
  });
});
