import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { eventually } from '../eventually.ts';
import { openStage, reset, startTcp } from '../stage.ts';
import { defineTarget, type OpenTarget } from '../target.ts';
import { type SocketScript, scriptsOf, socketFrame } from '../websocket-frames.ts';

const inputs = fc.record({
  /** Each client has its own backend connection, or all share one. */
  path: fc.constantFrom('/direct', '/shared', '/packed'),
  client: scriptsOf(true),
  backend: scriptsOf(false),
});

/** WebSocket frames from a client and a backend at the same time. */
export const websocket = defineTarget<Input>({
  name: 'websocket',
  law: 'Whatever both sides of a WebSocket send, and however they leave, nothing stays open and the next client is served.',
  boundMs: 200,
  rooms: ['plugins/websocket/'],
  isGuided: true,
  inputs,
  open,
});

interface Input {
  readonly path: string;
  readonly client: SocketScript;
  readonly backend: SocketScript;
}

/** The gateway waits 5 seconds for the close frame of either side. */
const LEAVING_MS = 12_000;

const CALM: SocketScript = { steps: [], pieceBytes: 0, isPolite: true, end: 'stay' };

async function open(): Promise<OpenTarget<Input>> {
  let behavior = CALM;
  const backend = await startTcp((socket) => {
    let greeting = '';
    const greet = (chunk: Buffer): void => {
      greeting += chunk.toString('latin1');
      const key = /sec-websocket-key: *(\S+)\r\n/i.exec(greeting)?.[1];
      if (!key || !greeting.includes('\r\n\r\n')) return;
      socket.off('data', greet).resume();
      const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted}\r\n\r\n`,
      );
      void play(socket, behavior);
    };
    socket.on('data', greet);
  });
  const stage = await openStage(configFor(`ws://127.0.0.1:${backend.port}`));
  const visit = async (path: string, script: SocketScript): Promise<string> => {
    const socket = connect({ port: stage.port, host: '127.0.0.1' });
    let came = '';
    const closed = new Promise<void>((resolve) => void socket.on('error', () => {}).once('close', () => resolve()));
    socket.on('data', (chunk) => {
      if (came.length < 100) came += chunk.toString('latin1');
    });
    socket.write(handshakeOf(path));
    await eventually(
      () => came !== '' || socket.destroyed,
      () => 'the handshake is not answered',
    );
    void play(socket, script);
    await Promise.race([
      closed,
      eventually(
        () => socket.destroyed,
        () => 'a client that has left stays',
        LEAVING_MS,
      ),
    ]);
    return came;
  };
  return {
    async accept({ path, client, backend: script }) {
      stage.lines.length = 0;
      behavior = script;
      await visit(path, client);
      behavior = CALM;
      await stage.settled(LEAVING_MS);
      if (path !== '/shared')
        await eventually(
          () => backend.sockets.size === 0,
          () => `${backend.sockets.size} connections to the backend stay`,
          LEAVING_MS,
        );
      const answer = await visit('/direct', { ...CALM, end: 'end' });
      if (!answer.startsWith('HTTP/1.1 101')) throw new Error(`the next client gets ${JSON.stringify(answer)}`);
      await stage.settled(LEAVING_MS);
    },
    async close() {
      await stage.gateway.close();
      await backend.close();
    },
  };
}

async function play(socket: Socket, { steps, pieceBytes, isPolite, end }: SocketScript): Promise<void> {
  // Each close frame is sent in a write of its own.
  if (isPolite) socket.on('data', (chunk: Buffer) => chunk.lastIndexOf(0x88) >= 0 && socket.end());
  for (const step of steps) {
    if (socket.destroyed) return;
    if ('turns' in step) {
      for (let turn = 0; turn < step.turns; turn++) await new Promise(setImmediate);
      continue;
    }
    const bytes = socketFrame(step);
    const piece = pieceBytes === 0 || bytes.length > 500 ? bytes.length : pieceBytes;
    for (let at = 0; at < bytes.length; at += piece) {
      socket.write(bytes.subarray(at, at + piece));
      if (piece < bytes.length) await new Promise(setImmediate);
    }
  }
  if (end === 'reset') reset(socket);
  else if (end === 'wait') setTimeout(() => socket.end(), 20);
  else if (end === 'end') socket.end();
}

function handshakeOf(path: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: a',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...(path === '/packed' ? ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'] : []),
    '\r\n',
  ].join('\r\n');
}

function configFor(host: string): object {
  const endpoint = (path: string, own: boolean) => ({
    endpoint: path,
    extra_config: {
      websocket: { enable_direct_communication: own, max_message_size: 65_536, max_retries: 1, write_wait: '2s' },
    },
    backend: [{ host: [host], disable_host_sanitize: true, url_pattern: '/a' }],
  });
  return {
    // A handshake with the backend can take seconds on a busy machine.
    timeout: '30s',
    endpoints: [endpoint('/direct', true), endpoint('/packed', true), endpoint('/shared', false)],
  };
}
