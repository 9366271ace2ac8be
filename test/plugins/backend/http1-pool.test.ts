import { deepEqual, equal } from 'node:assert/strict';
import { connect } from 'node:net';
import type { AnswerHandler } from '../../../plugins/backend/http/client/answer-handler.ts';
import { Http1Pool } from '../../../plugins/backend/http/client/http1/pool.ts';
import { until } from '../../support/conditions.ts';
import { Bench } from './http-client.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('backend/http/client: requests that wait for a connection', () => {
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

  /** Hears nothing. */
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

  it('are passed over once they are given up, however many they are', async () => {
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
});
