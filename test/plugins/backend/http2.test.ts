import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createServer as createHttps } from 'node:https';
import { Readable } from 'node:stream';
import { atBackend, type BackendSite, type ByteStream, Call, definePlugin, RequestBody } from '#contract';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/backend/http/client/index.ts';
import { type HttpClientConfig, httpClientSchema } from '../../../plugins/backend/http/client/settings.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { Bench, errorOf, pipeRequest, send, textOf } from './http-client.ts';
import { saying, serveHttp2 } from './http2-server.ts';

describe('HTTP/2 to backends', () => {
  const bench = new Bench();
  let made: Certificates;
  let pair: KeyPair;
  let trusted: object;

  before(() => {
    made = makeCertificates();
    const authority = made.authority('authority');
    pair = made.issue('server', authority);
    trusted = { ca_certs: [authority.certificate] };
  });
  after(() => made.remove());
  afterEach(() => bench.close());

  const http2 = (more: object = {}, service?: object) =>
    bench.client({ http2: true, ...more }, service ? { service } : {});

  it('sends pseudo-headers and no connection headers', async () => {
    let seen: string[] = [];
    const { origin } = await serveHttp2(bench, (stream, _headers, raw) => {
      seen = raw;
      stream.respond({ ':status': 201, 'x-one': 'é', 'set-cookie': ['a=1', 'b=2'] });
      stream.end('made');
    });
    const headers = ['X-Mixed', 'Ä', 'Cookie', 'a=1', 'Connection', 'close', 'TE', 'gzip', 'HTTP2-Settings', 'x'];
    headers.push('Keep-Alive', '5', 'Upgrade', 'h2c', 'Transfer-Encoding', 'chunked', 'Authorization', 'a');
    headers.push('authorization', 'b');
    const reply = await send(await http2(), { origin, method: 'POST', target: '/a?b=c', headers, body: 'text' });
    equal(reply.status, 201);
    deepEqual(reply.headers.getAll('set-cookie'), ['a=1', 'b=2']);
    equal(reply.headers.get('x-one'), 'é');
    equal(reply.headers.has(':status'), false);
    equal(await textOf(reply), 'made');
    deepEqual(seen.slice(0, 8), [
      ...[':method', 'POST', ':path', '/a?b=c', ':scheme', 'http', ':authority', new URL(origin).host],
    ]);
    deepEqual(seen.slice(8), [
      ...['x-mixed', 'Ä', 'cookie', 'a=1', 'authorization', 'a', 'authorization', 'b'],
      ...['accept-encoding', 'gzip', 'content-length', '4'],
    ]);
  });

  it('sends the configured Host as :authority', async () => {
    let authority: string | undefined;
    const { origin } = await serveHttp2(bench, (stream, headers) => {
      authority = headers[':authority'];
      stream.respond({ ':status': 204 }, { endStream: true });
    });
    const gate = await http2();
    const request = pipeRequest({ origin });
    request.host = 'shop.example';
    const reply = await gate.attached.protocol!.call(request, new Call());
    deepEqual([reply.status, reply.body, authority], [204, null, 'shop.example']);
  });

  it('is negotiated over TLS, with HTTP/1.1 as the fallback', async () => {
    const both = await serveHttp2(bench, saying('2'), { pair });
    const cert = { cert: pair.certificatePem, key: pair.privateKeyPem };
    const old = await bench.listen(
      createHttps(cert, (request, response) => response.end(request.httpVersion)),
      'https',
      'localhost',
    );
    const gate = await http2({ client_tls: trusted });
    const ask = async (origin: string) => textOf(await send(gate, { origin }));
    deepEqual(
      [await ask(both.origin), await ask(old), await ask(old), await ask(both.origin)],
      ['2', '1.1', '1.1', '2'],
    );
  });

  it('is not used unless it is enabled', async () => {
    const { origin } = await serveHttp2(bench, saying('2'), { pair });
    const gate = await bench.client({ client_tls: trusted });
    equal(await textOf(await send(gate, { origin })), '1.1');
  });

  it('uses one connection for concurrent requests, even across a reload', async () => {
    const { origin, sessions } = await serveHttp2(bench, saying('ok'));
    const gate = await http2();
    const burst = async () => {
      const replies = await Promise.all(Array.from({ length: 80 }, () => send(gate, { origin })));
      for (const reply of replies) equal(await textOf(reply), 'ok');
    };
    await burst();
    await gate.reload({ http2: true });
    await burst();
    equal(sessions.length, 1);
  });

  it('opens more connections if a server allows few streams, and queues further requests', async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const { origin, sessions } = await serveHttp2(
      bench,
      (stream) => {
        most = Math.max(most, ++running);
        waiting.push(() => {
          running -= 1;
          stream.respond({ ':status': 200 });
          stream.end('ok');
        });
      },
      { settings: { maxConcurrentStreams: 2 } },
    );
    const gate = await http2();
    const replies = Array.from({ length: 50 }, () => send(gate, { origin }));
    await until(() => running === 32);
    equal(sessions.length, 16);
    let done = 0;
    for (const reply of replies) void reply.then(() => (done += 1));
    await until(() => {
      for (const respond of waiting.splice(0)) respond();
      return done === 50;
    });
    for (const reply of replies) equal(await textOf(await reply), 'ok');
    equal(most, 32);
  });

  it('streams a request body at the speed of the backend', async () => {
    let received = 0;
    let start = () => {};
    const { origin } = await serveHttp2(bench, (stream) => {
      start = () =>
        void stream
          .on('data', (chunk: Buffer) => {
            received += chunk.length;
          })
          .on('end', () => {
            stream.respond({ ':status': 200 });
            stream.end(String(received));
          });
    });
    let made = 0;
    const size = 64 * 1024;
    const pieces = (async function* () {
      for (; made < 200; made++) yield Buffer.alloc(size);
    })();
    const body = RequestBody.stream(Readable.from(pieces, { objectMode: false, highWaterMark: size }), undefined);
    const reply = send(await http2(), { origin, method: 'POST', body });
    await until(() => made > 0);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    ok(made < 50, `${made} pieces while nobody reads`);
    start();
    equal(await textOf(await reply), String(200 * size));
  });

  it('pauses a response that the client does not read, without pausing other responses on the same connection', async () => {
    const size = 16 * 1024 * 1024;
    let written = 0;
    const { origin, sessions } = await serveHttp2(bench, (stream, headers) => {
      stream.respond({ ':status': 200 });
      if (headers[':path'] === '/small') return stream.end('small');
      const piece = Buffer.alloc(64 * 1024);
      const write = () => {
        while (written < size) {
          written += piece.length;
          if (!stream.write(piece)) return stream.once('drain', write);
        }
        return stream.end();
      };
      write();
    });
    const gate = await http2();
    const large = await send(gate, { origin, target: '/large' });
    for (let count = 0; count < 20; count++) {
      equal(await textOf(await send(gate, { origin, target: '/small' })), 'small');
    }
    ok(written < 2 * 1024 * 1024, `${written} bytes`);
    equal((await (large.body as ByteStream).collect(1 << 30)).length, size);
    equal(sessions.length, 1);
  });

  it('supports trailers, skips early hints, and reads no body for HEAD', async () => {
    const { origin } = await serveHttp2(bench, (stream, headers) => {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>' });
      if (headers[':method'] === 'HEAD')
        return stream.respond({ ':status': 200, 'content-length': 5 }, { endStream: true });
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '42' }));
      return stream.end('body');
    });
    const gate = await http2();
    const reply = await send(gate, { origin });
    equal(reply.headers.has('link'), false);
    equal(await textOf(reply), 'body');
    const { trailers } = reply;
    equal((typeof trailers === 'function' ? trailers() : trailers)?.get('x-sum'), '42');
    const head = await send(gate, { origin, method: 'HEAD' });
    deepEqual([head.status, head.body, head.headers.get('content-length')], [200, null, '5']);
  });

  it('returns a response that arrives before the request body is complete', async () => {
    let reset: number | undefined;
    const { origin, open } = await serveHttp2(bench, (stream) => {
      stream.respond({ ':status': 413 });
      stream.end('too much');
      stream.once('close', () => {
        reset = stream.rstCode;
      });
    });
    const source = new Readable({ read() {} });
    source.push('begin');
    const body = RequestBody.stream(source, undefined);
    const reply = await send(await http2(), { origin, method: 'POST', body });
    deepEqual([reply.status, await textOf(reply)], [413, 'too much']);
    await until(() => reset !== undefined && source.destroyed);
    equal(open.size, 1);
  });

  it('closes a connection that was idle for idle_connection_timeout', async () => {
    const { origin, open } = await serveHttp2(bench, saying('ok'));
    const gate = await http2({}, { idle_connection_timeout: 20 });
    equal(await textOf(await send(gate, { origin })), 'ok');
    await until(() => open.size === 0);
    equal(await textOf(await send(gate, { origin })), 'ok');
  });

  it('closes its connections when their configuration is replaced', async () => {
    const { origin, open } = await serveHttp2(bench, saying('ok'));
    const gate = await http2();
    equal(await textOf(await send(gate, { origin })), 'ok');
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    await until(() => open.size === 0);
  });

  it('is not used for redirect targets without TLS', async () => {
    const other = await bench.serve((request, response) => response.end(request.httpVersion));
    const { origin } = await serveHttp2(bench, (stream) => {
      stream.respond({ ':status': 302, location: `${other}/x` }, { endStream: true });
    });
    equal(await textOf(await send(await http2(), { origin })), '1.1');
  });

  it('is not used for components with their own connections', async () => {
    const { origin } = await serveHttp2(bench, saying('2'), { pair });
    const attach = (site: BackendSite<HttpClientConfig>) => ({
      protocol: { call: plugin.http!(site as never, { ownConnection: 'ada' }), schemes: ['http', 'https'] },
    });
    const own = definePlugin({ ...plugin, places: [atBackend(httpClientSchema, attach)] });
    const gate = await openHarness(own, 'backend', { http2: true, client_tls: trusted });
    equal(await textOf(await send(gate, { origin })), '1.1');
    await gate.close();
  });

  for (const [what, config, service] of [
    ['a proxy', { proxy_address: 'http://127.0.0.1:3128' }, {}],
    ['disable_keep_alives', {}, { disable_keep_alives: true }],
  ] as const) {
    it(`is rejected in combination with ${what}`, async () => {
      await rejects(http2(config, service), ({ errors }: ConfigErrors) => {
        deepEqual([errors[0]!.code, errors[0]!.pointer], ['HTTP2_UNUSABLE', '/http2']);
        return true;
      });
    });
  }

  it('reports the cause if the connection is refused or not trusted', async () => {
    const { origin } = await serveHttp2(bench, saying('ok'), { pair });
    const gate = await http2();
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_TLS');
    equal(errorOf(await send(gate, { origin: 'http://127.0.0.1:1' })).code, 'BACKEND_REFUSED');
    equal(errorOf(await send(gate, { origin: 'http://no-such-host.invalid' })).code, 'BACKEND_DNS');
  });
});
