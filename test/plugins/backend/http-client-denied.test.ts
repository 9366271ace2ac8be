import { deepEqual, equal } from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createRawServer } from 'node:net';
import { DeniedAddresses } from '../../../kernel/contract/internal.ts';
import type { Harness } from '../../../kernel/testing/index.ts';
import { Bench, errorOf, send, textOf } from './http-client.ts';

describe('the denied addresses of backend/http/client', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  let reached: string[] = [];
  let port = 0;
  let allow = () => {};
  let denied = new DeniedAddresses();
  beforeEach(async () => {
    reached = [];
    denied = new DeniedAddresses();
    const origin = await bench.serve((request, response) => {
      reached.push(request.url!);
      response.end('secret');
    });
    port = Number(new URL(origin).port);
    allow = denied.deny({ address: '127.0.0.1', port });
  });

  const client = (config: unknown = {}) => bench.client(config, { services: { denied } });

  async function isRefused(gate: Harness, origin: string): Promise<void> {
    const reply = await send(gate, { origin });
    deepEqual([errorOf(reply).code, reached], ['BACKEND_DENIED', []], origin);
  }

  for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '2130706433']) {
    it(`reject calls to ${host}`, async () => isRefused(await client(), `http://${host}:${port}`));
  }

  it('reject redirects to them', async () => {
    const origin = await bench.serve((_request, response) => {
      response.writeHead(302, { Location: `http://localhost:${port}/metrics` }).end();
    });
    await isRefused(await client(), origin);
  });

  it('are reported by name, without path and user information', async () => {
    const { message } = errorOf(
      await send(await client(), { origin: `http://u:p@127.0.0.1:${port}`, target: '/secret' }),
    );
    equal(message, 'backend 127.0.0.1: the gateway does not call its own admin port');
  });

  it('can be called as soon as they are allowed', async () => {
    const gate = await client();
    await isRefused(gate, `http://127.0.0.1:${port}`);
    allow();
    equal(await textOf(await send(gate, { origin: `http://127.0.0.1:${port}` })), 'secret');
  });

  it('do not affect other addresses with the same port', async () => {
    denied.replace([{ address: '127.0.0.2', port }]);
    equal(await textOf(await send(await client(), { origin: `http://127.0.0.1:${port}` })), 'secret');
  });

  describe('through a proxy on the same machine', () => {
    /** A proxy that connects to any requested address. */
    async function startProxy(): Promise<string> {
      const forward: RequestListener = async (request, response) => {
        const received = await fetch(request.url!);
        response.writeHead(received.status).end(await received.text());
      };
      const proxy = createServer(forward);
      proxy.on('connect', (request, socket) => {
        const upstream = connect(Number(request.url!.split(':').at(-1)), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          socket.pipe(upstream).pipe(socket);
        });
        upstream.on('error', () => socket.destroy());
        socket.on('error', () => upstream.destroy());
        socket.once('close', () => upstream.destroy());
      });
      return bench.listen(proxy);
    }

    for (const [scheme, host] of [
      ['http', '127.0.0.1'],
      ['http', 'localhost'],
      ['http', '0.0.0.0'],
      ['http', '[::ffff:127.0.0.1]'],
      ['https', 'localhost'],
    ]) {
      it(`reject calls to ${scheme}://${host}`, async () => {
        await isRefused(await client({ proxy_address: await startProxy() }), `${scheme}://${host}:${port}`);
      });
    }

    it("reject calls to the proxy's own address", async () => {
      await isRefused(await client({ proxy_address: `http://127.0.0.1:${port}` }), 'http://far.invalid');
    });

    it('do not affect other hosts, even host names that only the proxy can resolve', async () => {
      const proxy = createServer((request, response) => response.end(request.url));
      const gate = await client({ proxy_address: await bench.listen(proxy) });
      for (const origin of ['http://far.invalid', `http://far.invalid:${port}`, `http://127.0.0.1:${port + 1}`]) {
        equal(await textOf(await send(gate, { origin })), `${origin}/`);
      }
    });
  });

  it('receive no bytes of TLS connections', async () => {
    let bytes = '';
    const server = createRawServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        bytes += data.toString('latin1');
      });
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    const origin = await bench.listen(server, 'https');
    denied.deny({ address: '127.0.0.1', port: (server.address() as AddressInfo).port });
    equal((await send(await client({ client_tls: {} }), { origin, target: '/metrics' })).failed, true);
    equal(bytes.includes('/metrics'), false);
  });
});
