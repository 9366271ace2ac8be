import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { atService, ByteStream, definePlugin, HeaderBag, makeRequest, Reply, RequestBody } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** A message with its flag and length prefix. */
function frame(text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

function messagesOf(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    messages.push(bytes.toString('utf8', at + 5, end));
    at = end;
  }
  return messages;
}

/** Serves two methods of a gRPC service: a unary one that calls an endpoint, and one that echoes its input. */
const server = definePlugin({
  name: 'test/grpc',
  description: 'Answers gRPC on the port of the service.',
  places: [
    atService({ type: 'object', properties: {} } as const, (site) => {
      const headers = () => new HeaderBag(['Content-Type', 'application/grpc']);
      const status = (code: string) => new HeaderBag(['grpc-status', code]);
      return {
        routes: [
          {
            method: 'POST',
            path: '/shop.Orders/*',
            description: 'gRPC: shop.Orders',
            async handle(request, call) {
              const read = request.body!;
              if (request.path === '/shop.Orders/Echo') {
                const echo = ByteStream.from(read.take() as never);
                return Object.assign(Reply.raw(200, headers(), echo), { trailers: status('0') });
              }
              if (request.path !== '/shop.Orders/Get') {
                return Object.assign(Reply.raw(200, headers(), Buffer.alloc(0)), { trailers: status('12') });
              }
              const [id = ''] = messagesOf(Buffer.from(await read.bytes()));
              const path = `/orders/${encodeURIComponent(id)}`;
              const reply = await site.dispatch(
                makeRequest({ method: 'POST', path, body: RequestBody.of('{}') }),
                call,
              );
              const code = reply.status === 200 ? '0' : '5';
              const message = code === '0' ? frame(String(reply.body)) : Buffer.alloc(0);
              return Object.assign(Reply.raw(200, headers(), message), { trailers: status(code) });
            },
          },
        ],
      };
    }),
  ],
});

describe('gRPC frames on the port of the service', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let session: ClientHttp2Session;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      response.writeHead(target === '/orders/none' ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ target }));
    });
    gateway = await startWith([server], {
      use_h2c: true,
      extra_config: { 'test/grpc': {} },
      endpoints: [
        {
          endpoint: '/orders/{id}',
          method: 'POST',
          backend: [{ host: [backend.url], url_pattern: '/orders/{id}' }],
        },
      ],
    });
    const { port } = await gateway.listen();
    session = connect(`http://127.0.0.1:${port}`);
  });
  after(async () => {
    session.close();
    await gateway.close();
    await backend.close();
  });

  const open = (method: string): ClientHttp2Stream =>
    session.request({
      ':method': 'POST',
      ':path': `/shop.Orders/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
  const answerTo = async (stream: ClientHttp2Stream) => {
    const trailers = once(stream, 'trailers') as Promise<[IncomingHttpHeaders]>;
    const messages = messagesOf(await buffer(stream));
    return { messages, status: (await trailers)[0]['grpc-status'] };
  };
  const ask = (method: string, message: string) => {
    const stream = open(method);
    stream.end(frame(message));
    return answerTo(stream);
  };

  it('reach the method that they name, which calls an endpoint in process', async () => {
    deepEqual(await ask('Get', 'a b'), { messages: ['{"target":"/orders/a%20b"}'], status: '0' });
  });

  it('carry the status of a failure in trailers after 200', async () => {
    deepEqual(await ask('Get', 'none'), { messages: [], status: '5' });
    deepEqual(await ask('Nothing', ''), { messages: [], status: '12' });
  });

  it('end a call even if the client has not closed its side of the stream', async () => {
    const stream = open('Nothing');
    stream.write(frame('one'));
    const closed = once(stream, 'close');
    deepEqual(await answerTo(stream), { messages: [], status: '12' });
    await closed;
    equal(stream.rstCode, constants.NGHTTP2_NO_ERROR);
  });

  it('can be sent in both directions while the call is open', async () => {
    const stream = open('Echo');
    stream.write(frame('one'));
    const [first] = (await once(stream, 'data')) as [Buffer];
    deepEqual(messagesOf(first), ['one']);
    stream.end(frame('two'));
    deepEqual(await answerTo(stream), { messages: ['two'], status: '0' });
  });

  it('carry binary data unchanged', async () => {
    const stream = open('Echo');
    const bytes = Buffer.concat([Buffer.from([0, 0, 0, 1, 0]), Buffer.alloc(256, 0xff)]);
    stream.end(bytes);
    equal(bytes.equals(await buffer(stream)), true);
  });
});
