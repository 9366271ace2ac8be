import { connect, type Socket } from 'node:net';
import { until } from '../../support/conditions.ts';

/** Options of a frame; by default it is complete and masked, as required of clients. */
export interface FrameOptions {
  readonly opcode: number;
  readonly payload?: string | Buffer;
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  /** Reserved bits: 4, 2, 1. */
  readonly reserved?: number;
  /** Number of bytes for the length, regardless of its value: 0, 2 or 8. */
  readonly lengthBytes?: 0 | 2 | 8;
  /** Declared length, if it differs from the actual one. */
  readonly length?: bigint;
}

export const CONTINUATION = 0;
export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** A frame in wire format (RFC 6455, section 5.2). */
export function frame({
  opcode,
  payload = '',
  isFinal = true,
  isMasked = true,
  reserved = 0,
  ...more
}: FrameOptions): Buffer {
  const bytes = Buffer.from(payload as string);
  const length = more.length ?? BigInt(bytes.length);
  const lengthBytes = more.lengthBytes ?? (length < 126n ? 0 : length < 65_536n ? 2 : 8);
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (lengthBytes === 0 ? Number(length) : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(Number(length), 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(length, 2);
  if (!isMasked) return Buffer.concat([head, bytes]);
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);
  return Buffer.concat([head, mask, bytes.map((byte, at) => byte ^ mask[at % 4]!)]);
}

/** The payload of a close frame. */
export function closing(code: number, reason: string | Buffer = ''): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return Buffer.concat([bytes, Buffer.from(reason as string)]);
}

/** A frame received from a server, without a mask. */
export interface Came {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A client that can send malformed frames. */
export interface FrameClient {
  readonly socket: Socket;
  /** Received frames. */
  readonly frames: readonly Came[];
  write(...frames: Buffer[]): void;
  /** The code of the received close frame; 1006 if the connection ended without one. */
  closeCode(): Promise<number>;
}

/** A valid handshake. */
export function handshakeOf(path: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: a',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');
}

/**
 * Opens a connection and upgrades it to a WebSocket.
 * @param behind bytes sent directly after the request.
 */
export async function openFrames(port: number, path: string, behind: Buffer = Buffer.alloc(0)): Promise<FrameClient> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let bytes: Buffer = Buffer.alloc(0);
  let isOpen = false;
  let isOver = false;
  const frames: Came[] = [];
  socket.on('error', () => {});
  socket.on('end', () => {
    isOver = true;
  });
  socket.on('close', () => {
    isOver = true;
  });
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    if (!isOpen && end >= 0) {
      isOpen = true;
      bytes = bytes.subarray(end + 4);
    }
    while (isOpen && bytes.length >= 2) {
      const short = bytes[1]! & 0x7f;
      const start = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (bytes.length < start) return;
      const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
      if (bytes.length < start + length) return;
      frames.push({ opcode: bytes[0]! & 0x0f, payload: bytes.subarray(start, start + length) });
      bytes = bytes.subarray(start + length);
    }
  });
  socket.write(Buffer.concat([Buffer.from(handshakeOf(path)), behind]));
  await until(() => isOpen);
  return {
    socket,
    frames,
    write: (...written) => void socket.write(Buffer.concat(written)),
    async closeCode() {
      const close = () => frames.find(({ opcode }) => opcode === CLOSE);
      await until(() => isOver || close() !== undefined);
      const came = close();
      if (!came) return 1006;
      return came.payload.length >= 2 ? came.payload.readUInt16BE() : 1005;
    },
  };
}
