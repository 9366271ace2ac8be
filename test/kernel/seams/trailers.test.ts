import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { after as afterReply, atEndpoint, ByteStream, definePlugin, HeaderBag, Reply } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const nothing = { type: 'object', properties: {} } as const;

/** Sends the length of a streamed body as a trailer, and the component's name after any other body. */
const counting = definePlugin({
  name: 'test/count',
  description: 'Counts bytes.',
  places: [
    atEndpoint(nothing, () => ({
      endpoint: afterReply((reply) => {
        let length = 0;
        const { body } = reply;
        reply.trailers = new HeaderBag(['X-Made-By', 'a', 'X-Made-By', 'b', 'Content-Length', '9']);
        if (!(body instanceof ByteStream)) return;
        body.tap({
          write(chunk) {
            length += chunk.length;
          },
          end() {},
          fail() {},
        });
        reply.trailers = () => new HeaderBag(['X-Length', String(length)]);
      }),
    })),
  ],
});
const faulty = definePlugin({
  name: 'test/faulty',
  description: 'Fails behind the body.',
  places: [
    atEndpoint(nothing, () => ({
      endpoint: () => () =>
        Object.assign(Reply.raw(200, new HeaderBag(), Buffer.from('body')), {
          trailers: () => {
            throw new Error('no count');
          },
        }),
    })),
  ],
});

describe('trailers that a component sets', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let lines: string[];

  before(async () => {
    backend = await startBackend((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"a":');
      response.end('1}');
    });
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    const endpoint = (path: string, component: string, output: string) => ({
      endpoint: path,
      output_encoding: output,
      extra_config: { [component]: {} },
      backend: [{ host: [backend.url], url_pattern: '/' }],
    });
    const endpoints = [
      endpoint('/whole', 'test/count', 'json'),
      endpoint('/stream', 'test/count', 'no-op'),
      endpoint('/faulty', 'test/faulty', 'json'),
    ];
    gateway = await startWith([counting, faulty], { use_h2c: true, endpoints }, { sinks });
    ({ port } = await gateway.listen());
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const asking = request({ port, host: '127.0.0.1', path, headers, method, agent: false }).end();
    const [message] = (await once(asking, 'response')) as [IncomingMessage];
    const text = String(await buffer(message));
    return { text, headers: message.headers, trailers: message.rawTrailers };
  };
  const asking = { TE: 'deflate, trailers', Connection: 'TE' };

  it('are announced and sent to a client that accepts them, except forbidden names', async () => {
    const { text, headers, trailers } = await get('/whole', asking);
    deepEqual([text, trailers], ['{"a":1}', ['X-Made-By', 'a', 'X-Made-By', 'b']]);
    deepEqual([headers.trailer, headers['transfer-encoding']], ['X-Made-By', 'chunked']);
  });

  it('can be known only once a stream has ended', async () => {
    const { text, trailers } = await get('/stream', asking);
    deepEqual([text, trailers], ['{"a":1}', ['X-Length', '7']]);
  });

  it('are omitted for a client that does not accept them, and without a body', async () => {
    const plain = await get('/whole');
    deepEqual([plain.trailers, plain.headers.trailer, plain.headers['content-length']], [[], undefined, '7']);
    const head = await get('/whole', asking, 'HEAD');
    deepEqual([head.trailers, head.text], [[], '']);
  });

  for (const [path, name, value] of [
    ['/whole', 'x-made-by', 'a, b'],
    ['/stream', 'x-length', '7'],
  ] as const) {
    it(`are sent over HTTP/2, to ${path}`, async () => {
      const session = connect(`http://127.0.0.1:${port}`);
      const stream = session.request({ ':path': path });
      const seen: IncomingHttpHeaders[] = [];
      stream.on('trailers', (trailers) => seen.push(trailers));
      equal(String(await buffer(stream)), '{"a":1}');
      deepEqual(
        seen.map((trailers) => [trailers[name]].flat().join(', ')),
        [value],
      );
      await new Promise<void>((resolve) => {
        session.close(resolve);
      });
    });
  }

  it('are omitted if computing them fails, without affecting the body', async () => {
    const { text, trailers } = await get('/faulty', asking);
    deepEqual([text, trailers], ['body', []]);
    ok(lines.some((line) => line.includes('no count')));
    match(lines.join(''), /trailers omitted because/);
  });
});

describe('trailers that a backend sends', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;
  let lines: string[];

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/whole') return response.writeHead(200, { 'Content-Length': 7 }).end('{"a":1}');
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"a":1}');
      if (target === '/flood') {
        response.addTrailers(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`X-${at}`, 'a'.repeat(1000)])));
      } else if (target === '/sums') {
        response.addTrailers({ 'X-Checksum': 'abc', Connection: 'X-Hop', 'X-Hop': 'mine', 'X-Gateway': 'false' });
      }
      response.end();
    });
    const sinks = rememberingSinks();
    ({ lines } = sinks);
    const paths = ['sums', 'none', 'whole', 'flood'];
    const one = (path: string) => [{ host: [backend.url], url_pattern: `/${path}` }];
    gateway = await startWith(
      [],
      {
        use_h2c: true,
        endpoints: [
          ...paths.map((path) => ({ endpoint: `/${path}`, output_encoding: 'no-op', backend: one(path) })),
          { endpoint: '/decoded', backend: one('sums') },
        ],
      },
      { sinks },
    );
    ({ port } = await gateway.listen());
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const get = async (path: string, headers: Record<string, string> = { TE: 'trailers', Connection: 'TE' }) => {
    const asking = request({ port, host: '127.0.0.1', path, headers, agent: false }).end();
    const [message] = (await once(asking, 'response')) as [IncomingMessage];
    equal(String(await buffer(message)), '{"a":1}');
    return { headers: message.headers, trailers: message.rawTrailers };
  };

  it('are forwarded by a no-op endpoint to a client that accepts trailers, except hop-by-hop headers and those that the gateway sets', async () => {
    deepEqual((await get('/sums')).trailers, ['X-Checksum', 'abc']);
  });

  it('are forwarded over HTTP/2', async () => {
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':path': '/sums' });
    const seen: IncomingHttpHeaders[] = [];
    stream.on('trailers', (trailers) => seen.push(trailers));
    equal(String(await buffer(stream)), '{"a":1}');
    deepEqual(
      seen.map((trailers) => trailers['x-checksum']),
      ['abc'],
    );
    await new Promise<void>((resolve) => {
      session.close(resolve);
    });
  });

  it('are omitted for a client that does not accept them, and from a decoded response', async () => {
    deepEqual((await get('/sums', {})).trailers, []);
    deepEqual((await get('/decoded')).trailers, []);
  });

  it('are optional', async () => {
    for (const path of ['/none', '/whole']) {
      const { trailers, headers } = await get(path);
      deepEqual([trailers, headers.trailer], [[], undefined]);
    }
    equal((await get('/whole')).headers['content-length'], '7');
  });

  it('are omitted with a log line if they exceed 16 KiB', async () => {
    deepEqual((await get('/flood')).trailers, []);
    match(lines.join(''), /trailers of the backend dropped: \d+ bytes exceed the limit of 16384/);
  });
});
