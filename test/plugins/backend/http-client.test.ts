import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Bench, bodyOf, errorOf, send, streamBody, textOf } from './http-client.ts';

describe('hide_client of backend/http/client', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  const headers = [
    'X-Forwarded-For',
    '192.0.2.1',
    'X-Forwarded-Host',
    'shop.example',
    'X-Real-IP',
    '192.0.2.1',
    'X-A',
    'a',
  ];
  const sentWith = async (config: object): Promise<string[]> => {
    let seen: string[] = [];
    const origin = await bench.serve(({ headers: received }, response) => {
      seen = Object.keys(received).filter((name) => name.startsWith('x-'));
      response.end();
    });
    await send(await bench.client(config), { origin, headers: [...headers] });
    return seen.sort();
  };

  it('removes all headers that identify the client', async () => {
    deepEqual(await sentWith({ hide_client: true }), ['x-a']);
  });
  it('is disabled by default', async () => {
    deepEqual(await sentWith({}), ['x-a', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']);
  });
});

describe('backend/http/client', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  it('returns the status, the headers in their original case and the body of the backend', async () => {
    const origin = await bench.serve((_request, response) => {
      response.writeHead(418, ['X-ODD-Case', 'Yes', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']);
      response.end('teapot');
    });
    const reply = await send(await bench.client(), { origin });
    equal(reply.status, 418);
    deepEqual(reply.headers.getAll('set-cookie'), ['a=1', 'b=2']);
    ok(reply.headers.list.includes('X-ODD-Case'));
    equal(await textOf(reply), 'teapot');
  });

  it('removes hop-by-hop headers from the response, including those that Connection lists', async () => {
    const origin = await bench.serveRaw((socket) => {
      socket.end(
        'HTTP/1.1 200 OK\r\nConnection: close, X-Private\r\nX-Private: 1\r\nKeep-Alive: timeout=5\r\nProxy-Thing: 1\r\n' +
          'TE: x\r\nTrailer: y\r\nUpgrade: z\r\nTransfer-Encoding: chunked\r\nX-Public: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      );
    });
    const reply = await send(await bench.client(), { origin });
    deepEqual(reply.headers.list, ['X-Public', '2']);
    equal(await textOf(reply), 'ok');
  });

  it('sends only the forwarded headers, Host and Accept-Encoding', async () => {
    let seen: string[] = [];
    const origin = await bench.serve((request, response) => {
      seen = [request.method!, request.url!, ...request.rawHeaders];
      response.end();
    });
    await send(await bench.client(), {
      origin,
      target: '/a%20b?c=1',
      headers: ['User-Agent', 'x', 'X-Two', '1', 'X-Two', '2'],
    });
    deepEqual(seen, [
      ...['GET', '/a%20b?c=1', 'Host', origin.slice(7), 'Connection', 'keep-alive'],
      ...['User-Agent', 'x', 'X-Two', '1', 'X-Two', '2', 'Accept-Encoding', 'gzip'],
    ]);
  });

  it('does not request gzip with disable_compression or for a range request', async () => {
    const seen: (string | undefined)[] = [];
    const origin = await bench.serve((request, response) => {
      seen.push(request.headers['accept-encoding'] as string | undefined);
      response.end();
    });
    await send(await bench.client({}, { service: { disable_compression: true } }), { origin });
    await send(await bench.client(), { origin, headers: ['Range', 'bytes=0-1'] });
    deepEqual(seen, [undefined, undefined]);
  });

  it('drops hop-by-hop headers, Host, Expect and Content-Length of the client', async () => {
    let seen: IncomingMessage['headers'] = {};
    const origin = await bench.serve((request, response) => {
      seen = request.headers;
      response.end();
    });
    const headers = ['Host', 'evil', 'Connection', 'X-A', 'Keep-Alive', '1', 'TE', 'trailers', 'Upgrade', 'h2c'];
    headers.push('Expect', '100-continue', 'Content-Length', '5', 'Proxy-Authorization', 'x', 'Transfer-Encoding', 'y');
    const reply = await send(await bench.client(), { origin, headers: [...headers] });
    equal(reply.status, 200);
    deepEqual(Object.keys(seen).sort(), ['accept-encoding', 'connection', 'host']);
    equal(seen.host, origin.slice(7));
  });

  it('sends Content-Length for a body of known length, and chunks otherwise', async () => {
    const seen: string[] = [];
    const origin = await bench.serve(async (request, response) => {
      const body = await bodyOf(request);
      seen.push(
        `${request.method} ${request.headers['content-length'] ?? request.headers['transfer-encoding']} ${body}`,
      );
      response.end();
    });
    const gate = await bench.client();
    await send(gate, { origin, method: 'POST', body: 'abc' });
    await send(gate, { origin, method: 'POST', body: streamBody(['ab', 'cd'], 4) });
    await send(gate, { origin, method: 'POST', body: streamBody(['ab', 'cd']) });
    await send(gate, { origin, method: 'POST' });
    await send(gate, { origin, method: 'GET', body: 'abc' });
    await send(gate, { origin, method: 'DELETE', body: streamBody(['abc'], 3) });
    deepEqual(seen, ['POST 3 abc', 'POST 4 abcd', 'POST chunked abcd', 'POST 0 ', 'GET 3 abc', 'DELETE 3 abc']);
  });

  it('decompresses a gzip response that it requested, and drops Content-Encoding and Content-Length', async () => {
    const packed = gzipSync('{"a":1}');
    const origin = await bench.serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': packed.length, 'X-A': '1' }).end(packed);
    });
    const reply = await send(await bench.client(), { origin });
    equal(reply.headers.get('content-encoding'), undefined);
    equal(reply.headers.get('content-length'), undefined);
    equal(await textOf(reply), '{"a":1}');
  });

  it('decompresses a gzip body that arrives slowly in pieces', async () => {
    const text = 'x'.repeat(3_000_000);
    const packed = gzipSync(text);
    const origin = await bench.serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' });
      response.write(packed.subarray(0, 20));
      setImmediate(() => response.end(packed.subarray(20)));
    });
    equal(await textOf(await send(await bench.client(), { origin })), text);
  });

  it('decompresses a large body that arrives in one piece', async () => {
    const text = 'y'.repeat(5_000_000);
    const origin = await bench.serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(text));
    });
    equal((await textOf(await send(await bench.client(), { origin }))).length, text.length);
  });

  it('returns a compressed body unchanged if the client requested it', async () => {
    const packed = gzipSync('data');
    const origin = await bench.serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(packed);
    });
    const reply = await send(await bench.client(), { origin, headers: ['Accept-Encoding', 'gzip'] });
    equal(reply.headers.get('content-encoding'), 'gzip');
    equal((await textOf(reply)).length, packed.toString().length);
  });

  it('fails for a body that is declared as gzip but is not', async () => {
    const origin = await bench.serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('plain');
    });
    await rejects(textOf(await send(await bench.client(), { origin })), { code: 'BACKEND_GZIP' });
  });

  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    it(`returns no body for a ${method} response with ${status}`, async () => {
      const origin = await bench.serve((_request, response) => {
        response.writeHead(status, status === 200 ? { 'Content-Length': 5 } : {}).end();
      });
      const reply = await send(await bench.client(), { origin, method });
      equal(reply.status, status);
      equal(reply.body, null);
      if (status === 200) equal(reply.headers.get('content-length'), '5');
    });
  }

  it('skips interim responses', async () => {
    const origin = await bench.serve((_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.writeProcessing();
      response.writeHead(200, { 'X-A': '1' }).end('ok');
    });
    const reply = await send(await bench.client(), { origin });
    deepEqual([reply.status, reply.headers.has('link'), await textOf(reply)], [200, false, 'ok']);
  });

  it('accepts a response with 300 KB of headers', async () => {
    const origin = await bench.serve((_request, response) => {
      for (let index = 0; index < 30; index += 1) response.setHeader(`X-${index}`, 'v'.repeat(10_000));
      response.end('ok');
    });
    const reply = await send(await bench.client(), { origin });
    equal(reply.headers.get('x-29')?.length, 10_000);
    equal(await textOf(reply), 'ok');
  });

  it('rejects line breaks in headers and paths', async () => {
    let calls = 0;
    const origin = await bench.serve((_request, response) => {
      calls += 1;
      response.end();
    });
    const gate = await bench.client();
    const inValue = await send(gate, { origin, headers: ['X-A', 'b\r\nX-Evil: 1'] });
    const inName = await send(gate, { origin, headers: ['X-A\r\nX-Evil', '1'] });
    const inPath = await send(gate, { origin, target: '/a HTTP/1.1\r\nX-Evil: 1' });
    for (const reply of [inValue, inName, inPath]) equal(errorOf(reply).code, 'BACKEND_REQUEST_INVALID');
    equal(calls, 0);
  });
});
