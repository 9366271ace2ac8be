import { equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Operations } from '#kernel';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { SHOP } from '../../../support/grpc/server.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

type Behave = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** `id: "x"` in its frame. */
const message = Buffer.from([0, 0, 0, 0, 3, 10, 1, 120]);
const grpc = { ':status': 200, 'content-type': 'application/grpc' };

describe('backend/grpc with misbehaving servers', () => {
  let server: Http2Server;
  let behave: Behave;
  let gateway: Operations;
  let sessions = 0;
  const sinks = rememberingSinks();
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    sinks.lines.length = 0;
    sessions = 0;
    server = createServer();
    server.on('session', (session) => {
      sessions += 1;
      session.on('error', () => {});
    });
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {});
      stream.resume();
      behave(stream, headers);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    await gateway.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    server.close();
  });

  const start = async (settings: object = {}, endpoint: object = {}, backend: object = {}) => {
    const { port } = server.address() as AddressInfo;
    gateway = await startGateway(
      {
        extra_config: { grpc: { catalog: [SHOP] } },
        endpoints: [
          {
            endpoint: '/f',
            ...endpoint,
            backend: [
              {
                host: [`127.0.0.1:${port}`],
                url_pattern: '/shop.Shop/Find',
                extra_config: { 'backend/grpc': { output_remove_unset_values: true, ...settings } },
                ...backend,
              },
            ],
          },
        ],
      },
      { sinks },
    );
  };
  const ask = () => gateway.inject({ url: '/f' });
  const logged = () => sinks.lines.join('');
  const withTrailers = (stream: ServerHttp2Stream, headers: object, ...chunks: Buffer[]) => {
    stream.respond(grpc, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(headers as never));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
  };
  const well: Behave = (stream) => withTrailers(stream, { 'grpc-status': '0' }, message);

  it('reads a message that arrives byte by byte', async () => {
    behave = (stream) =>
      withTrailers(stream, { 'grpc-status': '0' }, ...[...message].map((byte) => Buffer.from([byte])));
    await start();
    equal((await ask()).body, '{"id":"x"}');
  });

  for (const [what, act, expected] of [
    [
      'a wrong content type',
      (stream) => stream.respond({ ':status': 200, 'content-type': 'text/html' }) ?? stream.end('<html>'),
      /UNKNOWN.*text\/html instead of gRPC/,
    ],
    [
      'a missing content type',
      (stream) => stream.respond({ ':status': 200 }) ?? stream.end('x'),
      /UNKNOWN.*no content type/,
    ],
    [
      'an HTTP error status',
      (stream) => stream.respond({ ':status': 503 }) ?? stream.end('x'),
      /UNAVAILABLE.*status 503/,
    ],
    [
      'an unknown HTTP status',
      (stream) => stream.respond({ ':status': 418 }) ?? stream.end('x'),
      /UNKNOWN.*status 418/,
    ],
    ['missing trailers', (stream) => stream.respond(grpc) ?? stream.end(message), /UNKNOWN.*without a status/],
    [
      'a truncated message',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, message.subarray(0, 6)),
      /INTERNAL.*incomplete/,
    ],
    ['a missing message', (stream) => withTrailers(stream, { 'grpc-status': '0' }), /INTERNAL.*0 messages/],
    [
      'two messages',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, message, message),
      /INTERNAL.*2 messages/,
    ],
    ['a non-numeric gRPC status', (stream) => withTrailers(stream, { 'grpc-status': 'fine' }, message), /UNKNOWN/],
    [
      'an unknown gRPC status',
      (stream) => withTrailers(stream, { 'grpc-status': '99', 'grpc-message': 'a%20b%C3%BC%zz' }),
      /UNKNOWN: a bü%zz/,
    ],
    [
      'a message with an oversized length',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, Buffer.from([0, 255, 255, 255, 255, 1])),
      /RESOURCE_EXHAUSTED.*4294967295 bytes/,
    ],
    [
      'a compression bomb',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, compressed()),
      /INTERNAL.*compressed/,
    ],
    [
      'an unknown message flag',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, Buffer.from([9, 0, 0, 0, 0])),
      /INTERNAL.*the body is not a gRPC message/,
    ],
    [
      'bytes that are not a valid message',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, Buffer.from([0, 0, 0, 0, 2, 10, 200])),
      /not a valid shop\.Res/,
    ],
    [
      'a string that is not valid UTF-8',
      (stream) => withTrailers(stream, { 'grpc-status': '0' }, Buffer.from([0, 0, 0, 0, 3, 10, 1, 255])),
      /not a valid shop\.Res/,
    ],
    ['a stream reset', (stream) => stream.close(NGHTTP2_INTERNAL_ERROR), /INTERNAL.*HTTP\/2 code 2/],
    [
      'a stream reset with ENHANCE_YOUR_CALM',
      (stream) => stream.close(NGHTTP2_ENHANCE_YOUR_CALM),
      /RESOURCE_EXHAUSTED/,
    ],
    [
      'a stream reset within a message',
      (stream) => {
        stream.respond(grpc);
        stream.write(message.subarray(0, 6), () => stream.destroy(new Error('broken')));
      },
      /INTERNAL/,
    ],
    ['a closed connection', (stream) => stream.session!.destroy(), /UNAVAILABLE|CANCELLED|INTERNAL/],
  ] as readonly (readonly [string, Behave, RegExp])[]) {
    it(`fails for ${what}, and serves the next call`, async () => {
      behave = act;
      await start();
      equal((await ask()).statusCode, 500);
      match(logged(), expected);
      behave = well;
      equal((await ask()).body, '{"id":"x"}');
    });
  }

  function compressed(): Buffer {
    const packed = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const frame = Buffer.alloc(5 + packed.length);
    frame[0] = 1;
    frame.writeUInt32BE(packed.length, 1);
    packed.copy(frame, 5);
    return frame;
  }

  it('enforces the configured maximum message size', async () => {
    behave = well;
    await start({ max_call_recv_msg_size: 2 });
    equal((await ask()).statusCode, 500);
    match(logged(), /RESOURCE_EXHAUSTED.*3 bytes exceeds the limit of 2 bytes/);
  });

  it('retries a call once if the server refuses its stream unprocessed', async () => {
    let calls = 0;
    behave = (stream) => {
      calls += 1;
      if (calls === 1) stream.close(NGHTTP2_REFUSED_STREAM);
      else well(stream, {});
    };
    await start();
    equal((await ask()).body, '{"id":"x"}');
    calls = 0;
    behave = (stream) => {
      calls += 1;
      stream.close(NGHTTP2_REFUSED_STREAM);
    };
    equal((await ask()).statusCode, 500);
    equal(calls, 2);
  });

  it('finishes a call on a connection that received GOAWAY, and opens another one for the next call', async () => {
    behave = (stream) => {
      stream.session!.goaway(NGHTTP2_NO_ERROR);
      setImmediate(() => well(stream, {}));
    };
    await start();
    equal((await ask()).body, '{"id":"x"}');
    behave = well;
    equal((await ask()).body, '{"id":"x"}');
    equal(sessions, 2);
  });

  it('fails at the deadline if the server never responds, and pings the connection', async () => {
    let pinged: () => void;
    const ping = new Promise<void>((resolve) => {
      pinged = resolve;
    });
    server.on('session', (session) => session.on('ping', () => pinged()));
    behave = well;
    await start({}, { timeout: '3s' });
    await ask();
    behave = () => {};
    equal((await ask()).statusCode, 500);
    await ping;
    behave = well;
    equal((await ask()).body, '{"id":"x"}');
  });

  it('aborts a stream that fails after its first messages', async () => {
    behave = (stream) => {
      stream.respond(grpc, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '13', 'grpc-message': 'gone' }));
      stream.write(message);
      stream.end();
    };
    await start({}, { output_encoding: 'ndjson' }, { url_pattern: '/shop.Shop/Watch' });
    const { port } = await gateway.listen();
    const failed = await fetch(`http://127.0.0.1:${port}/f`)
      .then((response) => response.text())
      .catch((error: Error) => error);
    equal(failed instanceof Error, true);
    match(logged(), /INTERNAL: gone/);
  });

  it('fails immediately if the server does not support HTTP/2', async () => {
    const http1 = createTcp((socket) => {
      socket.on('error', () => {});
      socket.resume();
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    http1.listen(0, '127.0.0.1');
    await once(http1, 'listening');
    try {
      const { port } = http1.address() as AddressInfo;
      await start({}, {}, { host: [`127.0.0.1:${port}`] });
      equal((await ask()).statusCode, 500);
      match(logged(), /UNAVAILABLE|INTERNAL/);
    } finally {
      http1.close();
    }
  });
});
