import { deepEqual, equal } from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { AnswerHandler } from '../../../plugins/backend/http/client/answer-handler.ts';
import { Http1Pool } from '../../../plugins/backend/http/client/http1/pool.ts';
import { Http2Pool } from '../../../plugins/backend/http/client/http2-pool.ts';
import { until } from '../../support/conditions.ts';
import { Bench } from './http-client.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('requests that wait for a connection of backend/http/client', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  /** A pool of one connection. */
  async function poolTo(origin: string): Promise<Http1Pool> {
    const { port } = new URL(origin);
    return new Http1Pool({
      address: origin,
      connect: (reading, callback) => {
        const { buffer } = reading!;
        const read = (length: number): boolean => {
          reading!.read(length);
          return true;
        };
        const socket = connect({ host: '127.0.0.1', port: Number(port), onread: { buffer, callback: read } }).on(
          'error',
          () => {},
        );
        socket.once('connect', () => callback(null, socket));
      },
      idleMs: 0,
      keepAlive: true,
      maxConnections: 1,
    });
  }

  /** A handler that ignores all events. */
  const deaf: AnswerHandler = {
    onRequestStart() {},
    onRequestSent() {},
    onResponseStarted() {},
    onResponseStart() {},
    onResponseData() {},
    onResponseEnd() {},
    onResponseError() {},
  };

  const sendingTo = (origin: string) => ({
    ...{ origin, path: '/', method: 'GET', headers: [], body: null, length: undefined, isLast: false },
  });

  it('are skipped once they are canceled, regardless of their number', async () => {
    const connections = new Set<unknown>();
    const origin = await bench.serveRaw((socket) => {
      connections.add(socket);
      socket.write(ok);
    });
    const pool = await poolTo(origin);
    let givenUp = 0;
    const answers: string[] = [];
    const ask = (name: string) =>
      pool.dispatch(sendingTo(origin), { ...deaf, onResponseEnd: () => void answers.push(name) });
    ask('first');
    for (let at = 0; at < 20_000; at++) {
      pool.dispatch(sendingTo(origin), {
        ...deaf,
        onRequestStart: (attempt) => attempt.abort(new Error('given up')),
        onResponseError: () => void givenUp++,
      });
    }
    ask('last');
    await until(() => answers.length === 2);
    deepEqual(answers, ['first', 'last']);
    equal(givenUp, 20_000);
    equal(connections.size, 1);
    await pool.close();
    equal(pool.isUnused, true);
  });

  it('do not receive a connection that fails before the first waiting request is sent', async () => {
    const sockets: Socket[] = [];
    const origin = await bench.serveRaw((socket) => {
      sockets.push(socket);
      socket.write(ok);
    });
    const pool = await poolTo(origin);
    const outcomes: string[] = [];
    const ask = (name: string) =>
      pool.dispatch(sendingTo(origin), {
        ...deaf,
        onResponseEnd: () => void outcomes.push(`${name} answered`),
        onResponseError: (_attempt, error) => void outcomes.push(`${name}: ${error.message}`),
      });
    ask('first');
    await until(() => outcomes.length === 1);
    // Order within one turn of the event loop: timers, socket events, close events.
    setImmediate(() => {
      setTimeout(() => ['second', 'third'].forEach(ask), 0);
      sockets.pop()!.destroy();
      for (const until = performance.now() + 2; performance.now() < until; );
    });
    await until(() => outcomes.length === 3);
    deepEqual(outcomes, ['first answered', 'second: the backend did not process the request', 'third answered']);
    await pool.close();
  });

  it('are sent on a new connection if they require one, even to a server that negotiated HTTP/1.1', () => {
    const seen: unknown[] = [];
    const http1 = { dispatch: (_sending: unknown, _handler: unknown, forceNew: unknown) => void seen.push(forceNew) };
    const choosing = { alpnProtocol: 'http/1.1', destroy() {} } as never;
    const origin = 'https://a.test';
    const pool = new Http2Pool(origin, (_, callback) => callback(null, choosing), { fresh: null }, http1 as never, 0);
    for (const forceNew of [false, false, true]) pool.dispatch(sendingTo(origin), deaf, forceNew);
    deepEqual(seen.slice(1), [false, true]);
  });
});
