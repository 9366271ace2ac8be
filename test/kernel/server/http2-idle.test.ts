import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ServiceConfig } from '#contract';
import { createHttp2 } from '../../../kernel/server/http2/server.ts';
import { until } from '../../support/conditions.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('the idle timeout of HTTP/2 connections', () => {
  let server: Server;
  const accepted: WeakRef<Socket>[] = [];

  /** @returns a function that connects a client. */
  async function open(idleMs: number): Promise<() => ClientHttp2Session> {
    const http2 = createHttp2(
      { idle_timeout: idleMs } as ServiceConfig,
      null,
      (_message, response: ServerResponse) => void response.end(),
      () => {},
    );
    server = createServer((socket) => {
      accepted.push(new WeakRef(socket));
      http2.take(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return () => connect(`http://127.0.0.1:${port}`);
  }

  afterEach((done) => {
    accepted.length = 0;
    server.close(done);
  });

  it('does not keep closed connections in memory', async () => {
    const client = await open(3_600_000);
    for (let count = 0; count < 10; count++) {
      const session = client();
      const stream = session.request({ ':path': '/' });
      stream.resume();
      await once(stream, 'end');
      session.close();
      await once(session, 'close');
    }
    equal(accepted.length, 10);
    await until(() => {
      collect();
      return accepted.every((socket) => socket.deref() === undefined);
    });
  });
});
