import { equal } from 'node:assert/strict';
import type { Socket } from 'node:net';
import { openAdmin, type TestAdmin } from '../../admin/support.ts';
import { until } from '../../support/conditions.ts';
import { once, Secure } from './secure.ts';

const HEAD = 'Host: localhost\r\n';
const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const SETTINGS = '\0\0\0\x04\0\0\0\0\0';

/** Bytes that a client sends before its connection is reset. */
const openings: readonly (readonly [name: string, bytes: string])[] = [
  ['nothing', ''],
  ['half a request', `GET /a HTTP/1.1\r\n${HEAD}`],
  ['a request', `GET /a HTTP/1.1\r\n${HEAD}\r\n`],
  ['CONNECT', `CONNECT x:80 HTTP/1.1\r\n${HEAD}\r\n`],
  ['CONNECT pipelined after a request', `GET /a HTTP/1.1\r\n${HEAD}\r\nCONNECT x:80 HTTP/1.1\r\n${HEAD}\r\n`],
  ['a malformed request', 'BROKEN\r\n\r\n'],
  ['an unknown expectation', `GET /a HTTP/1.1\r\n${HEAD}Expect: x\r\n\r\n`],
  [
    'a request head that announces a body',
    `POST /a HTTP/1.1\r\n${HEAD}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
  ],
  ['half a body', `POST /a HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\nhel`],
  ['a request to switch to another protocol', `GET /a HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`],
  ['a request to switch to HTTP/2', `GET /a HTTP/1.1\r\n${HEAD}${UPGRADE}\r\n`],
  ['half the preface of HTTP/2', PREFACE.slice(0, 10)],
  ['the beginning of HTTP/2', PREFACE + SETTINGS],
  ['invalid HTTP/2', `${PREFACE}${'x'.repeat(100)}`],
  ['the start of a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
];

/** A connection, and the stream to write to: the same unless the connection is encrypted. */
interface Dialled {
  readonly raw: Socket;
  readonly socket: Socket;
}

/** Resets one connection while its bytes are in transit, and another one after the server has received them. */
async function resetTwice(dial: () => Promise<Dialled>, bytes: string): Promise<void> {
  const early = await dial();
  early.socket.write(bytes, 'latin1', () => early.raw.resetAndDestroy());
  await once(early.raw, 'close');
  const late = await dial();
  late.socket.write(bytes, 'latin1');
  const other = await dial();
  other.socket.write(`GET /a HTTP/1.1\r\n${HEAD}\r\n`);
  await once(other.socket, 'data');
  late.raw.resetAndDestroy();
  if (!late.raw.closed) await once(late.raw, 'close');
}

describe('a reset connection', () => {
  let secure: Secure;
  before(() => {
    secure = new Secure();
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  const dialPlain = async (port: number): Promise<Dialled> => {
    const socket = secure.dial(port);
    await once(socket, 'connect');
    return { raw: socket, socket };
  };
  const dialTls = async (port: number): Promise<Dialled> => {
    const raw = secure.dial(port);
    const socket = await secure.handshake(port, { socket: raw, ALPNProtocols: ['http/1.1'] });
    socket.on('error', () => {});
    return { raw, socket };
  };

  for (const [name, bytes] of openings) {
    for (const [kind, config] of [
      ['HTTP/1.1', {}],
      ['HTTP/2 in clear text', { use_h2c: true }],
    ] as const) {
      it(`after ${name} does not affect others on a port with ${kind}`, async () => {
        const { gateway, port } = await secure.listen(config);
        await resetTwice(() => dialPlain(port), bytes);
        equal((await fetch(`http://127.0.0.1:${port}/a`)).status, 200);
        await until(() => gateway.status.calls === 0);
      });
    }

    it(`after ${name} does not affect others on a port with TLS`, async () => {
      const { gateway, port } = await secure.listen(secure.tls());
      await resetTwice(() => dialTls(port), bytes);
      equal(await secure.get(port), 200);
      await until(() => gateway.status.calls === 0);
    });
  }

  describe('on the admin port', () => {
    let admin: TestAdmin;
    before(async () => {
      admin = await openAdmin();
    });
    after(() => admin.close());

    for (const [name, bytes] of openings) {
      it(`does not affect others after ${name}`, async () => {
        const port = Number(admin.admin.address!.split(':').at(-1));
        await resetTwice(() => dialPlain(port), bytes);
        equal((await admin.ask('/v1/status')).status, 200);
      });
    }
  });
});
