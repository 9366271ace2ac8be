import { deepEqual, equal } from 'node:assert/strict';
import { createServer } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connectionOwner, runOwned } from '#contract';
import { currentFaultOwner } from '../../../kernel/contract/internal.ts';
import { Http1Pool } from '../../../plugins/backend/http/client/http1/pool.ts';
import { Channel } from '../../../plugins/clients/grpc/channels.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend } from '../../support/gateway.ts';

const request = connectionOwner('request', 'GET /', () => {});

describe('the idle timers of connections that requests share', () => {
  it('belong to the connection over HTTP/1.1, not to the request that started them', async () => {
    const backend = await startBackend(json({}));
    const places: (string | undefined)[] = [];
    let isEnded = false;
    const pool = new Http1Pool({
      address: backend.url,
      connect: (reading, callback) => {
        const { buffer } = reading!;
        const read = (length: number): boolean => {
          reading!.read(length);
          return true;
        };
        const { port } = new URL(backend.url);
        const socket: Socket = connect({ port: Number(port), host: '127.0.0.1', onread: { buffer, callback: read } });
        const { destroy } = socket;
        socket.destroy = (...given) => {
          places.push(currentFaultOwner()?.place);
          return destroy.apply(socket, given);
        };
        socket.once('connect', () => callback(null, socket));
      },
      idleMs: 1,
      keepAlive: true,
      maxConnections: 1,
    });
    try {
      runOwned(request, () =>
        pool.dispatch(
          { origin: backend.url, path: '/', method: 'GET', headers: [], body: null, length: undefined, isLast: false },
          {
            onRequestStart() {},
            onRequestSent() {},
            onResponseStarted() {},
            onResponseStart() {},
            onResponseData() {},
            onResponseEnd() {
              isEnded = true;
            },
            onResponseError() {},
          },
        ),
      );
      await until(() => isEnded && places.length > 0);
      equal(places[0], 'backend connection');
    } finally {
      await pool.close();
      await backend.close();
    }
  });

  it('belong to the connection over gRPC, and so do its event handlers', async () => {
    const server = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const dial = { timeoutMs: 0, keepAliveMs: 0, fallbackDelayMs: 10, tls: null, denied: null };
    const channel = new Channel({ host: '127.0.0.1', port }, dial);
    const places: (string | undefined)[] = [];
    const { close } = channel;
    channel.close = () => {
      places.push(currentFaultOwner()?.place);
      close.call(channel);
    };
    try {
      runOwned(request, () => {
        const connection = channel.enter();
        const stream = connection.open({ ':path': '/' });
        stream.resume().once('close', () => {
          places.push(currentFaultOwner()?.place);
          connection.leave();
          channel.leave(1);
        });
      });
      await until(() => places.length === 2);
      deepEqual(places, ['request', 'backend connection']);
    } finally {
      channel.close();
      server.close();
    }
  });
});
