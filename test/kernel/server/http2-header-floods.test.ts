import { deepEqual, equal, ok } from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { Operations } from '#kernel';
import {
  type CameFrame,
  END_HEADERS,
  END_STREAM,
  FRAMES,
  frame,
  frameReader,
  headerBlock,
  PREFACE,
} from '../../../scripts/fuzz/http2.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';

/** RST_STREAM with ENHANCE_YOUR_CALM, and the head of a 431. */
const CALM = `${FRAMES.reset} 0000000b`;
const TOO_LARGE = `${FRAMES.headers} 4803343331`;
const PIECE_BYTES = 16_384;
/** Far less than the size of all decompressed headers, including those not yet sent. */
const MEMORY_BYTES = 256 * 1024 * 1024;

const request = headerBlock([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/a'],
]);
const field = (length: number) => headerBlock([['x-a', 'a'.repeat(length)]]);
/** A header that is added to the dynamic table of the connection, so that one byte refers to it from then on. */
const indexed = Buffer.concat([Buffer.of(0x40), field(3900).subarray(1)]);
const again = (times: number) => Buffer.alloc(times, 0x80 | 62);

/** A HEADERS frame with the required CONTINUATION frames. @param isWhole whether the last frame ends the headers. */
function framesOf(stream: number, block: Buffer, isWhole = true): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += PIECE_BYTES) {
    const isLast = isWhole && at + PIECE_BYTES >= block.length;
    const flags = (at === 0 ? END_STREAM : 0) | (isLast ? END_HEADERS : 0);
    frames.push(
      frame(at === 0 ? FRAMES.headers : FRAMES.continuation, flags, stream, block.subarray(at, at + PIECE_BYTES)),
    );
  }
  return Buffer.concat(frames);
}

describe('a flood of headers over HTTP/2', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;
  const sockets = new Set<Socket>();

  before(async () => {
    backend = await startBackend(json({}));
    const endpoint = { endpoint: '/a', input_headers: ['*'], backend: [{ url_pattern: '/', host: [backend.url] }] };
    gateway = await startGateway({ use_h2c: true, endpoints: [endpoint] });
    ({ port } = await gateway.listen());
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const send = (...bytes: Buffer[]) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.add(socket);
    const came: CameFrame[] = [];
    socket.on(
      'data',
      frameReader((one) => void came.push(one)),
    );
    socket.write(Buffer.concat([PREFACE, frame(FRAMES.settings, 0, 0, Buffer.alloc(0)), ...bytes]));
    return { socket, came };
  };
  /** The first response frame to a request, with the beginning of its payload in hexadecimal. */
  const answerTo = async (block: Buffer): Promise<string> => {
    const { came } = send(framesOf(1, block));
    const answer = () => came.find(({ stream }) => stream === 1);
    await until(() => answer() !== undefined);
    const { type, payload } = answer()!;
    return `${type} ${payload.toString('hex').slice(0, 10)}`;
  };

  for (const [what, block, expected] of [
    [
      'with too many fields resets its stream',
      Buffer.concat([request, ...Array.from({ length: 2100 }, () => field(1))]),
      CALM,
    ],
    ['with many fields of one byte each resets its stream', Buffer.concat([request, indexed, again(100_000)]), CALM],
    [
      'of megabytes compressed into five kilobytes is rejected with 431',
      Buffer.concat([request, indexed, again(1000)]),
      TOO_LARGE,
    ],
  ] as const) {
    it(`${what}, before any backend is called`, async () => {
      const seen = backend.requests.length;
      equal(await answerTo(block), expected);
      equal(backend.requests.length, seen);
    });
  }

  it('with endless frames has its connection closed', async () => {
    const { socket } = send(
      framesOf(1, Buffer.concat([request, ...Array.from({ length: 60 }, () => field(16_000))]), false),
    );
    await until(() => socket.destroyed || socket.readableEnded);
  });

  it('on many concurrent connections neither ends the process nor exhausts its memory', async () => {
    const before = process.memoryUsage().rss;
    const bomb = Buffer.concat([indexed, again(1000)]);
    const floods = [
      Buffer.concat([request, ...Array.from({ length: 2100 }, () => field(20))]),
      Buffer.concat([request, bomb]),
      Buffer.concat([request, field(130_000)]),
      Buffer.concat([request, again(100_000)]),
    ];
    const clients = Array.from({ length: 20 }, (_, client) => {
      const streams = Array.from({ length: 20 }, (_none, at) =>
        framesOf(2 * at + 1, floods[(client + at) % 4]!, at < 19),
      );
      return send(...streams);
    });
    // Some clients disconnect before they have sent all frames.
    for (const { socket } of clients.filter((_, at) => at % 3 === 0)) socket.resetAndDestroy();
    await until(() => clients.every(({ socket, came }) => socket.destroyed || came.length > 1));
    ok(process.memoryUsage().rss - before < MEMORY_BYTES);
    for (const { socket } of clients) socket.destroy();
    await until(() => gateway.status.calls === 0);
    equal((await ask(port, 'GET /a')).status, 200);
    deepEqual([gateway.status.calls, gateway.status.streams], [0, 0]);
  });
});
