import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { until } from '../../../support/conditions.ts';
import { callUnary } from '../../../support/grpc/caller.ts';
import { find, Stage } from './fixture.ts';

function frame(message: Uint8Array, flag = 0): Buffer {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** `name: "a"` */
const good = Buffer.from([10, 1, 97]);

describe('the gRPC server with misbehaving clients', () => {
  const stage = new Stage();
  const sessions: ClientHttp2Session[] = [];
  before(() => stage.open());
  after(() => stage.close());
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy();
    await stage.end();
  });

  const open = (): ClientHttp2Session => {
    const session = connect(`http://127.0.0.1:${stage.port}`).on('error', () => {});
    sessions.push(session);
    return session;
  };
  const start = async (more?: Record<string, unknown>, url = '/x') => {
    await stage.start([find(stage.http(url))], more);
    return open();
  };
  const begin = (session: ClientHttp2Session, headers: Record<string, unknown> = {}) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/shop.Shop/Find',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    stream.on('error', () => {});
    return stream;
  };
  /** The response: HTTP status, headers, trailers and body. */
  const answerTo = async (stream: ReturnType<typeof begin>) => {
    let trailers: IncomingHttpHeaders = {};
    stream.on('trailers', (given) => {
      trailers = given;
    });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    return { headers, body: await buffer(stream), trailers };
  };
  const send = (session: ClientHttp2Session, bytes: Uint8Array, headers?: Record<string, unknown>) => {
    const stream = begin(session, headers);
    stream.end(bytes);
    return answerTo(stream);
  };
  const codeOf = async (...given: Parameters<typeof send>) => Number((await send(...given)).trailers['grpc-status']);
  const isServing = async () => equal((await callUnary(stage.client(), 'Find')).code, status.OK);

  it('rejects invalid messages', async () => {
    const session = await start();
    equal(await codeOf(session, frame(good)), status.OK);
    const before = stage.backend.requests.length;
    equal(await codeOf(session, frame(good).subarray(0, 6)), status.INVALID_ARGUMENT);
    equal(await codeOf(session, frame(Buffer.from([10, 200, 97]))), status.INVALID_ARGUMENT);
    equal(await codeOf(session, frame(good, 2)), status.INVALID_ARGUMENT);
    equal(await codeOf(session, frame(good, 1)), status.INVALID_ARGUMENT);
    equal(stage.backend.requests.length, before);
    await isServing();
  });

  it('rejects a message that cannot be converted to JSON, without a stack trace in the log', async () => {
    await stage.start([{ ...find(stage.http('/x')), name: 'Echo', payload_params: { full_name: 'name' } }]);
    const session = open();
    // A google.protobuf.Value without a kind.
    const empty = Buffer.from([0x9a, 0x01, 0]);
    equal(await codeOf(session, frame(empty), { ':path': '/shop.Shop/Echo' }), status.INVALID_ARGUMENT);
    deepEqual(
      stage.sinks.lines.filter((line) => /\n? +at /.test(line)),
      [],
    );
  });

  it('rejects a message with more elements than max_elements', async () => {
    await stage.start([{ ...find(stage.http('/x')), name: 'Echo' }]);
    const session = open();
    const label = Buffer.from([0x5a, 4, 10, 0, 18, 0]);
    const labels = (count: number) => frame(Buffer.concat(Array.from({ length: count }, () => label)));
    equal(await codeOf(session, labels(6000), { ':path': '/shop.Shop/Echo' }), status.OK);
    equal(await codeOf(session, labels(7000), { ':path': '/shop.Shop/Echo' }), status.RESOURCE_EXHAUSTED);
    await stage.gateway.reload(
      stage.config([{ ...find(stage.http('/x')), name: 'Echo' }], { server: { max_elements: 0 } }),
    );
    equal(await codeOf(session, labels(7000), { ':path': '/shop.Shop/Echo' }), status.OK);
  });

  it('rejects a call with no message or with more than one', async () => {
    const session = await start();
    equal(await codeOf(session, Buffer.alloc(0)), status.UNIMPLEMENTED);
    equal(await codeOf(session, Buffer.concat([frame(good), frame(good)])), status.UNIMPLEMENTED);
  });

  it('rejects an oversized message at its length prefix', async () => {
    const session = await start({ extra_config: { router: { max_payload: 1000 } } });
    const stream = begin(session);
    stream.write(Buffer.from([0, 0, 0, 4, 0]));
    const { trailers } = await answerTo(stream);
    equal(trailers['grpc-status'], String(status.RESOURCE_EXHAUSTED));
    equal(
      await codeOf(session, frame(Buffer.concat([Buffer.from([10, 0xde, 0x07]), Buffer.alloc(990, 97)]))),
      status.OK,
    );
  });

  it('accepts up to 4 MiB by default', async () => {
    const session = await start();
    const long = Buffer.from([0, 0, 0x40, 0, 1]);
    const stream = begin(session);
    stream.write(long);
    equal((await answerTo(stream)).trailers['grpc-status'], String(status.RESOURCE_EXHAUSTED));
  });

  it('does not decompress beyond the maximum message size', async () => {
    const session = await start();
    const gzip = { 'grpc-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    equal(await codeOf(session, frame(bomb, 1), gzip), status.RESOURCE_EXHAUSTED);
    equal(await codeOf(session, frame(good, 1), gzip), status.INVALID_ARGUMENT);
    equal(await codeOf(session, frame(gzipSync(good), 1), gzip), status.OK);
  });

  it('lists its compression codecs for a client that requests another one', async () => {
    const { headers, trailers } = await send(await start(), frame(good), { 'grpc-encoding': 'snappy' });
    deepEqual(
      [trailers['grpc-status'], headers['grpc-accept-encoding']],
      [String(status.UNIMPLEMENTED), 'identity,gzip'],
    );
  });

  it('compresses responses from 1 KiB on for clients that accept it', async () => {
    const session = await start({}, '/long');
    const plain = await send(session, frame(good), { 'grpc-accept-encoding': 'identity,gzip' });
    deepEqual([plain.headers['grpc-encoding'], plain.body[0]], [undefined, 0]);
    const packed = await send(session, frame(good), { 'grpc-encoding': 'gzip' });
    deepEqual([packed.headers['grpc-encoding'], packed.body[0]], ['gzip', 1]);
    deepEqual(gunzipSync(packed.body.subarray(5)), plain.body.subarray(5));
  });

  it('treats other content types as HTTP requests', async () => {
    const session = await start();
    for (const type of ['application/json', 'application/grpc-web', 'application/grpc+json', '']) {
      const { headers } = await send(session, frame(good), { 'content-type': type });
      equal(headers[':status'], 415, type);
    }
    equal(
      (await send(session, frame(good), { 'content-type': 'application/grpc+proto' })).trailers['grpc-status'],
      '0',
    );
    equal((await answerTo(begin(session, { ':method': 'GET' }))).headers[':status'], 405);
    const over1 = await fetch(`http://127.0.0.1:${stage.port}/shop.Shop/Find`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/grpc' },
      body: frame(good),
    });
    equal(over1.status, 404);
    await over1.arrayBuffer();
  });

  it('ignores invalid timeouts', async () => {
    const session = await start();
    equal(await codeOf(session, frame(good), { 'grpc-timeout': '1' }), status.INTERNAL);
    equal(await codeOf(session, frame(good), { 'grpc-timeout': '99999999999S' }), status.INTERNAL);
    equal(await codeOf(session, frame(good), { 'grpc-timeout': '0m' }), status.DEADLINE_EXCEEDED);
  });

  it('applies the request timeouts to a message', async () => {
    const session = await start({ timeout: '50ms' });
    const stream = begin(session);
    stream.write(frame(good).subarray(0, 6));
    equal((await answerTo(stream)).trailers['grpc-status'], String(status.DEADLINE_EXCEEDED));
    await until(() => stage.gateway.status.calls === 0);
  });

  it('cancels calls that the client cancels', async () => {
    const session = await start({}, '/held');
    const stream = begin(session);
    stream.end(frame(good));
    await until(() => stage.held.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => stage.gateway.status.calls === 0);
  });

  it('closes the connection of a client that opens calls only to reset them', async () => {
    const session = await start({}, '/held');
    const ended = new Promise<void>((resolve) => {
      session.once('close', resolve);
    });
    const resetting = (): void => {
      for (let at = 0; at < 200 && !session.destroyed; at++) begin(session).close(constants.NGHTTP2_CANCEL);
      if (!session.destroyed) setImmediate(resetting);
    };
    session.once('connect', resetting);
    await ended;
    await until(() => stage.gateway.status.calls === 0);
    equal((await callUnary(stage.client(), 'Echo')).code, status.UNIMPLEMENTED);
  });

  it('limits concurrent calls on a connection', async () => {
    const session = await start();
    const [settings] = (await once(session, 'remoteSettings')) as [{ maxConcurrentStreams: number }];
    equal(settings.maxConcurrentStreams, 250);
  });

  it('limits metadata to the maximum size of headers', async () => {
    const session = await start({ max_header_bytes: 8192 });
    const { headers } = await send(session, frame(good), { 'x-much': 'x'.repeat(8500) }).catch(() => ({
      headers: { ':status': 431 },
    }));
    equal(headers[':status'], 431);
    await isServing();
  });

  it('serves HTTP/1.1 on the same port after connections that begin like HTTP/2 and continue differently', async () => {
    await start();
    for (const bytes of ['P', 'PR', 'PRI', 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', 'PRIVATE / HTTP/1.1\r\n\r\n']) {
      const socket = connectTcp(stage.port, '127.0.0.1').on('error', () => {});
      socket.end(bytes);
      socket.resume();
      await once(socket, 'close');
    }
    const response = await fetch(`http://127.0.0.1:${stage.port}/__health`);
    match(await response.text(), /ok/);
    await isServing();
  });
});
