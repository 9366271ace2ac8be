import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { type ClientHttp2Stream, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { PREFACE, requestFrames } from '../../../kernel/server/http2/h2c-frames.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, type SeenRequest } from '../../support/gateway.ts';
import { ask, once, Secure } from './secure.ts';

describe('HTTP/2', () => {
  let secure: Secure;
  before(() => {
    secure = new Secure();
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  /** A gateway with plain HTTP/2 and one endpoint that forwards everything. */
  async function passing(respond: Parameters<Secure['backend']>[0], fields: object = {}, endpoint: object = {}) {
    const backend = await secure.backend(respond);
    const every = { input_headers: ['*'], output_encoding: 'no-op', ...endpoint };
    const endpoints = ['GET', 'POST'].map((method) => ({
      endpoint: '/x',
      method,
      ...every,
      backend: [{ host: [backend.url], url_pattern: '/' }],
    }));
    const { port, gateway } = await secure.listen({ use_h2c: true, endpoints, ...fields });
    return { backend, port, gateway, session: secure.session(port, 'http') };
  }

  const valuesOf = ({ rawHeaders }: SeenRequest, name: string) =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);

  describe('requests', () => {
    it('reach the backend with the method, path, parameters and body', async () => {
      const { backend, session } = await passing((_seen, response) => response.end('ok'));
      await ask(session, { ':path': '/x', ':method': 'POST', 'content-type': 'text/plain' }, 'hello');
      const [seen] = backend.requests;
      deepEqual([seen!.method, seen!.body.toString(), seen!.headers['content-type']], ['POST', 'hello', 'text/plain']);
    });

    it('reach the backend without pseudo-headers', async () => {
      const { backend, session } = await passing((_seen, response) => response.end('ok'));
      await ask(session, { ':path': '/x', 'x-mine': '1' });
      const { rawHeaders } = backend.requests[0]!;
      equal(
        rawHeaders.some((text) => text.startsWith(':')),
        false,
      );
      equal(valuesOf(backend.requests[0]!, 'x-mine')[0], '1');
    });

    it('pass the requested host name to the backend, regardless of other headers', async () => {
      const { backend, session } = await passing((_seen, response) => response.end('ok'));
      await ask(session, { ':path': '/x', ':authority': 'shop.test', host: 'other.test' });
      deepEqual(valuesOf(backend.requests[0]!, 'x-forwarded-host'), ['shop.test']);
    });

    it('are rejected if they have no host name', async () => {
      const { session } = await passing((_seen, response) => response.end('ok'));
      await rejects(ask(session, { ':path': '/x', ':authority': '' }));
    });

    it('forward cookies as one header', async () => {
      const { backend, session } = await passing((_seen, response) => response.end('ok'));
      await ask(session, { ':path': '/x', cookie: ['a=1', 'b=2'] });
      deepEqual(valuesOf(backend.requests[0]!, 'cookie'), ['a=1; b=2']);
    });

    it('can end in trailers, which are ignored', async () => {
      const { backend, session } = await passing((_seen, response) => response.end('ok'));
      const stream = session.request({ ':path': '/x', ':method': 'POST' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-late': '1' }));
      stream.end('body');
      const [headers] = (await Promise.all([once(stream, 'response'), once(stream.resume(), 'end')])) as unknown[];
      equal((headers as Record<string, unknown>)[':status'], 200);
      equal(backend.requests[0]!.body.toString(), 'body');
      deepEqual(valuesOf(backend.requests[0]!, 'x-late'), []);
    });

    it('above the payload limit are answered with 413, and the connection stays open', async () => {
      const limit = { extra_config: { router: { max_payload: 10 } } };
      const { session } = await passing((_seen, response) => response.end('ok'), limit);
      const post = { ':path': '/x', ':method': 'POST' };
      const large = session.request({ ...post, 'content-length': '100000' });
      large.on('error', () => {});
      large.write('x'.repeat(50));
      const headers = (await once(large, 'response')) as Record<string, unknown>;
      equal(headers[':status'], 413);
      equal((await ask(session, post, 'small')).headers[':status'], 200);
    });

    it('with an invalid length are rejected', async () => {
      const { session, backend } = await passing((_seen, response) => response.end('ok'));
      const headers = { ':path': '/x', ':method': 'POST', 'content-length': '9007199254740993' };
      const stream = session.request(headers, { endStream: false });
      stream.on('error', () => {});
      const result = (await once(stream, 'response')) as Record<string, unknown>;
      deepEqual([result[':status'], backend.requests.length], [400, 0]);
    });

    it('run in parallel on one connection', async () => {
      const waiting: (() => void)[] = [];
      const { backend, session } = await passing((_seen, response) => {
        waiting.push(() => response.end('ok'));
        if (waiting.length === 5) for (const go of waiting) go();
      });
      const responses = await Promise.all(Array.from({ length: 5 }, () => ask(session, { ':path': '/x' })));
      deepEqual(new Set(responses.map(({ body }) => body)), new Set(['ok']));
      equal(backend.requests.length, 5);
    });

    it('are rejected individually with too many query parameters', async () => {
      const { session } = await passing((_seen, response) => response.end('ok'));
      equal((await ask(session, { ':path': `/x?${'a&'.repeat(1_000)}b` })).headers[':status'], 414);
      equal((await ask(session, { ':path': '/x' })).headers[':status'], 200);
    });

    it('are rejected individually with headers longer than max_header_bytes', async () => {
      const { session } = await passing((_seen, response) => response.end('ok'), { max_header_bytes: 4096 });
      equal((await ask(session, { ':path': '/x', 'x-long': 'v'.repeat(5000) })).headers[':status'], 431);
      equal((await ask(session, { ':path': '/x' })).headers[':status'], 200);
    });

    it('can have headers of 100 kB in total', async () => {
      const { port } = await passing((_seen, response) => response.end('ok'), {}, { input_headers: [] });
      const session = secure.session(port, 'http', { maxSendHeaderBlockLength: 200_000 });
      const long = Object.fromEntries(Array.from({ length: 20 }, (_none, at) => [`x-${at}`, `${at}~`.repeat(1800)]));
      equal((await ask(session, { ':path': '/x', ...long })).headers[':status'], 200);
    });

    it('are rejected individually with too many headers', async () => {
      const { session } = await passing((_seen, response) => response.end('ok'));
      const many = Object.fromEntries(Array.from({ length: 2500 }, (_none, at) => [`x-${at}`, '1']));
      await rejects(ask(session, { ':path': '/x', ...many }));
      equal((await ask(session, { ':path': '/x' })).headers[':status'], 200);
    });
  });

  describe('responses', () => {
    it('have no hop-by-hop header', async () => {
      const { session } = await passing((_seen, response) => {
        response.writeHead(200, {
          Connection: 'keep-alive, x-hop',
          'Keep-Alive': 'timeout=9',
          'X-Hop': '1',
          'X-End': '1',
        });
        response.write('in ');
        response.end('chunks');
      });
      const { headers, body } = await ask(session, { ':path': '/x' });
      equal(body, 'in chunks');
      equal(headers['x-end'], '1');
      for (const name of ['connection', 'keep-alive', 'transfer-encoding']) equal(headers[name], undefined);
    });

    it('keep repeated headers', async () => {
      const { session } = await passing((_seen, response) => {
        response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'ETag', '"1"', 'ETag', '"2"']).end();
      });
      const { headers } = await ask(session, { ':path': '/x' });
      deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
    });

    it('to HEAD and without content have no body', async () => {
      const { session } = await passing((_seen, response) => response.writeHead(204).end());
      const nothing = await ask(session, { ':path': '/x' });
      deepEqual([nothing.headers[':status'], nothing.body], [204, '']);
      const head = await ask(session, { ':path': '/x', ':method': 'HEAD' });
      equal(head.body, '');
    });

    it("are forwarded in the backend's chunks", async () => {
      let finish = (): void => {};
      const { session } = await passing((_seen, response) => {
        response.write('first');
        finish = () => response.end('last');
      });
      const stream = session.request({ ':path': '/x' });
      equal(String(await once(stream, 'data')), 'first');
      finish();
      equal(String(await once(stream, 'data')), 'last');
    });

    it('of built-in endpoints are also compressed', async () => {
      const { session } = await passing((_seen, response) => response.end());
      const { headers } = await ask(session, { ':path': '/nowhere' });
      deepEqual([headers[':status'], headers['x-gateway-completed']], [404, 'false']);
    });

    it('of a backend that disconnects in the middle are visibly incomplete', async () => {
      const { session } = await passing((_seen, response) => {
        response.write('half');
        setImmediate(() => response.destroy());
      });
      const stream = session.request({ ':path': '/x' });
      stream.resume();
      await once(stream, 'error');
      equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
      equal(session.destroyed, false);
    });

    it('include headers that components of the service add', async () => {
      const extra_config = { 'security/http': { frame_deny: true } };
      const { session } = await passing((_seen, response) => response.end('ok'), { extra_config });
      const { headers, body } = await ask(session, { ':path': '/x' });
      deepEqual([headers[':status'], headers['x-frame-options'], body], [200, 'DENY', 'ok']);
    });
  });

  describe('with a client that disconnects', () => {
    const leave = (stream: ClientHttp2Stream) => {
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
    };

    it('cancels only the backend call of that request', async () => {
      const closed: string[] = [];
      const finish = new Map<string, () => void>();
      const { backend, session, gateway } = await passing((seen, response) => {
        const name = String(seen.headers['x-name']);
        response.once('close', () => response.writableFinished || closed.push(name));
        finish.set(name, () => response.end('ok'));
      });
      const leaving = session.request({ ':path': '/x', 'x-name': 'leaving' });
      const staying = ask(session, { ':path': '/x', 'x-name': 'staying' });
      await until(() => backend.requests.length === 2);
      leave(leaving);
      await until(() => closed.length > 0);
      deepEqual(closed, ['leaving']);
      finish.get('staying')!();
      equal((await staying).body, 'ok');
      await until(() => gateway.status.calls === 0);
    });

    it('in the middle of a response cancels the backend call', async () => {
      let gone = false;
      const { session, gateway } = await passing((_seen, response) => {
        response.once('close', () => {
          gone = true;
        });
        response.write('first');
      });
      const stream = session.request({ ':path': '/x' });
      await once(stream, 'data');
      leave(stream);
      await until(() => gone);
      await until(() => gateway.status.calls === 0);
    });

    it('in the middle of its body never completes the backend request', async () => {
      const raw: { text: string; ended: boolean } = { text: '', ended: false };
      const server = createTcpServer((socket) => {
        socket.on('data', (chunk) => {
          raw.text += chunk;
        });
        socket.on('error', () => {});
        socket.once('close', () => {
          raw.ended = true;
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const host = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
      const backend = [{ host, url_pattern: '/' }];
      const endpoints = [{ endpoint: '/x', method: 'POST', output_encoding: 'no-op', backend }];
      const { port } = await secure.listen({ use_h2c: true, endpoints });
      const head = requestFrames({ method: 'POST', path: '/x', authority: 'localhost', rawHeaders: [] });
      // Sets END_HEADERS without END_STREAM, so that more frames can follow on this stream.
      head[4] = 4;
      const client = secure.dial(port);
      const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
      const data = Buffer.concat([Buffer.from([0, 0, 10, 0, 0, 0, 0, 0, 1]), Buffer.from('half of it')]);
      client.write(Buffer.concat([PREFACE, settings, head, data]));
      await until(() => raw.text.includes('half of it'));
      client.write(Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, constants.NGHTTP2_CANCEL]));
      await until(() => raw.ended);
      equal(raw.text.includes('\r\n0\r\n\r\n'), false);
      await new Promise((resolve) => server.close(resolve));
    });

    it('with its connection cancels all its backend calls', async () => {
      let gone = 0;
      const { backend, session, gateway } = await passing((_seen, response) => {
        response.once('close', () => gone++);
      });
      for (const _ of [1, 2]) session.request({ ':path': '/x' }).on('error', () => {});
      await until(() => backend.requests.length === 2);
      session.destroy();
      await until(() => gone === 2);
      await until(() => gateway.status.calls === 0);
    });
  });

  it('accepts a response before the request body was sent', async () => {
    const server = createServer((_message: IncomingMessage, response) => response.writeHead(403).end('no'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    const endpoints = [
      { endpoint: '/x', method: 'POST', output_encoding: 'no-op', backend: [{ host, url_pattern: '/' }] },
    ];
    const { gateway, port } = await secure.listen({ use_h2c: true, endpoints });
    const stream = secure.session(port, 'http').request({ ':path': '/x', ':method': 'POST' });
    stream.on('error', () => {});
    stream.write('x');
    const headers = (await once(stream, 'response')) as Record<string, unknown>;
    equal(headers[':status'], 403);
    stream.resume();
    await until(() => gateway.status.calls === 0);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  describe('limits', () => {
    it('close an idle connection after idle_timeout', async () => {
      const { session } = await passing((_seen, response) => response.end('ok'), { idle_timeout: '50ms' });
      const closed = once(session, 'close');
      // Either outcome is accepted, because the stream can end earlier on a stalled machine.
      await ask(session, { ':path': '/x' }).catch(() => {});
      await closed;
    });

    it('keep a connection that waits for a response', async () => {
      let finish = (): void => {};
      const fields = { idle_timeout: '40ms' };
      const { backend, port } = await passing((_seen, response) => {
        finish = () => response.end('ok');
      }, fields);
      let answer: Promise<{ body: string } | null> = Promise.resolve(null);
      // Either outcome is accepted, because a connection can end before its request arrives on a stalled machine.
      while (backend.requests.length === 0) {
        const session = secure.session(port, 'http');
        const reached = until(() => backend.requests.length > 0);
        answer = ask(session, { ':path': '/x' }).catch(() => null);
        await Promise.race([answer, once(session, 'close'), reached]);
      }
      await once(secure.session(port, 'http'), 'close');
      finish();
      equal((await answer)?.body, 'ok');
    });

    it('end a response after write_timeout and keep the connection', async () => {
      const { session } = await passing((_seen, response) => void response.write('first'), { write_timeout: '50ms' });
      const stream = session.request({ ':path': '/x' });
      stream.resume();
      await once(stream, 'error');
      equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
      equal(session.destroyed, false);
    });

    it('end a request whose body does not arrive within read_timeout', async () => {
      const { session } = await passing((_seen, response) => response.end('ok'), { read_timeout: '50ms' });
      const stream = session.request({ ':path': '/x', ':method': 'POST' });
      stream.write('half');
      await once(stream, 'error');
      equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    });
  });

  it('completes pending responses when the gateway closes', async () => {
    let finish = (): void => {};
    const { backend, session, gateway } = await passing((_seen, response) => {
      finish = () => response.end('ok');
    });
    const received = ask(session, { ':path': '/x' });
    await until(() => backend.requests.length === 1);
    const closed = gateway.close();
    finish();
    equal((await received).body, 'ok');
    await closed;
  });

  it('aborts pending responses after max_shutdown_wait_time', async () => {
    const { backend, session, gateway } = await passing(() => {}, { max_shutdown_wait_time: '50ms' });
    const response = ask(session, { ':path': '/x' }).catch(() => ({ headers: {} as Record<string, unknown> }));
    await until(() => backend.requests.length === 1);
    await gateway.close();
    equal((await response).headers[':status'], undefined);
  });

  it('write the address of the client to the access log', async () => {
    const sinks = rememberingSinks();
    const { port } = await secure.listen({ use_h2c: true }, { sinks });
    await ask(secure.session(port, 'http'), { ':path': '/a' });
    await until(() => sinks.lines.some((line) => line.includes('/a')));
    const line = sinks.lines.find((text) => text.includes('"/a"') || text.includes(' /a'))!;
    match(line, /127\.0\.0\.1|::1/);
  });

  it('counts as secure with TLS and as insecure without', async () => {
    const extra_config = { 'security/http': { ssl_redirect: true, ssl_host: 'localhost' } };
    const { port } = await secure.listen({ ...secure.tls(), extra_config });
    equal((await ask(secure.session(port), { ':path': '/a' })).headers[':status'], 200);
    const plain = await secure.listen({ use_h2c: true, extra_config });
    equal((await ask(secure.session(plain.port, 'http'), { ':path': '/a' })).headers[':status'], 301);
  });
});
