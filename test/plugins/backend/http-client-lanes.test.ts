import { deepEqual, equal } from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Call } from '#contract';
import { DeniedAddresses } from '../../../kernel/contract/internal.ts';
import type { Harness } from '../../../kernel/testing/index.ts';
import { exchange } from '../../../plugins/backend/http/client/exchange.ts';
import { Transport } from '../../../plugins/backend/http/client/transport.ts';
import { standardTls } from '../../../plugins/clients/tls/client-tls.ts';
import { until } from '../../support/conditions.ts';
import { Bench, connectionFree, pipeRequest, send, textOf } from './http-client.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('backend/http/client with dynamic hosts', () => {
  const bench = new Bench();
  const open = new Set<Socket>();
  const closers: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    await bench.close();
    for (const close of closers.splice(0)) await close();
  });

  /**
   * A server on every address of the loopback network.
   * @returns a function from a number to an origin.
   */
  async function serveEverywhere(listener: RequestListener): Promise<(number: number) => string> {
    const server = createServer({ keepAliveTimeout: 0 }, listener);
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    closers.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    return (number) => `http://127.0.${1 + Math.floor(number / 250)}.${1 + (number % 250)}:${port}`;
  }

  /** Sends a request and waits until the connection is free again. */
  async function called(gate: Harness, origin: string, target = '/'): Promise<void> {
    equal(await textOf(await send(gate, { origin, target })), 'ok');
    await connectionFree();
  }

  const named = { backend: { host: ['http://{host}'] } };

  it('keeps connections to the 256 most recently used addresses', async () => {
    const origin = await serveEverywhere((_request, response) => response.end('ok'));
    const gate = await bench.client({}, named);
    for (const number of numbers(300)) await called(gate, origin(number));
    await until(() => open.size === 256);
    const before = new Set(open);
    await called(gate, origin(299));
    equal(
      [...open].every((socket) => before.has(socket)),
      true,
    );
  });

  it('keeps at most 256 connections to redirect targets', async () => {
    const origin = await serveEverywhere((request, response) => {
      if (request.url === '/') response.end('ok');
      else response.writeHead(302, { Location: `${origin(Number(request.url!.slice(1)))}/` }).end();
    });
    const gate = await bench.client();
    for (const number of numbers(300)) await called(gate, origin(0), `/${number + 1}`);
    // 256 connections to redirect targets, and one to the configured address.
    await until(() => open.size === 257);
  });

  it('keeps connections to all configured addresses', async () => {
    const origin = await serveEverywhere((_request, response) => response.end('ok'));
    const gate = await bench.client();
    for (const number of numbers(300)) await called(gate, origin(number));
    equal(open.size, 300);
  });

  it('never closes a connection with a call in progress', async () => {
    const waiting: ServerResponse[] = [];
    const origin = await serveEverywhere((_request, response) => waiting.push(response));
    const gate = await bench.client({}, named);
    const replies = numbers(300).map((number) => send(gate, { origin: origin(number) }));
    await until(() => waiting.length === 300);
    for (const response of waiting) response.end('ok');
    for (const reply of await Promise.all(replies)) equal(await textOf(reply), 'ok');
  });

  it('closes idle connections to dynamic addresses', async () => {
    const origin = await serveEverywhere((_request, response) => response.end('ok'));
    const transport = new Transport({
      dial: { timeoutMs: 1000, keepAliveMs: 1000, fallbackDelayMs: 300 },
      idleMs: 0,
      passingIdleMs: 20,
      maxIdlePerHost: 250,
      maxIdle: 0,
      keepAlive: true,
      http2: false,
      proxy: undefined,
      proxyProtocol: undefined,
      own: undefined,
      environment: { http: '', https: '', except: '' },
      tls: standardTls,
      denied: new DeniedAddresses(),
      sandbox: null,
    });
    closers.push(() => transport.close());
    const common = {
      transport,
      followsRedirects: true,
      resendsBody: false,
      announcesClient: false,
      sockets: new Set<string>(),
      hidesClient: false,
      buffersBody: false,
      signers: null,
      observers: null,
      asksGzip: false,
      headerTimeoutMs: 0,
    };
    for (const [number, isPassing] of [true, false].entries()) {
      const request = pipeRequest({ origin: origin(number) });
      await textOf(await exchange({ ...common, isPassing }, request, new Call(), null));
    }
    await until(() => open.size === 1);
    deepEqual(
      [...open].map(({ localAddress }) => localAddress),
      [new URL(origin(1)).hostname],
    );
  });

  it('leaves no connection open if a call follows a redirect after its configuration was replaced', async () => {
    const waiting: ServerResponse[] = [];
    const origin = await serveEverywhere((request, response) => {
      if (request.url === '/') waiting.push(response);
      else response.end('ok');
    });
    const gate = await bench.client();
    const reply = send(gate, { origin: origin(0) });
    await until(() => waiting.length === 1);
    const closed = gate.close();
    waiting[0]!.writeHead(302, { Location: '/b' }).end();
    equal(await textOf(await reply), 'ok');
    await until(() => open.size === 0);
    deepEqual(await closed, { kept: 0, deferred: 0 });
  });

  it('closes the connection of a redirect whose body never ends', async () => {
    const seen: string[] = [];
    const origin = await serveEverywhere((request, response) => {
      seen.push(request.url!);
      if (request.url === '/') response.writeHead(302, { Location: '/b', 'Content-Length': 100 }).flushHeaders();
      else response.end('ok');
    });
    const gate = await bench.client();
    equal(await textOf(await send(gate, { origin: origin(0) })), 'ok');
    await until(() => open.size === 1);
    equal(await textOf(await send(gate, { origin: origin(0), target: '/c' })), 'ok');
    deepEqual(seen, ['/', '/b', '/c']);
  });
});
