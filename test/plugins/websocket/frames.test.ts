import { deepEqual, equal, ok } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import type { TestSocketServer } from '../../support/websocket.ts';
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  closing,
  type FrameClient,
  type FrameOptions,
  frame,
  openFrames,
  PING,
  PONG,
  TEXT,
} from './frames.ts';
import { directConfig, Stage } from './setup.ts';

describe('websocket frames', () => {
  let stage: Stage;
  let backend: TestSocketServer;
  const clients: FrameClient[] = [];

  beforeEach(async () => {
    stage = new Stage();
    backend = await stage.backend();
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await stage.close();
  });

  const start = (websocket: object = { max_message_size: 100_000 }) =>
    stage.start(directConfig(backend.url, { websocket }));
  const open = async (behind?: Buffer): Promise<FrameClient> => {
    const client = await openFrames(stage.port, '/chat/red', behind);
    clients.push(client);
    return client;
  };

  it('can follow the handshake immediately, in pieces of any size, with 16-bit and 64-bit lengths', async () => {
    await start();
    const client = await open(frame({ opcode: TEXT, payload: 'early' }));
    const peer = await backend.next();
    equal(await peer.next(), 'early');
    for (const byte of frame({ opcode: TEXT, payload: 'slow' })) client.write(Buffer.of(byte));
    equal(await peer.next(), 'slow');
    const long = Buffer.alloc(70_000, 'x');
    client.write(frame({ opcode: BINARY, payload: long }));
    deepEqual(await peer.next(), long);
    client.write(frame({ opcode: TEXT, payload: 'y'.repeat(300) }));
    equal(await peer.next(), 'y'.repeat(300));
    client.write(frame({ opcode: TEXT, payload: '' }));
    equal(await peer.next(), '');
  });

  it('of one message are joined, and pings that arrive between them are answered immediately', async () => {
    await start();
    const client = await open();
    const peer = await backend.next();
    client.write(
      frame({ opcode: TEXT, payload: 'a', isFinal: false }),
      frame({ opcode: PING, payload: 'beat' }),
      frame({ opcode: CONTINUATION, payload: 'b', isFinal: false }),
      frame({ opcode: CONTINUATION, payload: 'c' }),
    );
    equal(await peer.next(), 'abc');
    await until(() => client.frames.some(({ opcode, payload }) => opcode === PONG && String(payload) === 'beat'));
  });

  it('can end within a UTF-8 character, and the last one of a message can be empty', async () => {
    await start();
    const client = await open();
    const peer = await backend.next();
    const bytes = Buffer.from('ö');
    client.write(
      frame({ opcode: TEXT, payload: bytes.subarray(0, 1), isFinal: false }),
      frame({ opcode: CONTINUATION, payload: bytes.subarray(1) }),
    );
    equal(await peer.next(), 'ö');
    client.write(frame({ opcode: TEXT, payload: 'cut off', isFinal: false }));
    client.socket.end();
    equal((await peer.over()).code, 1001);
  });

  const refused: readonly (readonly [what: string, code: number, ...frames: FrameOptions[]])[] = [
    ['is not masked', 1002, { opcode: TEXT, payload: 'a', isMasked: false }],
    ['has a reserved bit', 1002, { opcode: TEXT, payload: 'a', reserved: 4 }],
    ['has another reserved bit', 1002, { opcode: TEXT, payload: 'a', reserved: 1 }],
    ['has an unknown opcode', 1002, { opcode: 3, payload: 'a' }],
    ['has an unknown control opcode', 1002, { opcode: 11, payload: 'a' }],
    ['is a continuation without a message', 1002, { opcode: CONTINUATION, payload: 'a' }],
    [
      'starts a message within another one',
      1002,
      { opcode: TEXT, payload: 'a', isFinal: false },
      { opcode: TEXT, payload: 'b' },
    ],
    ['is a fragmented ping', 1002, { opcode: PING, payload: 'a', isFinal: false }],
    ['is a ping longer than 125 bytes', 1002, { opcode: PING, payload: 'a'.repeat(126) }],
    ['is text that is not UTF-8', 1007, { opcode: TEXT, payload: Buffer.from([0xc3, 0x28]) }],
    ['is text with a truncated character', 1007, { opcode: TEXT, payload: Buffer.from([0xe2, 0x82]) }],
    ['declares a length over the limit', 1009, { opcode: BINARY, length: 100_001n }],
    ['declares a length of 2^53', 1009, { opcode: BINARY, length: 2n ** 53n }],
    ['declares the maximum length', 1009, { opcode: BINARY, length: 2n ** 64n - 1n }],
    ['is a close frame of one byte', 1002, { opcode: CLOSE, payload: 'a' }],
    ['closes with 1005', 1002, { opcode: CLOSE, payload: closing(1005) }],
    ['closes with 1006', 1002, { opcode: CLOSE, payload: closing(1006) }],
    ['closes with 1015', 1002, { opcode: CLOSE, payload: closing(1015) }],
    ['closes with 999', 1002, { opcode: CLOSE, payload: closing(999) }],
    ['closes with 2999', 1002, { opcode: CLOSE, payload: closing(2999) }],
    ['closes with 5000', 1002, { opcode: CLOSE, payload: closing(5000) }],
    ['closes with a reason that is not UTF-8', 1007, { opcode: CLOSE, payload: closing(1000, Buffer.from([0xff])) }],
  ];
  for (const [what, code, ...frames] of refused) {
    it(`close with ${code} only the client whose frame ${what}`, async () => {
      await start();
      const other = await stage.open('/chat/red');
      const otherPeer = await backend.next();
      const client = await open();
      const peer = await backend.next();
      client.write(...frames.map(frame));
      equal(await client.closeCode(), code);
      equal((await peer.over()).code, 1001);
      deepEqual(peer.messages, []);
      other.send('still there');
      equal(await otherPeer.next(), 'still there');
    });
  }

  it('are limited by the total size of their message', async () => {
    await start({ max_message_size: 10 });
    const client = await open();
    client.write(
      frame({ opcode: TEXT, payload: 'a'.repeat(6), isFinal: false }),
      frame({ opcode: CONTINUATION, payload: 'a'.repeat(6) }),
    );
    equal(await client.closeCode(), 1009);
  });

  it('close a client that splits a message into too many fragments', async () => {
    await start();
    const client = await open();
    const nothing = frame({ opcode: CONTINUATION, isFinal: false });
    client.write(frame({ opcode: TEXT, isFinal: false }), ...new Array(17_000).fill(nothing));
    ok([1006, 1008].includes(await client.closeCode()));
  });

  it('disconnect a client that sends pings and never reads the responses', async () => {
    await start();
    const client = await open();
    const peer = await backend.next();
    client.socket.pause();
    const ping = Buffer.concat(new Array(5000).fill(frame({ opcode: PING, payload: 'a'.repeat(125) })));
    const write = (error?: Error | null): void => {
      if (!error) client.socket.write(ping, write);
    };
    write();
    await peer.over();
  });

  it('of a client that ends its side without a close frame end the backend connection', async () => {
    await start();
    const client = await open();
    const peer = await backend.next();
    client.socket.end();
    equal((await peer.over()).code, 1001);
    await until(() => stage.gateway.status.streams === 0);
  });

  it('end the connection after a few seconds if the close frame is not answered', async () => {
    await start();
    const client = await open();
    (await backend.next()).socket.close(4000);
    equal(await client.closeCode(), 4000);
    await until(() => stage.gateway.status.streams === 0);
  });
});
