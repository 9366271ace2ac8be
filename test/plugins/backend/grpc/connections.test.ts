import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Operations } from '#kernel';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { Channels } from '../../../../plugins/clients/grpc/channels.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../../support/certificates.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import {
  failure,
  ServerCredentials,
  SHOP,
  startGrpc,
  status,
  type TestGrpcServer,
} from '../../../support/grpc/server.ts';

describe('connections of backend/grpc', () => {
  let gateway: Operations;
  const servers: TestGrpcServer[] = [];
  const sinks = rememberingSinks();

  beforeEach(() => {
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    for (const server of servers.splice(0)) await server.close();
  });

  const serve = async (...given: Parameters<typeof startGrpc>) => {
    const server = await startGrpc(...given);
    servers.push(server);
    return server;
  };
  const named = (id: string) => serve({ Find: (_call, answer) => answer(null, { id }) });
  const config = (host: readonly string[], grpc: object = {}, endpoint: object = {}) => ({
    version: 3,
    extra_config: { grpc: { catalog: [SHOP] } },
    endpoints: [
      {
        endpoint: '/f',
        ...endpoint,
        backend: [
          {
            host,
            url_pattern: '/shop.Shop/Find',
            extra_config: { 'backend/grpc': { output_remove_unset_values: true, ...grpc } },
          },
        ],
      },
    ],
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given), { sinks });
  };
  const ask = async () => {
    const { statusCode, body } = await gateway.inject({ url: '/f' });
    return statusCode === 200 ? (JSON.parse(body) as { id?: string }).id : statusCode;
  };

  it('fail while a server is down, and are established again once it is up', async () => {
    const port = await freePort();
    await start([`127.0.0.1:${port}`]);
    equal(await ask(), 500);
    match(sinks.lines.join(''), /UNAVAILABLE: cannot connect to 127\.0\.0\.1:\d+: ECONNREFUSED/);
    const first = await serve({ Find: (_call, answer) => answer(null, { id: 'a' }) }, { port });
    equal(await ask(), 'a');
    await first.close();
    equal(await ask(), 500);
    await serve({ Find: (_call, answer) => answer(null, { id: 'b' }) }, { port });
    equal(await ask(), 'b');
  });

  it('switch to another host for an unavailable server, with use_alternate_host_on_error', async () => {
    const down = `127.0.0.1:${await freePort()}`;
    const busy = await serve({ Find: (_call, answer) => answer(failure(status.UNAVAILABLE, 'busy')) });
    const fine = await named('fine');
    await start([down, busy.host, fine.host], { use_alternate_host_on_error: true });
    const responses = [];
    for (let count = 0; count < 9; count++) responses.push(await ask());
    // Repeats the call, because it tries at most two hosts, and the second one may also be busy.
    equal(responses.filter((id) => id === 'fine').length >= 6, true, String(responses));
    equal(
      responses.every((id) => id === 'fine' || id === 500),
      true,
    );
  });

  it('do not switch to another host by default', async () => {
    const fine = await named('fine');
    await start([`127.0.0.1:${await freePort()}`, fine.host]);
    deepEqual(new Set([await ask(), await ask()]), new Set([500, 'fine']));
  });

  it('do not retry a call that failed with another error', async () => {
    const broken = {
      Find: (_call: unknown, answer: (error: object) => void) => answer(failure(status.INTERNAL, 'no')),
    };
    const one = await serve(broken as never);
    const other = await serve(broken as never);
    await start([one.host, other.host], { use_alternate_host_on_error: true });
    equal(await ask(), 500);
    equal(one.calls.length + other.calls.length, 1);
  });

  it('accept hosts with the scheme grpc, http or none', async () => {
    const { host } = await named('x');
    await start([`grpc://${host}`, `http://${host}`, host]);
    deepEqual([await ask(), await ask(), await ask()], ['x', 'x', 'x']);
  });

  it("never reach the gateway's admin port", async () => {
    const { host } = await named('x');
    const [, port] = host.split(':');
    const denied = new DeniedAddresses();
    denied.deny({ address: '127.0.0.1', port: Number(port) });
    const dial = { timeoutMs: 0, keepAliveMs: -1, fallbackDelayMs: 0, tls: null, denied };
    const channels = new Channels(dial);
    const connection = channels.to(host)!.enter();
    await until(() => connection.failure !== null);
    match(connection.failure!.message, /admin port/);
    channels.close();
  });

  describe('with counters', () => {
    const sockets = new Set<Socket>();
    let opened: number;
    let server: ReturnType<typeof createServer>;
    let host: string;
    let hold: boolean;
    const held: (() => void)[] = [];

    beforeEach(async () => {
      opened = 0;
      hold = false;
      server = createServer({ settings: { maxConcurrentStreams: 2 } });
      server.on('connection', (socket: Socket) => {
        opened += 1;
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      server.on('stream', (stream) => {
        stream.on('error', () => {});
        const respond = () => {
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
          stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
          stream.end(Buffer.from([0, 0, 0, 0, 3, 10, 1, 120]));
        };
        if (hold) held.push(respond);
        else respond();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });

    it('are closed when they are idle', async () => {
      await start([host], { idle_conn_disconnect_time: '20ms' });
      equal(await ask(), 'x');
      await until(() => sockets.size === 0);
      equal(await ask(), 'x');
      equal(opened, 2);
    });

    it('are closed when no configuration uses the backend', async () => {
      await start([host]);
      await ask();
      await gateway.reload({
        version: 3,
        endpoints: [{ endpoint: '/f', backend: [{ host: ['127.0.0.1:1'], url_pattern: '/' }] }],
      });
      await until(() => sockets.size === 0);
    });

    it('are opened in larger numbers if a server limits its concurrent streams', async () => {
      await start([host], {}, { timeout: '20s' });
      await ask();
      hold = true;
      const requested = [1, 2, 3, 4, 5].map(() => ask());
      await until(() => held.length === 5);
      for (const respond of held.splice(0)) respond();
      deepEqual(await Promise.all(requested), ['x', 'x', 'x', 'x', 'x']);
      equal(opened >= 2 && opened <= 5, true);
    });

    it('are shared by backends with the same settings', async () => {
      const both = config([host]);
      const [endpoint] = both.endpoints as unknown as [object];
      gateway = await startGateway({ ...both, endpoints: [endpoint, { ...endpoint, endpoint: '/g' }] });
      await ask();
      await gateway.inject({ url: '/g' });
      equal(opened, 1);
    });
  });

  describe('over TLS', () => {
    let made: Certificates;
    let authority: KeyPair;
    let server: KeyPair;
    let visitor: KeyPair;

    before(() => {
      made = makeCertificates();
      authority = made.authority('authority');
      server = made.issue('server', authority);
      visitor = made.issue('visitor', authority);
    });
    after(() => made.remove());

    const secure = (asksClients = false) => {
      const pair = { cert_chain: Buffer.from(server.certificatePem), private_key: Buffer.from(server.privateKeyPem) };
      const tls = ServerCredentials.createSsl(Buffer.from(authority.certificatePem), [pair], asksClients);
      return serve({ Find: (_call, answer) => answer(null, { id: 'safe' }) }, { tls });
    };

    it("are established if TLS is configured, and rejected if the server's certificate is not trusted", async () => {
      const { host } = await secure();
      await start([host], { client_tls: { ca_certs: [authority.certificate] } });
      equal(await ask(), 'safe');
      await gateway.close();
      await start([host], { client_tls: {} });
      equal(await ask(), 500);
      await gateway.close();
      await start([host], { client_tls: { allow_insecure_connections: true } });
      equal(await ask(), 'safe');
    });

    it('present the configured client certificate', async () => {
      const { host } = await secure(true);
      const { certificate, privateKey: private_key } = visitor;
      const ca_certs = [authority.certificate];
      await start([host], { client_tls: { ca_certs, client_certs: [{ certificate, private_key }] } });
      equal(await ask(), 'safe');
      await gateway.close();
      await start([host], { client_tls: { ca_certs } });
      equal(await ask(), 500);
    });
  });
});
