import { deepEqual, doesNotThrow, equal } from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type Http2ServerResponse,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { text } from 'node:stream/consumers';
import type { ServiceConfig } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { type Listener, listen } from '../../../kernel/server/port/listener.ts';
import type { PortSettings } from '../../../kernel/server/port/protocols.ts';
import { HeaderFaults } from '../../../kernel/server/port/proxy-protocol.ts';
import { until } from '../../support/conditions.ts';

interface Served {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

/** The HTTP/2 layer of a port, regardless of the code that handles its requests. */
describe('a message object over HTTP/2', () => {
  let listener: Listener;
  let served: Served[];
  let arrived: () => void;
  const sessions: ClientHttp2Session[] = [];

  const settings = (config: object): PortSettings => ({
    config: {
      listen_ip: '127.0.0.1',
      use_h2c: true,
      read_timeout: 0,
      read_header_timeout: 0,
      write_timeout: 0,
      idle_timeout: 0,
      ...config,
    } as ServiceConfig,
    tls: null,
    upgrades: new Set(),
    http2Type: null,
  });

  const open = async (config: object = {}): Promise<ClientHttp2Session> => {
    const serve = (message: IncomingMessage, response: ServerResponse): void => {
      served.push({ message, response });
      arrived();
    };
    listener = await listen(
      settings(config),
      { ip: '127.0.0.1', port: 0 },
      { serve, serveHttp2: serve },
      silentLog,
      new HeaderFaults(silentLog),
    );
    return session();
  };

  const session = (): ClientHttp2Session => {
    const options = { strictSingleValueFields: false } as object;
    const opened = connect(`http://127.0.0.1:${listener.port}`, options).on('error', () => {});
    sessions.push(opened);
    return opened;
  };

  const request = (on: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream =>
    on.request({ ':path': '/x', ...headers }).on('error', () => {});

  /** Waits for the given number of requests. @returns the last one. */
  const serving = async (count = 1): Promise<Served> => {
    await new Promise<void>((resolve) => {
      arrived = () => {
        if (served.length >= count) resolve();
      };
      arrived();
    });
    return served[count - 1]!;
  };

  const answerOf = async (stream: ClientHttp2Stream): Promise<[status: unknown, body: string]> => {
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    return [headers[':status'], await text(stream)];
  };

  /** Waits for the end of a stream, including an aborted one. */
  const closed = (stream: ClientHttp2Stream): Promise<void> =>
    new Promise((resolve) => void stream.once('close', () => resolve()));

  beforeEach(() => {
    served = [];
    arrived = () => {};
  });
  afterEach(async () => {
    for (const opened of sessions.splice(0)) opened.destroy();
    await listener.close(0);
  });

  describe('that is a request', () => {
    it('has the authority as its first header, and its cookies in one header', async () => {
      request(await open(), { ':authority': 'a.test', cookie: ['a=1', 'b=2'], 'x-a': 'y' });
      const { message } = await serving();
      deepEqual(message.rawHeaders.slice(0, 2), ['host', 'a.test']);
      equal(message.headers.host, 'a.test');
      const at = message.rawHeaders.indexOf('cookie');
      deepEqual([message.rawHeaders[at + 1], message.rawHeaders.lastIndexOf('cookie')], ['a=1; b=2', at]);
      equal(message.rawHeaders[message.rawHeaders.indexOf('x-a') + 1], 'y');
    });

    it('keeps the separators between several Cookie headers', async () => {
      const opened = await open();
      opened
        .request([':path', '/x', ':authority', 'a', 'cookie', 'a=1', 'x-a', 'y', 'cookie', 'b=2'] as never)
        .on('error', () => {});
      deepEqual((await serving()).message.rawHeaders, ['host', 'a', 'cookie', 'a=1; b=2', 'x-a', 'y']);
    });

    it('accepts a Host header instead of :authority', async () => {
      request(await open(), { host: 'b.test' });
      const { message } = await serving();
      deepEqual([message.rawHeaders, message.headers.host], [['host', 'b.test'], 'b.test']);
    });

    it('is rejected if it has duplicate hosts', async () => {
      const opened = await open();
      await closed(request(opened, { host: ['a.test', 'b.test'] as never }));
      request(opened, { host: 'c.test' });
      equal((await serving()).message.headers.host, 'c.test');
    });

    it('knows the address of its client after a disconnect', async () => {
      const opened = await open();
      request(opened);
      const { message, response } = await serving();
      opened.destroy();
      await once(response, 'close');
      equal(message.socket.remoteAddress, '127.0.0.1');
    });

    it('fails for its reader if the rest of the body will not arrive', async () => {
      const opened = await open();
      request(opened, { ':method': 'POST' }).write('half');
      const { message } = await serving();
      const failed = once(message.resume(), 'error');
      opened.destroy();
      equal(((await failed)[0] as Error).message, 'aborted');
    });

    it('does not fail after a disconnect if the body was read completely or not at all', async () => {
      const opened = await open();
      const whole = request(opened, { ':method': 'POST' });
      whole.end('whole');
      const { message, response } = await serving();
      let errors = 0;
      message.on('error', () => errors++);
      equal(await text(message), 'whole');
      const unread = request(opened, { ':method': 'POST' });
      unread.write('half');
      const other = await serving(2);
      const gone = Promise.all([once(response, 'close'), once(other.response, 'close')]);
      whole.close(constants.NGHTTP2_CANCEL);
      unread.close(constants.NGHTTP2_CANCEL);
      await gone;
      equal(errors, 0);
    });

    it('without a body does not fail after it was answered', async () => {
      const stream = request(await open());
      const { message, response } = await serving();
      let errors = 0;
      message.on('error', () => errors++);
      response.end('ok');
      deepEqual(await answerOf(stream), [200, 'ok']);
      equal(errors, 0);
    });

    it('receives 100-continue when its body is read', async () => {
      const stream = request(await open(), { ':method': 'POST', expect: '100-continue' });
      const reported = once(stream, 'continue');
      const { message, response } = await serving();
      const body = text(message);
      await reported;
      stream.end('hello');
      response.end(await body);
      deepEqual(await answerOf(stream), [200, 'hello']);
    });

    it('can be as long as the limit, counted as in HTTP/1, and no longer', async () => {
      const opened = await open();
      request(opened, { 'x-a': 'y'.repeat(100) });
      const { message } = await serving();
      const bytes = message.rawHeaders.reduce((sum, segment) => sum + segment.length + 2, message.url!.length);
      listener.prepare(settings({ max_header_bytes: bytes }))();
      request(opened, { 'x-a': 'y'.repeat(100) });
      await serving(2);
      deepEqual(await answerOf(request(opened, { 'x-a': 'y'.repeat(101) })), [431, '']);
      equal(served.length, 2);
    });
  });

  describe('that is a response', () => {
    for (const [name, method, status] of [
      ['HEAD', 'HEAD', 200],
      ['204', 'GET', 204],
      ['304', 'GET', 304],
    ] as const) {
      it(`can have a body, which is not sent, for ${name}`, async () => {
        const stream = request(await open(), { ':method': method });
        const { response } = await serving();
        let errors = 0;
        response.on('error', () => errors++);
        response.statusCode = status;
        equal(response.write('some'), true);
        const ended = new Promise<void>((resolve) => response.end('more', () => resolve()));
        deepEqual(await answerOf(stream), [status, '']);
        await ended;
        equal(errors, 0);
      });
    }

    it('has the status that was set before the first byte of its body', async () => {
      const opened = await open();
      const written = request(opened);
      const first = await serving();
      first.response.statusCode = 201;
      first.response.write('a');
      first.response.end('b');
      deepEqual(await answerOf(written), [201, 'ab']);
      const ended = request(opened);
      const second = await serving(2);
      second.response.statusCode = 202;
      second.response.end('c');
      deepEqual(await answerOf(ended), [202, 'c']);
    });

    it('accepts a flat list of headers, including repeated ones, without hop-by-hop headers', async () => {
      const stream = request(await open());
      const { response } = await serving();
      const list = ['Connection', 'close', 'X-A', '1', 'x-a', '2', 'Keep-Alive', 'x', 'X-A', '3', 'X-B', '4'];
      response.writeHead(200, list).end();
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      deepEqual(
        [headers['x-a'], headers['x-b'], headers.connection, headers['keep-alive']],
        ['1, 2, 3', '4', undefined, undefined],
      );
    });

    it('is finished when it was sent completely', async () => {
      const stream = request(await open());
      const { response } = await serving();
      deepEqual([response.writableFinished, response.destroyed], [false, false]);
      const finished = once(response, 'finish');
      response.end('ok');
      equal(response.writableFinished, false);
      await Promise.all([finished, answerOf(stream)]);
      equal(response.writableFinished, true);
    });

    it('is not finished if its client has disconnected', async () => {
      const stream = request(await open());
      const { response } = await serving();
      let finishes = 0;
      response.on('finish', () => finishes++);
      response.write('begun');
      await once(stream, 'response');
      const gone = once(response, 'close');
      stream.close(constants.NGHTTP2_CANCEL);
      await gone;
      response.end();
      deepEqual([finishes, response.writableFinished, response.destroyed], [0, false, true]);
    });

    it('that is destroyed resets its stream, and keeps the connection', async () => {
      const opened = await open();
      const stream = request(opened);
      const { response } = await serving();
      response.write('begun');
      await once(stream, 'response');
      response.destroy();
      response.destroy();
      await closed(stream.resume());
      equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
      const other = request(opened);
      (await serving(2)).response.end('ok');
      deepEqual(await answerOf(other), [200, 'ok']);
    });
  });

  describe('whose stream the client has reset', () => {
    const calls: readonly (readonly [name: string, write: (response: Http2ServerResponse) => unknown])[] = [
      ['writeContinue', (response) => response.writeContinue()],
      ['writeEarlyHints', (response) => response.writeEarlyHints({ link: '</a.css>; rel=preload' })],
      ['writeInformation', (response) => response.writeInformation(103, { link: '</a.css>; rel=preload' })],
      ['writeHead', (response) => response.writeHead(200, { 'x-a': '1' })],
      ['write', (response) => response.write('a')],
      ['end', (response) => response.end('a')],
      ['addTrailers', (response) => response.addTrailers({ 'x-a': '1' })],
      ['createPushResponse', (response) => response.createPushResponse({ ':path': '/y' }, () => {})],
      ['setTimeout', (response) => response.setTimeout(1000)],
      ['destroy', (response) => response.stream.destroy()],
    ];
    for (const [name, write] of calls) {
      it(`drops data for ${name}`, async () => {
        const stream = request(await open(), { ':method': 'POST' });
        const response = (await serving()).response as unknown as Http2ServerResponse;
        const reset = once(response.stream, 'aborted');
        stream.close(constants.NGHTTP2_CANCEL);
        await reset;
        doesNotThrow(() => write(response));
      });

      it(`ignores a call of ${name}, even before the message notices the reset`, async () => {
        request(await open(), { ':method': 'POST' });
        const response = (await serving()).response as unknown as Http2ServerResponse;
        response.stream.session!.destroy();
        doesNotThrow(() => write(response));
      });
    }

    for (const [name, method] of [
      ['without a body', 'GET'],
      ['with half a body that is not read', 'POST'],
    ] as const) {
      for (const isEnded of [true, false]) {
        it(`with code 0 ends after a request ${name}, while ${isEnded ? 'the rest' : 'more'} of its response waits for the client's window`, async () => {
          const opened = await open();
          const stream = request(opened, { ':method': method });
          if (method === 'POST') stream.write('half');
          const { response } = await serving();
          response.writeHead(200);
          if (isEnded) response.end(Buffer.alloc(1024 * 1024));
          else response.write(Buffer.alloc(1024 * 1024));
          await once(stream, 'response');
          const gone = once(response, 'close');
          stream.close(constants.NGHTTP2_NO_ERROR);
          await gone;
          const other = request(opened);
          (await serving(2)).response.end('ok');
          deepEqual(await answerOf(other), [200, 'ok']);
        });
      }
    }
  });

  describe('belongs to a connection that', () => {
    it('accepts a megabyte of bodies in advance', async () => {
      const opened = await open();
      await until(() => (opened.state.remoteWindowSize ?? 0) >= 1024 * 1024);
    });

    it('announces the header limit that was valid when it was opened', async () => {
      const before = await open({ max_header_bytes: 5000 });
      await once(before, 'remoteSettings');
      equal(before.remoteSettings.maxHeaderListSize, 5000);
      listener.prepare(settings({ max_header_bytes: 6000 }))();
      const behind = session();
      await once(behind, 'remoteSettings');
      equal(behind.remoteSettings.maxHeaderListSize, 6000);
    });

    it('accepts further requests while another is pending, regardless of the idle timeout', async () => {
      const busy = await open({ idle_timeout: 20 });
      request(busy);
      await serving();
      await once(session(), 'close');
      request(busy);
      equal((await serving(2)).message.url, '/x');
    });
  });
});
