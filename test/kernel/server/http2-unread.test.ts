import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ServiceConfig } from '#contract';
import { createHttp2, type Http2 } from '../../../kernel/server/http2/server.ts';
import { until } from '../../support/conditions.ts';

const WINDOW_BYTES = 256 * 1024;
const MIB = 1024 * 1024;

describe('an HTTP/2 connection whose requests are not read', () => {
  let http2: Http2;
  let server: Server;
  let session: ClientHttp2Session;
  let accepted: Socket | undefined;
  let requests: (readonly [IncomingMessage, ServerResponse])[];

  beforeEach(async () => {
    requests = [];
    accepted = undefined;
    const serve = (request: IncomingMessage, response: ServerResponse) => void requests.push([request, response]);
    http2 = createHttp2({} as ServiceConfig, null, serve, () => {});
    server = createServer((socket) => {
      accepted = socket;
      http2.take(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    session = connect(origin, { maxSessionMemory: 1000 });
  });
  afterEach(() => {
    session.destroy();
    http2.cut();
    server.close();
  });

  /** Starts an upload; resolves with the status of its response. */
  const upload = async (bytes: number): Promise<number> => {
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => {}).end(Buffer.alloc(bytes));
    const [head] = await once(stream, 'response');
    stream.resume();
    return head[':status'];
  };
  const respond = ([request, response]: readonly [IncomingMessage, ServerResponse]): void => {
    request.resume().once('end', () => response.end());
  };
  /** Waits for the response to a PING, which follows the data that was sent before it. */
  const ping = () => new Promise((resolve) => session.ping(resolve));

  it('receives one flow-control window of each body, and no more', async () => {
    const count = 12;
    for (let request = 0; request < count; request++) void upload(2 * WINDOW_BYTES).catch(() => {});
    await until(() => accepted !== undefined && accepted.bytesRead >= count * WINDOW_BYTES);
    await ping();
    equal(accepted!.bytesRead < count * WINDOW_BYTES * 1.05, true, `${accepted!.bytesRead} bytes`);
  });

  it('receives 5 MiB at most, and all bodies once they are read', async () => {
    const uploads = Array.from({ length: 200 }, () => upload(MIB));
    await until(() => requests.length === 200 && accepted!.bytesRead >= 4 * MIB);
    await ping();
    await until(() => session.state.remoteWindowSize === 0);
    await ping();
    const { bytesRead } = accepted!;
    equal(bytesRead >= 4 * MIB && bytesRead < 5.1 * MIB, true, `${bytesRead} bytes`);
    // Other requests, without a body, are served in the meantime.
    const get = session.request({ ':path': '/' });
    await until(() => requests.length === 201);
    respond(requests.pop()!);
    equal((await once(get, 'response'))[0][':status'], 200);
    get.close();
    for (const request of requests) respond(request);
    equal(
      (await Promise.all(uploads)).every((status) => status === 200),
      true,
    );
  });

  it('receives further bodies while eight bodies are never read', async () => {
    for (let request = 0; request < 8; request++) void upload(MIB).catch(() => {});
    await until(() => (accepted?.bytesRead ?? 0) >= 8 * WINDOW_BYTES);
    const others = Array.from({ length: 20 }, () => upload(4 * MIB));
    await until(() => requests.length === 28);
    for (const request of requests.slice(8)) respond(request);
    equal(
      (await Promise.all(others)).every((status) => status === 200),
      true,
    );
  });
});
