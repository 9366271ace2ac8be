import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer as createRawServer, type Socket } from 'node:net';
import { type Reply, RequestBody, type ServiceConfig } from '#contract';
import { until } from '../../support/conditions.ts';
import { Bench, connectionFree, errorOf, send, streamBody, textOf } from './http-client.ts';

describe('the connections of backend/http/client', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  it('are reused, even across a reload', async () => {
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

  it('are separate for backends with different settings', async () => {
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

  it('are closed after each call with disable_keep_alives', async () => {
    const seen: string[] = [];
    const origin = await bench.serve((request, response) => {
      seen.push(request.headers.connection!);
      response.end('ok');
    });
    const gate = await bench.client({}, { service: { disable_keep_alives: true } });
    await textOf(await send(gate, { origin }));
    equal(seen[0], 'close');
  });

  it('are closed when idle beyond max_idle_connections_per_host', async () => {
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

  it('are closed when idle for idle_connection_timeout', async () => {
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

  it("are closed shortly before the server's keep-alive timeout", async () => {
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

  it('lead to one retry if a reused connection fails before any byte of the response', async () => {
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

  it('lead to no retry for a POST request or on a new connection', async () => {
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

  it('are replaced for requests, even POST requests, that were not sent before the connection failed', async () => {
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
      // Order within one turn of the event loop: timers, socket events, close events.
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

  it('report the cause if they are refused', async () => {
    const origin = await bench.listen(createRawServer());
    await bench.close();
    const { code, message } = errorOf(await send(await bench.client(), { origin }));
    deepEqual([code, message], ['BACKEND_REFUSED', `backend ${origin}: connection refused`]);
  });

  it('report the cause if the host name does not resolve', async () => {
    const reply = await send(await bench.client(), { origin: 'http://no-such-host.invalid' });
    equal(errorOf(reply).code, 'BACKEND_DNS');
  });

  it('report a timeout if the headers take longer than response_header_timeout', async () => {
    const origin = await bench.serve(() => {});
    const gate = await bench.client({}, { service: { response_header_timeout: 30 } });
    equal(errorOf(await send(gate, { origin })).code, 'BACKEND_HEADER_TIMEOUT');
  });

  it('report neither user information nor paths in errors', async () => {
    const origin = await bench.listen(createRawServer());
    await bench.close();
    const gate = await bench.client();
    const { message } = errorOf(
      await send(gate, { origin: origin.replace('//', '//user:secret@'), target: '/?key=hidden' }),
    );
    ok(!/secret|hidden|user/.test(message), message);
  });

  it('release all resources when closed', async () => {
    const origin = await bench.serve((_request, response) => response.end('ok'));
    const gate = await bench.client();
    await textOf(await send(gate, { origin }));
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('fail requests whose body was already consumed', async () => {
    const origin = await bench.serve((_request, response) => response.end('ok'));
    const body = streamBody(['a']);
    body.take();
    match(errorOf(await send(await bench.client(), { origin, method: 'POST', body })).code, /BODY_CONSUMED/);
  });

  it('are closed when idle beyond max_idle_connections over all hosts', async () => {
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

  it("do not affect the client's connection if the backend cannot be called", async () => {
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
