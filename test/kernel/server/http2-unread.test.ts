import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { ServiceConfig } from '#contract';
import { createHttp2 } from '../../../kernel/server/http2/server.ts';
import { until } from '../../support/conditions.ts';

const WINDOW_BYTES = 256 * 1024;
const REQUESTS = 20;

describe('an HTTP/2 connection whose requests are not read', () => {
  it('receives one window of each body, and no more', async () => {
    let accepted: Socket | undefined;
    const http2 = createHttp2(
      {} as ServiceConfig,
      null,
      () => {},
      () => {},
    );
    const server = createServer((socket) => {
      accepted = socket;
      http2.take(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      for (let request = 0; request < REQUESTS; request++) {
        const stream = session.request({ ':path': '/', ':method': 'POST' }).on('error', () => {});
        stream.end(Buffer.alloc(2 * WINDOW_BYTES));
      }
      await until(() => accepted !== undefined && accepted.bytesRead >= REQUESTS * WINDOW_BYTES);
      // All windows are exhausted; a PING is answered after the data that was sent before it.
      await new Promise((resolve) => session.ping(resolve));
      equal(accepted!.bytesRead < REQUESTS * WINDOW_BYTES * 1.05, true, `${accepted!.bytesRead} bytes`);
    } finally {
      session.destroy();
      http2.cut();
      server.close();
    }
  });
});
