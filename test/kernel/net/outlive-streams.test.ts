import { equal, notEqual } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse, Http2Session, Http2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ServiceConfig } from '#contract';
import { outliveClientStreams } from '../../../kernel/net/outlive-streams.ts';
import { createHttp2, type Http2 } from '../../../kernel/server/http2/server.ts';
import { Connection } from '../../../plugins/clients/http2/connection.ts';
import { until } from '../../support/conditions.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The native part of a session. */
function nativeOf(session: Http2Session | undefined): WeakRef<object> {
  const key = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle');
  return new WeakRef((session as unknown as Record<symbol, object>)[key!]!);
}

// The session must stay in memory, because Node.js ends the process if it collects the session while a stream still
// holds received header fields.
describe('the native part of an HTTP/2 session', () => {
  let server: Server;
  let http2: Http2;
  let response: Http2ServerResponse | null = null;

  before(async () => {
    outliveClientStreams();
    http2 = createHttp2(
      {} as ServiceConfig,
      null,
      (_message, given: ServerResponse) => {
        response = given as unknown as Http2ServerResponse;
      },
      () => {},
    );
    server = createServer((socket) => http2.take(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => void server.close());

  /** Opens a connection with one request that has a body, and closes it. */
  async function closedConnection(): Promise<{ readonly streams: Http2Stream[]; readonly natives: WeakRef<object>[] }> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const settings = { socket, origin: 'http://127.0.0.1', timeoutMs: 0, streamWindowBytes: 65_535 };
    const connection = new Connection(settings, () => {});
    // Creates the request before the connection is established.
    const stream = connection.open({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => {});
    await until(() => response !== null);
    const streams = [stream, response!.stream];
    const natives = streams.map(({ session }) => nativeOf(session));
    response = null;
    const closed = Promise.all(streams.map((one) => new Promise((resolve) => one.once('close', resolve))));
    connection.destroy(new Error('over'));
    await closed;
    return { streams, natives };
  }

  it('is kept in memory for as long as one of its streams, and no longer', async () => {
    const kept = [await closedConnection()];
    const { natives } = kept[0]!;
    for (let round = 0; round < 5; round++) {
      await turn();
      collect();
      for (const native of natives) notEqual(native.deref(), undefined);
    }
    equal(kept.splice(0).length, 1);
    // Opens another connection, so that the stack and closures no longer refer to the previous one.
    await closedConnection();
    await until(() => {
      collect();
      return natives.every((native) => native.deref() === undefined);
    });
  });
});
