import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { type ByteStream, Call, CancelledError, RequestBody } from '#contract';
import { DeadlineError, PayloadTooLarge } from '../../../kernel/contract/internal.ts';
import { until } from '../../support/conditions.ts';
import { Bench, connectionFree, errorOf, send, textOf } from './http-client.ts';

describe('backend/http/client with streams and cancellation', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  it('returns the headers before the body arrives', async () => {
    let finish: () => void = () => {};
    const origin = await bench.serve((_request, response) => {
      response.write('data: 1\n\n');
      finish = () => response.end('data: 2\n\n');
    });
    const reply = await send(await bench.client(), { origin });
    equal(reply.status, 200);
    const pieces: string[] = [];
    for await (const piece of reply.body as ByteStream) {
      pieces.push(String(piece));
      if (pieces.length === 1) finish();
    }
    deepEqual(pieces, ['data: 1\n\n', 'data: 2\n\n']);
  });

  it('stops reading from the backend while the response is not consumed', async () => {
    const total = 64 * 1024 * 1024;
    let written = 0;
    let blocked = false;
    const origin = await bench.serve((_request, response) => {
      const piece = Buffer.alloc(64 * 1024, 'x');
      const pour = () => {
        blocked = false;
        while (written < total) {
          written += piece.length;
          if (!response.write(piece)) {
            blocked = true;
            return;
          }
        }
        response.end();
      };
      response.on('drain', pour);
      pour();
    });
    const reply = await send(await bench.client(), { origin });
    await settled(() => written);
    ok(blocked && written < total / 2, `${written} bytes written with no reader`);
    let taken = 0;
    for await (const piece of reply.body as ByteStream) taken += piece.length;
    equal(taken, total);
  });

  for (const [name, part] of [
    ['closes the connection', (socket: Socket) => void socket.end()],
    ['responds with a timeout', (socket: Socket) => void socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n')],
  ] as const) {
    it(`does not occupy a reused connection before a request body has started, even if the backend ${name} meanwhile`, async () => {
      const seen: string[] = [];
      const sockets: Socket[] = [];
      const origin = await bench.serveRaw((socket, text) => {
        seen.push(text.split(' ', 1)[0]!);
        sockets.push(socket);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
      const gate = await bench.client();
      await textOf(await send(gate, { origin }));
      await connectionFree();
      const body = new PassThrough();
      const replied = send(gate, { origin, method: 'POST', body: RequestBody.stream(body, 5) });
      const left = once(sockets[0]!.resume(), 'close');
      part(sockets[0]!);
      await left;
      body.end('hello');
      equal(await textOf(await replied), 'ok');
      deepEqual(seen, ['GET', 'POST']);
    });
  }

  it('sends an empty stream as body, and cancels a request whose body fails before its first byte', async () => {
    let requests = 0;
    const origin = await bench.serve((request, response) => {
      requests += 1;
      request.resume().once('end', () => response.end('ok'));
    });
    const gate = await bench.client();
    const empty = new PassThrough();
    const replied = send(gate, { origin, method: 'POST', body: RequestBody.stream(empty, undefined) });
    empty.end();
    equal(await textOf(await replied), 'ok');
    const broken = new PassThrough();
    const failing = send(gate, { origin, method: 'POST', body: RequestBody.stream(broken, 5) });
    broken.destroy(new CancelledError());
    equal(errorOf(await failing).code, 'CALL_CANCELLED');
    equal(requests, 1);
  });

  it('times out while it waits for the request body', async () => {
    const origin = await bench.serve(() => {});
    const call = new Call();
    const body = new PassThrough();
    const replied = send(await bench.client(), {
      origin,
      method: 'POST',
      body: RequestBody.stream(body, 5),
      call,
    });
    call.cancel(new CancelledError());
    equal(errorOf(await replied).code, 'CALL_CANCELLED');
    body.destroy();
  });

  it('closes the connection if the call is aborted before the response', async () => {
    let arrived = false;
    let closed = false;
    const origin = await bench.serve((request) => {
      arrived = true;
      request.socket.once('close', () => {
        closed = true;
      });
    });
    const call = new Call();
    const pending = send(await bench.client(), { origin, call });
    await until(() => arrived);
    call.cancel();
    ok((await pending).errors[0] instanceof CancelledError);
    await until(() => closed);
  });

  it('fails the response body if the call is aborted while the body is being read', async () => {
    let closed = false;
    const origin = await bench.serve((_request, response) => {
      response.once('close', () => {
        closed = true;
      });
      response.write('part');
    });
    const call = new Call();
    const reply = await send(await bench.client(), { origin, call });
    call.cancel();
    await rejects(textOf(reply), { code: 'CALL_CANCELLED' });
    await until(() => closed);
  });

  it('times out at the deadline of the call', async () => {
    const origin = await bench.serve(() => {});
    const reply = await send(await bench.client(), { origin, call: new Call(undefined, 20) });
    ok(reply.errors[0] instanceof DeadlineError);
  });

  it('times out while the connection is being established', async () => {
    const call = new Call();
    const pending = send(await bench.client(), { origin: 'http://127.0.0.1:9', call });
    call.cancel();
    equal(errorOf(await pending).code, 'CALL_CANCELLED');
  });

  it('does not start a call that is already aborted', async () => {
    let calls = 0;
    const origin = await bench.serve((_request, response) => {
      calls += 1;
      response.end();
    });
    const call = new Call();
    call.cancel();
    equal(errorOf(await send(await bench.client(), { origin, call })).code, 'CALL_CANCELLED');
    equal(calls, 0);
  });

  it('ignores an abort after the response is complete', async () => {
    const origin = await bench.serve((_request, response) => response.end('ok'));
    const call = new Call();
    const reply = await send(await bench.client(), { origin, call });
    equal(await textOf(reply), 'ok');
    call.cancel();
    equal(reply.errors.length, 0);
  });

  it('closes the connection if the reader stops before the end of the body', async () => {
    let closed = false;
    const origin = await bench.serve((_request, response) => {
      response.once('close', () => {
        closed = true;
      });
      response.write('first');
    });
    const reply = await send(await bench.client(), { origin });
    (reply.body as ByteStream).cancel(new CancelledError());
    await until(() => closed);
  });

  it('closes the connection if the reader stops before the end of a decompressed body', async () => {
    let closed = false;
    const origin = await bench.serve((_request, response) => {
      response.once('close', () => {
        closed = true;
      });
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).write(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]));
    });
    const reply = await send(await bench.client(), { origin });
    (reply.body as ByteStream).cancel(new CancelledError());
    await until(() => closed);
  });

  it('fails the call with the error of the request body', async () => {
    const origin = await bench.serve(() => {});
    const stream = new PassThrough();
    stream.write('part');
    const pending = send(await bench.client(), { origin, method: 'POST', body: RequestBody.stream(stream, undefined) });
    setImmediate(() => stream.destroy(new PayloadTooLarge(4)));
    const reply = await pending;
    deepEqual([errorOf(reply).code, reply.status], ['PAYLOAD_TOO_LARGE', 413]);
  });

  it("fails a call whose body exceeds the gateway's limit", async () => {
    const origin = await bench.serve(() => {});
    const stream = new PassThrough();
    stream.end('far too long');
    const body = RequestBody.stream(stream, undefined, 4);
    const reply = await send(await bench.client(), { origin, method: 'POST', body });
    equal(errorOf(reply).code, 'PAYLOAD_TOO_LARGE');
  });

  it('reports a canceled call if the client disconnects during its body', async () => {
    const origin = await bench.serve(() => {});
    const stream = new PassThrough();
    stream.write('part');
    const pending = send(await bench.client(), { origin, method: 'POST', body: RequestBody.stream(stream, 100) });
    setImmediate(() => stream.destroy(new Error('aborted')));
    equal(errorOf(await pending).code, 'CALL_CANCELLED');
  });

  it('returns a response that arrives before the request body was sent', async () => {
    const origin = await bench.serve((_request, response) => response.writeHead(413).end('no'));
    const stream = new PassThrough();
    stream.write('part');
    const reply = await send(await bench.client(), {
      origin,
      method: 'POST',
      body: RequestBody.stream(stream, undefined),
    });
    deepEqual([reply.status, await textOf(reply)], [413, 'no']);
    stream.destroy();
  });
});

/** Waits until a number stops growing. */
async function settled(read: () => number): Promise<void> {
  for (let last = -1, same = 0; same < 50; ) {
    const now = read();
    same = now === last && now > 0 ? same + 1 : 0;
    last = now;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
