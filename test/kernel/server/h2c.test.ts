import { deepEqual, equal, match } from 'node:assert/strict';
import type { Socket } from 'node:net';
import { ask, once, Secure } from './secure.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The frames received until one of them ends stream 1. */
async function framesOf(socket: Socket, received: Buffer): Promise<Frame[]> {
  let bytes = received;
  const frames: Frame[] = [];
  for (;;) {
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3);
      const stream = bytes.readUInt32BE(5);
      frames.push({ type: bytes[3]!, flags: bytes[4]!, stream, payload: bytes.subarray(9, end) });
      bytes = bytes.subarray(end);
      const last = frames.at(-1)!;
      if (last.stream === 1 && last.type <= 1 && (last.flags & 1) === 1) return frames;
    }
    bytes = Buffer.concat([bytes, (await once(socket, 'data')) as Buffer]);
  }
}

/** Bytes received up to the end of the response head, and the bytes after it. */
async function headOf(socket: Socket): Promise<[string, Buffer]> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    bytes = Buffer.concat([bytes, (await once(socket, 'data')) as Buffer]);
    const end = bytes.indexOf('\r\n\r\n');
    if (end >= 0) return [bytes.subarray(0, end).toString(), bytes.subarray(end + 4)];
  }
}

describe('clear-text HTTP/2', () => {
  let secure: Secure;
  before(() => {
    secure = new Secure();
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  it('is served to clients that start with it', async () => {
    const { port } = await secure.listen({ use_h2c: true });
    equal((await ask(secure.session(port, 'http'), { ':path': '/a' })).body, '{"a":1}');
  });

  it('is served on the port that serves HTTP/1.1', async () => {
    const { port } = await secure.listen({ use_h2c: true });
    for (const method of ['GET /a', 'PUT /a', 'POST /a']) {
      const socket = secure.dial(port);
      socket.write(`${method} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      match(String(await once(socket, 'data')), /^HTTP\/1\.1 (200|405) /);
    }
  });

  it('is detected by the first bytes of the connection, regardless of how they are split', async () => {
    const { port } = await secure.listen({ use_h2c: true });
    const socket = secure.dial(port);
    socket.setNoDelay(true);
    for (const mark of PREFACE) {
      socket.write(mark);
      await new Promise(setImmediate);
    }
    socket.write(SETTINGS);
    const first = (await once(socket, 'data')) as Buffer;
    equal(first[3], 4);
  });

  it('is not served by default', async () => {
    const { port } = await secure.listen();
    const socket = secure.dial(port);
    socket.write(PREFACE);
    await once(socket.resume(), 'close');
    const upgrading = secure.dial(port);
    upgrading.write(`GET /a HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n`);
    match((await headOf(upgrading))[0], /^HTTP\/1\.1 200 /);
  });

  it('can be enabled by the old router option, with a warning', async () => {
    const { gateway, port } = await secure.listen({ extra_config: { router: { use_h2c: true } } });
    equal((await ask(secure.session(port, 'http'), { ':path': '/a' })).body, '{"a":1}');
    deepEqual(
      gateway.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['CONFIG_OLD_FIELD', '/extra_config/router/use_h2c']],
    );
  });

  it('is ignored with TLS, with a warning', async () => {
    const { gateway, port } = await secure.listen({ ...secure.tls(), use_h2c: true });
    equal((await ask(secure.session(port), { ':path': '/a' })).body, '{"a":1}');
    equal(
      gateway.status.warnings.some(({ code }) => code === 'TLS_H2C'),
      true,
    );
  });

  it('closes a connection that sends nothing within read_header_timeout', async () => {
    const { port } = await secure.listen({ use_h2c: true, read_header_timeout: '50ms' });
    await once(secure.dial(port), 'close');
  });

  it('does not delay the shutdown with silent connections', async () => {
    const { gateway, port } = await secure.listen({ use_h2c: true });
    const socket = secure.dial(port);
    await once(socket, 'connect');
    await ask(secure.session(port, 'http'), { ':path': '/a' });
    await Promise.all([once(socket, 'close'), gateway.close()]);
  });

  describe('requested with Upgrade', () => {
    it('answers the request with the Upgrade header as the first stream', async () => {
      const { port } = await secure.listen({ use_h2c: true });
      const socket = secure.dial(port);
      socket.write(`GET /a?x=1 HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}X-Mine: ${'long '.repeat(5000)}\r\n\r\n`);
      const [head, rest] = await headOf(socket);
      match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
      socket.write(PREFACE);
      socket.write(SETTINGS);
      const frames = await framesOf(socket, rest);
      equal(frames[0]!.type, 4);
      const data = frames.filter(({ type, stream }) => stream === 1 && type === 0);
      equal(Buffer.concat(data.map(({ payload }) => payload)).toString(), '{"a":1}');
    });

    it('accepts HTTP/2 frames that arrived together with the request', async () => {
      const { port } = await secure.listen({ use_h2c: true });
      const socket = secure.dial(port);
      socket.write(
        Buffer.concat([Buffer.from(`GET /a HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n${PREFACE}`), SETTINGS]),
      );
      const [, rest] = await headOf(socket);
      equal(
        (await framesOf(socket, rest)).some(({ payload }) => payload.toString() === '{"a":1}'),
        true,
      );
    });

    it('closes a connection that continues in another protocol', async () => {
      const { port } = await secure.listen({ use_h2c: true });
      const socket = secure.dial(port);
      socket.write(`GET /a HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\nGET /a HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      const [head, rest] = await headOf(socket);
      match(head, /^HTTP\/1\.1 101 /);
      equal(rest.length, 0);
      await once(socket, 'close');
    });

    for (const [title, request] of [
      ['a request with a body', `POST /a HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}Content-Length: 2\r\n\r\nhi`],
      [
        'a request without settings',
        'GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      ],
      ['another protocol', 'GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ]) {
      it(`is ignored for ${title}`, async () => {
        const { port } = await secure.listen({ use_h2c: true });
        const socket = secure.dial(port);
        socket.write(request!);
        match((await headOf(socket))[0], /^HTTP\/1\.1 (200|405) /);
      });
    }

    it('is ignored while a previous response is pending', async () => {
      let finish = (): void => {};
      const backend = await secure.backend((_seen, response) => {
        finish = () => response.end('{"held":1}');
      });
      const endpoints = [{ endpoint: '/held', backend: [{ host: [backend.url], url_pattern: '/' }] }];
      const { port } = await secure.listen({ use_h2c: true, endpoints });
      const socket = secure.dial(port);
      socket.write('GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n');
      while (backend.requests.length === 0) await new Promise(setImmediate);
      socket.write(`GET /__health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${UPGRADE}\r\n`);
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      await new Promise(setImmediate);
      finish();
      await once(socket, 'close');
      match(received, /^HTTP\/1\.1 200 [\s\S]*\{"held":1\}HTTP\/1\.1 200 /);
    });
  });
});
