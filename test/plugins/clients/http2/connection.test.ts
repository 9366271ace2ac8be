import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { mock } from 'node:test';
import { Connection } from '../../../../plugins/clients/http2/connection.ts';
import {
  type CameFrame,
  END_HEADERS,
  type Fields,
  FRAMES,
  frame,
  frameReader,
  headerBlock,
  headFrames,
} from '../../../../scripts/fuzz/http2.ts';
import { until } from '../../../support/conditions.ts';

const PREFACE_BYTES = 24;
const REQUEST: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/pushed'],
];
const settings = frame(FRAMES.settings, 0, 0, Buffer.alloc(0));
/** A PUSH_PROMISE frame on stream 1 that promises stream 2. */
const push = frame(FRAMES.push, END_HEADERS, 1, Buffer.concat([Buffer.of(0, 0, 0, 2), headerBlock(REQUEST)]));
const fatal = frame(FRAMES.ping, 0, 5, Buffer.alloc(8));

describe('a connection of the HTTP/2 client', () => {
  let server: Server;
  let accepted: Socket;
  let came: CameFrame[];
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    came = [];
    // Keeps its side open when the client has closed its own.
    server = createServer({ allowHalfOpen: true }, (socket) => {
      accepted = socket.on('error', () => {});
      sockets.add(socket);
      socket.write(settings);
      const read = frameReader((one) => void came.push(one));
      let rest = PREFACE_BYTES;
      socket.on('data', (chunk: Buffer) => {
        const skipped = Math.min(rest, chunk.length);
        rest -= skipped;
        if (skipped < chunk.length) read(chunk.subarray(skipped));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    mock.timers.reset();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    server.close();
  });

  /** Opens a connection. */
  async function open(): Promise<{ readonly connection: Connection; readonly socket: Socket }> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.add(socket);
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    const connection = new Connection(
      { socket, origin: 'http://a.test', timeoutMs: 0, streamWindowBytes: 65_535, settled },
      () => {},
    );
    await until(() => isSettled);
    return { connection, socket };
  }

  it('is cut 5 seconds after it was closed if the server keeps it open', async () => {
    const { connection, socket } = await open();
    mock.timers.enable({ apis: ['setTimeout'] });
    connection.close();
    mock.timers.tick(4_999);
    equal(socket.destroyed, false);
    mock.timers.tick(1);
    equal(socket.destroyed, true);
  });

  it('accepts no further call, and sends no PING, once the session has failed', async () => {
    const { connection } = await open();
    const stream = connection.open({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => {});
    const closed = new Promise((resolve) => stream.once('close', resolve));
    accepted.write(fatal);
    await closed;
    equal(connection.isFree, false);
    connection.suspect();
    equal(came.filter(({ type }) => type === FRAMES.ping).length, 0);
    connection.leave();
  });

  it('cancels pushed responses, and survives their failure', async () => {
    const { connection } = await open();
    const stream = connection.open({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => {});
    await until(() => came.some(({ type }) => type === FRAMES.headers));
    accepted.write(push);
    await until(() => came.some(({ type, stream }) => type === FRAMES.reset && stream === 2));
    deepEqual(came.find(({ type }) => type === FRAMES.reset)?.payload, Buffer.of(0, 0, 0, constants.NGHTTP2_CANCEL));
    accepted.write(headFrames(1, [[':status', '200']], true));
    await once(stream, 'response');
    connection.leave();
    connection.destroy(new Error('over'));
  });
});
