import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer as createRawServer, type Socket } from 'node:net';
import { type Reply, RequestBody, type ServiceConfig } from '#contract';
import { until } from '../../support/conditions.ts';
import { Bench, connectionFree, errorOf, send, streamBody, textOf } from './http-client.ts';

describe('backend/http/client: connections', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  it('uses a connection again, over a reload too', async () => {
    const sockets = new Set<unknown>();
    const origin = await bench.serve((request, response) => {
      sockets.add(request.socket);
      response.end('ok');
    });
    const gate = await bench.client();
    for (const reload of [false, true, false]) {
      await textOf(await send(gate, { origin }));
      await connectionFree();
      if (reload) await gate.reload({});
    }
    equal(sockets.size, 1);
  });

  it('calls on connections of its own where its settings differ', async () => {
    const sockets = new Set<unknown>();
    const origin = await bench.serve((request, response) => {
      sockets.add(request.socket);
      response.end('ok');
    });
    const gate = await bench.client();
    await textOf(await send(gate, { origin }));
    await gate.reload({ client_tls: {} });
    await textOf(await send(gate, { origin }));
    equal(sockets.size, 2);
  });

  it('closes the connection after each call with disable_keep_alives', async () => {
    const seen: string[] = [];
    const origin = await bench.serve((request, response) => {
      seen.push(request.headers.connection!);
      response.end('ok');
    });
    const gate = await bench.client({}, { service: { disable_keep_alives: true } });
    await textOf(await send(gate, { origin }));
    equal(seen[0], 'close');
  });

  it('keeps no more unused connections than max_idle_connections_per_host', async () => {
    let open = 0;
    const waiting: (() => void)[] = [];
    const origin = await bench.serve((request, response) => {
      if (!known.has(request.socket)) {
        known.add(request.socket);
        open += 1;
        request.socket.once('close', () => {
          open -= 1;
        });
      }
      waiting.push(() => response.end('ok'));
    });
    const known = new Set<unknown>();
    const gate = await bench.client({}, { service: { max_idle_connections_per_host: 2 } });
    const replies = Array.from({ length: 6 }, () => send(gate, { origin }));
    await until(() => waiting.length === 6);
    for (const respond of waiting) respond();
    for (const reply of await Promise.all(replies)) equal(await textOf(reply), 'ok');
    await until(() => open === 2);
  });

  it('closes a connection unused for idle_connection_timeout', async () => {
    let closed = false;
    const origin = await bench.serve((request, response) => {
      request.socket.once('close', () => {
        closed = true;
      });
      response.removeHeader('Keep-Alive');
      response.end('ok');
    });
    const gate = await bench.client({}, { service: { idle_connection_timeout: 20 } });
    await textOf(await send(gate, { origin }));
    await until(() => closed);
  });

  it('closes a connection that its server is about to close', async () => {
    const closed: number[] = [];
    const origin = await bench.serveRaw((socket, request) => {
      const seconds = Number(request.match(/timeout-(\d+)/)![1]);
      socket.once('close', () => closed.push(seconds));
      socket.write(`HTTP/1.1 200 OK\r\nKeep-Alive: max=9, timeout=${seconds}\r\nContent-Length: 2\r\n\r\nok`);
    });
    const gate = await bench.client();
    equal(await textOf(await send(gate, { origin, target: '/timeout-2' })), 'ok');
    await until(() => closed.length === 1);
    equal(await textOf(await send(gate, { origin, target: '/timeout-60' })), 'ok');
    await connectionFree();
    deepEqual(closed, [2]);
  });

  it('asks once more when an unused connection dies before any byte of the answer', async () => {
    let connections = 0;
    const origin = await bench.serveRaw((socket) => {
      if (state.get(socket)) {
        socket.destroy();
        return;
      }
      state.set(socket, true);
      connections += 1;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const state = new Map<unknown, boolean>();
    const gate = await bench.client();
    equal(await textOf(await send(gate, { origin })), 'ok');
    await connectionFree();
    equal(await textOf(await send(gate, { origin })), 'ok');
    equal(connections, 2);
  });

  it('does not ask again for a POST, nor when the connection was new', async () => {
    let requests = 0;
    const first = new Set<unknown>();
    const origin = await bench.serveRaw((socket, text) => {
      requests += 1;
      if (first.has(socket) || text.startsWith('GET /dies')) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      first.add(socket);
    });
    const gate = await bench.client();
    equal(errorOf(await send(gate, { origin, target: '/dies' })).code, 'BACKEND_RESET');
    equal(requests, 1);
    equal(await textOf(await send(gate, { origin })), 'ok');
    await connectionFree();
    equal(errorOf(await send(gate, { origin, method: 'POST' })).code, 'BACKEND_RESET');
    equal(requests, 3);
  });

  it('sends elsewhere what has not left when its connection dies, a POST too', async () => {
    const seen: string[] = [];
    const sockets: Socket[] = [];
    const origin = await bench.serveRaw((socket, text) => {
      seen.push(text.split(' ', 1)[0]! + text.slice(-4));
      sockets.push(socket);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const gate = await bench.client();
    for (const body of ['body', undefined, 'more']) {
      await textOf(await send(gate, { origin, target: '/' }));
      await connectionFree();
      // Of one turn of the event loop: its timers, then what connections have to say, then what waits for its end.
      const reply = await new Promise<Reply>((resolve) => {
        setImmediate(() => {
          setTimeout(() => resolve(send(gate, { origin, method: 'POST', ...(body && { body }) })), 0);
          sockets.pop()!.destroy();
          for (const until = performance.now() + 2; performance.now() < until; );
        });
      });
      equal(await textOf(reply), 'ok');
      await connectionFree();
    }
    deepEqual(
      seen.filter((text) => text.startsWith('POST')),
      ['POSTbody', 'POST\r\n\r\n', 'POSTmore'],
    );
  });

  it('fails with the cause if the connection is rejected', async () => {
    const origin = await bench.listen(createRawServer());
    await bench.close();
    const { code, message } = errorOf(await send(await bench.client(), { origin }));
    deepEqual([code, message], ['BACKEND_REFUSED', `backend ${origin}: connection refused`]);
  });

  it('fails with what happened when the name does not resolve', async () => {
    const reply = await send(await bench.client(), { origin: 'http://no-such-host.invalid' });
    equal(errorOf(reply).code, 'BACKEND_DNS');
  });

  it('fails when the headers take longer than response_header_timeout', async () => {
    const origin = await bench.serve(() => {});
    const gate = await bench.client({}, { service: { response_header_timeout: 30 } });
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_HEADER_TIMEOUT');
  });

  it('names neither user nor path in its errors', async () => {
    const origin = await bench.listen(createRawServer());
    await bench.close();
    const gate = await bench.client();
    const { message } = errorOf(
      await send(gate, { origin: origin.replace('//', '//user:secret@'), target: '/?key=hidden' }),
    );
    ok(!/secret|hidden|user/.test(message), message);
  });

  it('holds nothing after it is closed', async () => {
    const origin = await bench.serve((_request, response) => response.end('ok'));
    const gate = await bench.client();
    await textOf(await send(gate, { origin }));
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('fails a request whose body was sent before', async () => {
    const origin = await bench.serve((_request, response) => response.end('ok'));
    const body = streamBody(['a']);
    body.take();
    match(errorOf(await send(await bench.client(), { origin, method: 'POST', body })).code, /BODY_CONSUMED/);
  });

  it('keeps no more unused connections than max_idle_connections over all hosts', async () => {
    const waiting: (() => void)[] = [];
    const seen: string[] = [];
    const serve = () =>
      bench.serve((request, response) => {
        seen.push(request.headers.connection!);
        waiting.push(() => response.end('ok'));
      });
    const origins = [await serve(), await serve()];
    const service = { max_idle_connections: 1 } as Partial<ServiceConfig>;
    const gate = await bench.client({}, { service });
    const first = send(gate, { origin: origins[0]! });
    await until(() => waiting.length === 1);
    const second = send(gate, { origin: origins[1]! });
    await until(() => waiting.length === 2);
    for (const respond of waiting) respond();
    for (const reply of [await first, await second]) equal(await textOf(reply), 'ok');
    deepEqual(seen, ['keep-alive', 'close']);
  });

  it('leaves the connection of the client alone when the backend cannot be called', async () => {
    const gone = await bench.listen(createRawServer());
    await bench.close();
    const gate = await bench.client();
    const gateway = await bench.serve(async (request, response) => {
      const body = RequestBody.stream(request, undefined);
      const reply = await send(gate, { origin: gone, method: 'POST', body });
      response.writeHead(reply.status, { Connection: 'close' }).end(errorOf(reply).code);
    });
    const reply = await send(await bench.client(), { origin: gateway, method: 'POST', body: streamBody(['a', 'b']) });
    deepEqual([reply.status, await textOf(reply)], [500, 'BACKEND_REFUSED']);
  });
});
