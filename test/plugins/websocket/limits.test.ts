import { deepEqual, equal, ok } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { until } from '../../support/conditions.ts';
import { refusalOf } from '../../support/websocket.ts';
import { type FrameClient, frame, openFrames, PING, PONG, TEXT } from './frames.ts';
import { directConfig, Stage } from './setup.ts';

describe('a websocket connection with limits', () => {
  let stage: Stage;
  const raw: FrameClient[] = [];

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    for (const { socket } of raw.splice(0)) socket.destroy();
    await stage.close();
  });

  const openRaw = async (): Promise<FrameClient> => {
    const client = await openFrames(stage.port, '/chat/red');
    raw.push(client);
    return client;
  };

  /** Waits until a count stays constant although there was ample time to read and write. */
  const settled = async (count: () => number): Promise<void> => {
    for (let before = -1; before !== count(); ) {
      before = count();
      for (let turns = 0; turns < 1000; turns++) await turn();
    }
  };

  it('pings the client, and disconnects a client that does not respond', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { ping_period: '20ms', pong_wait: '3s' } }));
    const alive = await stage.open('/chat/red');
    const talking = await openRaw();
    const dead = await openRaw();
    await until(() => backend.sockets.length === 3);
    const timer = setInterval(() => talking.write(frame({ opcode: TEXT, payload: 'a' })), 30);
    equal(await dead.closeCode(), 1006);
    ok(dead.frames.filter(({ opcode }) => opcode === PING).length >= 3);
    await until(() => backend.sockets.some(({ closed }) => closed?.code === 1001));
    deepEqual([alive.closed, talking.socket.destroyed], [null, false]);
    clearInterval(timer);
  });

  it('accepts an unsolicited pong as a sign of life', async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { ping_period: '1s', pong_wait: '3s' } }));
    const client = await openRaw();
    const began = performance.now();
    await until(() => {
      client.write(frame({ opcode: PONG, payload: 'alive' }));
      return performance.now() - began > 4000;
    });
    equal((await backend.next()).closed, null);
  });

  it("reads from the backend at the client's speed, and disconnects a client that does not read", async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { max_message_size: 65_536, write_wait: '3s' } }));
    const client = await openRaw();
    client.socket.pause();
    const { socket } = await backend.next();
    const message = Buffer.alloc(65_536);
    let sent = 0;
    const flood = (error?: Error): void => {
      if (error || socket.readyState !== socket.OPEN) return;
      sent++;
      socket.send(message, flood);
    };
    flood();
    // Flow control stops the sender, so that the remaining data is in system buffers.
    await settled(() => sent);
    ok(sent < 400, `${sent} messages`);
    equal(socket.readyState, socket.OPEN);
    await until(() => socket.readyState !== socket.OPEN);
    await until(() => stage.gateway.status.streams === 0);
  });

  it("reads from the client at the backend's speed, and loses no messages", async () => {
    const backend = await stage.backend();
    await stage.start(directConfig(backend.url, { websocket: { max_message_size: 65_536 } }));
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    peer.socket.pause();
    const message = 'x'.repeat(65_000);
    let written = 0;
    const count = 400;
    for (let at = 0; at < count; at++) client.socket.send(`${at} ${message}`, () => void written++);
    await until(() => written > 0);
    await settled(() => written);
    ok(written < count, 'the client has to wait');
    peer.socket.resume();
    await until(() => peer.messages.length === count);
    deepEqual(
      peer.messages.map((text) => Number.parseInt(String(text), 10)),
      [...new Array(count).keys()],
    );
  });

  it('does not treat a client as silent if the gateway does not read from it because the backend is slow', async () => {
    const backend = await stage.backend();
    const websocket = { max_message_size: 65_536, ping_period: '500ms', pong_wait: '3s', write_wait: '60s' };
    await stage.start(directConfig(backend.url, { websocket }));
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    peer.socket.pause();
    let pings = 0;
    client.socket.on('ping', () => pings++);
    for (let at = 0; at < 400; at++) client.send('x'.repeat(65_000));
    // Waits longer than the permitted silence.
    const began = performance.now();
    await until(() => pings >= 4 && performance.now() - began > 4000);
    equal(client.closed, null);
    peer.socket.resume();
    await until(() => peer.messages.length === 400);
  });

  it("returns 502 if the backend does not complete the handshake within the endpoint's timeout", async () => {
    let isLeft = false;
    const server = createServer(() => {});
    server.on('upgrade', (_request, socket) => {
      socket.on('error', () => {});
      socket.on('end', () => {
        isLeft = true;
        socket.end();
      });
      socket.write('HTTP/1.1 101 Switching');
      socket.resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await stage.start(directConfig(`ws://127.0.0.1:${port}`, { endpoint: { timeout: '200ms' } }));
    equal(await refusalOf(stage.url('/chat/red')), 502);
    await until(() => isLeft);
    await new Promise((resolve) => server.close(resolve));
  });
});
