import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceConfig } from '#contract';
import { createHttp2 } from '../../../kernel/server/http2/server.ts';
import { untaken } from '../../../kernel/server/port/internals.ts';
import {
  type CameFrame,
  END_HEADERS,
  END_STREAM,
  type Fields,
  FRAMES,
  frame,
  frameReader,
  headerBlock,
  PREFACE,
} from '../../../scripts/fuzz/http2.ts';
import { opening } from '../../../scripts/http2-stress/peer.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, startGateway } from '../../support/gateway.ts';

const REQUEST: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/a'],
];
const settings = frame(FRAMES.settings, 0, 0, Buffer.alloc(0));
const request = frame(FRAMES.headers, END_STREAM | END_HEADERS, 1, headerBlock(REQUEST));
const PING = frame(FRAMES.ping, 0, 0, Buffer.alloc(8));

/** Body that exceeds the buffers of a loopback connection. */
const LARGE = Buffer.alloc(8 * 1024 * 1024);

/** An HTTP/2 server on a port of its own. */
async function serveHttp2(send_timeout: number, serve: (response: ServerResponse) => void) {
  const accepted: Socket[] = [];
  const http2 = createHttp2(
    { send_timeout } as ServiceConfig,
    null,
    (_message, response: ServerResponse) => serve(response),
    () => {},
  );
  const server = createServer((socket) => {
    accepted.push(socket);
    http2.take(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { http2, server, accepted, port: (server.address() as AddressInfo).port };
}

describe('an HTTP/2 connection that the gateway has ended, and the client keeps open,', () => {
  const sockets = new Set<Socket>();
  afterEach(() => {
    mock.timers.reset();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });

  /** Sends a request. The client's side stays open when the gateway has closed its own. */
  function client(
    port: number,
    begin: Uint8Array = Buffer.concat([PREFACE, settings]),
  ): { readonly socket: Socket; readonly came: CameFrame[] } {
    const came: CameFrame[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    sockets.add(socket);
    socket.on(
      'data',
      frameReader((one) => void came.push(one)),
    );
    socket.write(Buffer.concat([begin, request]));
    return { socket, came };
  }

  it('does not delay a stop beyond max_shutdown_wait_time', async () => {
    const backend = await startBackend(json({}));
    const endpoints = [{ endpoint: '/a', backend: [{ url_pattern: '/', host: [backend.url] }] }];
    const gateway = await startGateway({ use_h2c: true, max_shutdown_wait_time: '20ms', endpoints });
    const { socket, came } = client((await gateway.listen()).port);
    await until(() => came.some(({ stream, flags }) => stream === 1 && (flags & END_STREAM) !== 0));
    await gateway.close();
    await backend.close();
    equal(socket.readableEnded, true);
  });

  it('is closed 5 seconds after the client last sent something', async () => {
    const { http2, server, accepted, port } = await serveHttp2(60_000, (response) => response.end());
    mock.timers.enable({ apis: ['setTimeout'] });
    const { socket } = client(port);
    await once(socket, 'data');
    const ended = once(socket, 'end');
    http2.drain();
    await ended;
    const isClosed: boolean[] = [];
    for (let second = 0; second < 10; second++) {
      mock.timers.tick(1_000);
      isClosed.push(accepted[0]!.destroyed);
      if (second !== 3) continue;
      const { bytesRead } = accepted[0]!;
      socket.write(PING);
      while (accepted[0]!.bytesRead === bytesRead) await turn();
    }
    deepEqual(isClosed, [...Array.from({ length: 9 }, () => false), true]);
    server.close();
  });

  it('is closed 5 seconds after the gateway aborted a response that the client does not read', async () => {
    const responses: ServerResponse[] = [];
    const { server, accepted, port } = await serveHttp2(0, (response) => responses.push(response));
    const { socket } = client(port, opening(true));
    socket.pause();
    await until(() => responses.length > 0);
    responses[0]!.write(LARGE);
    await until(() => untaken(accepted[0]!) > 0);
    mock.timers.enable({ apis: ['setTimeout'] });
    responses[0]!.destroy();
    mock.timers.tick(4_999);
    equal(accepted[0]!.destroyed, false);
    mock.timers.tick(1);
    equal(accepted[0]!.destroyed, true);
    server.close();
  });
});

describe('an HTTP/2 connection whose client has sent GOAWAY', () => {
  const goaway = frame(FRAMES.goaway, 0, 0, Buffer.from('0000000000000000', 'hex'));
  /** DATA of a request that does not exist: an error of the connection. */
  const violation = frame(FRAMES.data, END_STREAM, 3, Buffer.from('a'));
  let responses: ServerResponse[];
  let accepted: readonly Socket[];
  let port: number;
  let close: () => void;
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    responses = [];
    const served = await serveHttp2(60_000, (response) => responses.push(response));
    ({ accepted, port } = served);
    close = () => {
      served.http2.cut();
      served.server.close();
    };
  });
  afterEach(() => {
    mock.timers.reset();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    close();
  });

  for (const [way, leave] of Object.entries({
    resets: (socket: Socket) => socket.resetAndDestroy(),
    ends: (socket: Socket) => socket.end(),
  })) {
    it(`is closed with its requests if the client violates the protocol and ${way} the connection`, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.add(socket);
      socket.write(Buffer.concat([PREFACE, settings, request, goaway, violation]));
      await until(() => responses.length === 1);
      const closed = once(responses[0]!, 'close');
      leave(socket);
      await closed;
      equal(accepted[0]!.destroyed, true);
    });
  }

  it('receives its response, however long it takes', async () => {
    const came: CameFrame[] = [];
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.add(socket);
    socket.on(
      'data',
      frameReader((one) => void came.push(one)),
    );
    mock.timers.enable({ apis: ['setTimeout'] });
    socket.write(Buffer.concat([PREFACE, settings, request, goaway]));
    while (responses.length === 0 || !came.some(({ type }) => type === FRAMES.goaway)) await turn();
    for (let second = 0; second < 60; second++) {
      mock.timers.tick(1_000);
      await turn();
    }
    responses[0]!.end('a');
    while (!came.some(({ type, flags }) => type === FRAMES.data && (flags & END_STREAM) !== 0)) await turn();
  });
});
