import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer as createRawServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Call, RequestBody } from '#contract';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { Bench, errorOf, send, streamBody, textOf } from './http-client.ts';
import { saying, serveHttp2 } from './http2-server.ts';

describe('HTTP/2 failures of backend/http/client:', () => {
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

  it('a call that times out ends its stream but not the connection', async () => {
    const resets: (number | undefined)[] = [];
    const { origin, sessions } = await serveHttp2(bench, (stream, headers) => {
      if (headers[':path'] === '/ok') return saying('ok')(stream, headers, []);
      stream.once('close', () => resets.push(stream.rstCode));
      return undefined;
    });
    const gate = await http2();
    equal(await textOf(await send(gate, { origin, target: '/ok' })), 'ok');
    const call = new Call(undefined, 30);
    equal(errorOf(await send(gate, { origin, call })).code, 'CALL_DEADLINE');
    await until(() => resets.length === 1);
    equal(resets[0], constants.NGHTTP2_CANCEL);
    equal(await textOf(await send(gate, { origin, target: '/ok' })), 'ok');
    equal(sessions.length, 1);
  });

  it('a reader that stops before the end of a body ends only its stream', async () => {
    let reset: number | undefined;
    const { origin, open } = await serveHttp2(bench, (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('a');
      stream.once('close', () => {
        reset = stream.rstCode;
      });
    });
    const reply = await send(await http2(), { origin });
    (reply.body as { cancel(reason: Error): void }).cancel(new Error('enough'));
    await until(() => reset !== undefined);
    deepEqual([reset, open.size], [constants.NGHTTP2_CANCEL, 1]);
  });

  it('headers that take longer than response_header_timeout fail the call', async () => {
    const { origin } = await serveHttp2(bench, () => {});
    const gate = await http2({}, { response_header_timeout: 30 });
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_HEADER_TIMEOUT');
  });

  it('headers larger than 128 KiB fail the call, and later calls use another connection', async () => {
    const { origin, sessions } = await serveHttp2(bench, (stream, headers) => {
      const count = Number(headers[':path']!.slice(1));
      const fields = Array.from({ length: count }, (_, index) => [`x-${index}`, 'a'.repeat(10_000)]);
      stream.respond({ ':status': 200, ...Object.fromEntries(fields) });
      stream.end('ok');
    });
    const gate = await http2();
    const ask = (count: number) => send(gate, { origin, target: `/${count}` });
    equal(await textOf(await ask(12)), 'ok');
    const larger = errorOf(await ask(14));
    deepEqual([larger.code, sessions.length], ['BACKEND_MALFORMED', 1]);
    match(larger.message, /malformed response: headers larger than 128 KiB/);
    equal(await textOf(await ask(12)), 'ok');
    equal(sessions.length, 2);
    const largest = errorOf(await ask(40));
    equal(largest.code, 'BACKEND_MALFORMED');
    match(largest.message, /malformed response: headers (?:too large|larger than)/);
    equal(await textOf(await ask(1)), 'ok');
  });

  it('a stream that the backend resets fails the call, before and during the response', async () => {
    let reset = () => {};
    const { origin, sessions } = await serveHttp2(bench, (stream, headers) => {
      if (headers[':path'] === '/within') {
        stream.respond({ ':status': 200 });
        stream.write('part');
        reset = () => void stream.destroy(new Error('broken'));
      } else {
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      }
    });
    const gate = await http2();
    const error = errorOf(await send(gate, { origin }));
    deepEqual([error.code, error.message], ['BACKEND_RESET', `backend ${origin}: stream reset (HTTP/2 code 2)`]);
    const reply = await send(gate, { origin, target: '/within' });
    reset();
    await rejects(textOf(reply), { code: 'BACKEND_RESET' });
    equal(sessions.length, 1);
  });

  it('a request that the backend refuses is retried once, even a POST, if its body is still available', async () => {
    let count = 0;
    const refuseFirst = (limit: number) => (stream: ServerHttp2Stream) => {
      if (count++ < limit) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else saying('ok')(stream, {}, []);
    };
    let limit = 1;
    const { origin } = await serveHttp2(bench, (stream) => refuseFirst(limit)(stream));
    const gate = await http2();
    equal(await textOf(await send(gate, { origin, method: 'POST', body: 'text' })), 'ok');
    equal(count, 2);
    count = 0;
    const body = streamBody(['a', 'b']);
    equal(errorOf(await send(gate, { origin, method: 'POST', body })).code, 'BACKEND_RESET');
    equal(count, 1);
    count = 0;
    limit = Number.POSITIVE_INFINITY;
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_RESET');
    equal(count, 2);
  });

  it('a connection that received GOAWAY finishes its calls and receives no new ones', async () => {
    let finish = () => {};
    const { origin, sessions } = await serveHttp2(bench, (stream, headers) => {
      if (headers[':path'] !== '/slow') return saying('ok')(stream, headers, []);
      stream.respond({ ':status': 200 });
      stream.write('a');
      finish = () => void stream.end('b');
      return undefined;
    });
    const gate = await http2();
    const slow = await send(gate, { origin, target: '/slow' });
    sessions[0]!.goaway(constants.NGHTTP2_NO_ERROR);
    await until(async () => {
      equal(await textOf(await send(gate, { origin, method: 'POST', body: 'x' })), 'ok');
      return sessions.length === 2;
    });
    finish();
    equal(await textOf(slow), 'ab');
  });

  it('a lost connection causes one retry of a GET without a response, but not of a POST', async () => {
    let requests = 0;
    const { origin, sessions, cut } = await serveHttp2(bench, (stream, headers) => {
      requests += 1;
      if (headers[':path'] === '/dies' && requests < 3) cut();
      else saying('ok')(stream, headers, []);
    });
    const gate = await http2();
    equal(await textOf(await send(gate, { origin })), 'ok');
    const again = await send(gate, { origin, target: '/dies' });
    equal(await textOf(again), 'ok');
    deepEqual([requests, sessions.length], [3, 2]);
    requests = 1;
    equal(errorOf(await send(gate, { origin, target: '/dies', method: 'POST', body: 'x' })).code, 'BACKEND_RESET');
    equal(requests, 2);
  });

  it('a lost connection fails all its calls once, and the next call connects again', async () => {
    let count = 0;
    const { origin, sessions, cut } = await serveHttp2(bench, (stream, headers, raw) => {
      if (headers[':path'] === '/ok') saying('ok')(stream, headers, raw);
      else if (++count === 20) cut();
    });
    const gate = await http2();
    const replies = Array.from({ length: 20 }, () => send(gate, { origin, method: 'POST', body: 'x' }));
    for (const reply of replies) equal(errorOf(await reply).code, 'BACKEND_RESET');
    equal(await textOf(await send(gate, { origin, target: '/ok' })), 'ok');
    equal(sessions.length, 2);
  });

  it('a request that the backend rejects with HTTP_1_1_REQUIRED is sent over HTTP/1.1', async () => {
    const { origin } = await serveHttp2(bench, (stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED), { pair });
    const gate = await http2({ client_tls: trusted });
    equal(await textOf(await send(gate, { origin })), '1.1');
    equal(await textOf(await send(gate, { origin, method: 'POST', body: streamBody(['x']) })), '1.1');
  });

  it('a backend without TLS and HTTP/2 fails the call', async () => {
    const origin = await bench.serve((_request, response) => response.end('1.1'));
    const { code } = errorOf(await send(await http2(), { origin }));
    match(code, /^BACKEND_(?:MALFORMED|RESET)$/);
  });

  it('a backend that accepts connections but never responds fails each call at its deadline', async () => {
    const origin = await bench.serveRaw(() => {});
    const gate = await http2();
    const codes = [1, 2, 3].map(async () => {
      const call = new Call(undefined, 30);
      return errorOf(await send(gate, { origin, call })).code;
    });
    deepEqual(await Promise.all(codes), ['CALL_DEADLINE', 'CALL_DEADLINE', 'CALL_DEADLINE']);
  });

  it('a backend that closes each connection immediately fails the call', async () => {
    const origin = await bench.listen(createRawServer((socket) => socket.destroy()));
    const gate = await http2();
    for (let count = 0; count < 3; count++) {
      equal(errorOf(await send(gate, { origin })).code, 'BACKEND_RESET');
    }
  });

  it('a silent connection is replaced for the next call', async () => {
    const { origin } = await serveHttp2(bench, saying('ok'));
    const ends: Socket[] = [];
    const front = createRawServer((socket) => {
      const behind = connect(Number(new URL(origin).port), '127.0.0.1');
      ends.push(socket);
      for (const end of [socket, behind]) end.on('error', () => {});
      socket.pipe(behind).pipe(socket);
      socket.on('close', () => behind.destroy());
    });
    const address = await bench.listen(front);
    const gate = await http2();
    equal(await textOf(await send(gate, { origin: address })), 'ok');
    ends[0]!.unpipe();
    ends[0]!.pause();
    const call = new Call(undefined, 50);
    equal(errorOf(await send(gate, { origin: address, call })).code, 'CALL_DEADLINE');
    equal(await textOf(await send(gate, { origin: address })), 'ok');
    equal(ends.length, 2);
  });

  it('a client body that breaks off resets the stream', async () => {
    let started = false;
    let reset: number | undefined;
    const { origin } = await serveHttp2(bench, (stream) => {
      started = true;
      stream.resume();
      stream.once('close', () => {
        reset = stream.rstCode;
      });
    });
    const source = new Readable({ read() {} });
    source.push('begin');
    const reply = send(await http2(), { origin, method: 'POST', body: RequestBody.stream(source, undefined) });
    await until(() => started);
    source.destroy(new Error('gone'));
    equal(errorOf(await reply).code, 'CALL_CANCELLED');
    await until(() => reset !== undefined);
    equal(reset, constants.NGHTTP2_CANCEL);
  });

  it('invalid and too many headers fail the call', async () => {
    const { origin } = await serveHttp2(bench, (stream) => {
      const many = Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`x-${index}`, 'a']));
      stream.respond({ ':status': 200, ...many });
      stream.end();
    });
    const gate = await http2();
    for (const headers of [
      ['X-A', 'a\r\nb'],
      ['x a', 'b'],
    ]) {
      equal(errorOf(await send(gate, { origin, headers })).code, 'BACKEND_REQUEST_INVALID');
    }
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_MALFORMED');
  });
});
