import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogConnection } from '../logging/log-connection.ts';
import type { Address } from './address.ts';

/** Maximum size of a datagram, in bytes; longer messages are sent in chunks. */
const DATAGRAM_BYTES = 8192;
/** Size of a chunk header, in bytes: magic bytes, message id, sequence number and sequence count. */
const CHUNK_HEAD_BYTES = 12;
const MAX_CHUNKS = 128;

const LINE_BREAK = 0x0a;
const compress = promisify(gzip);

/** GELF over UDP: each message is compressed and sent in one datagram or in chunks. A message too long for 128 chunks is dropped. */
export function openUdp(address: Address): LogConnection {
  const sockets = new Map<4 | 6, Socket>();
  let isSending = false;
  let isClosed = false;

  const socketFor = (family: 4 | 6): Socket => {
    const open = sockets.get(family);
    if (open) return open;
    const socket = createSocket(`udp${family}`);
    socket.unref();
    // Datagrams are never confirmed; only the callback of `send` can report a failure.
    socket.on('error', () => {});
    sockets.set(family, socket);
    return socket;
  };

  const sendAll = async (lines: Uint8Array): Promise<void> => {
    // The host name is resolved for each batch of lines, because its address may change.
    const { address: host, family } = await lookup(address.host);
    const socket = socketFor(family === 6 ? 6 : 4);
    let isLost = false;
    for (const message of messagesIn(lines)) {
      const datagrams = datagramsOf(await compress(message));
      if (datagrams.length === 0) isLost = true;
      for (const datagram of datagrams) await sendOne(socket, datagram, address.port, host);
    }
    if (isLost) throw new Error(`a message of more than ${MAX_CHUNKS} chunks`);
  };

  const closeAll = (): void => {
    for (const socket of sockets.values()) socket.close();
    sockets.clear();
  };

  return {
    write(lines, done) {
      isSending = true;
      const settle = (error?: Error): void => {
        isSending = false;
        if (isClosed) closeAll();
        done(error);
      };
      sendAll(Buffer.from(lines)).then(() => settle(), settle);
    },
    close() {
      isClosed = true;
      if (!isSending) closeAll();
    },
  };
}

function sendOne(socket: Socket, datagram: Uint8Array, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(datagram, port, host, (error) => (error ? reject(error) : resolve()));
  });
}

function* messagesIn(lines: Uint8Array): Generator<Uint8Array> {
  for (let start = 0, end = lines.indexOf(LINE_BREAK); end >= 0; end = lines.indexOf(LINE_BREAK, start)) {
    yield lines.subarray(start, end);
    start = end + 1;
  }
}

/** Datagrams of a message; empty if it would take too many. */
export function datagramsOf(message: Uint8Array): readonly Uint8Array[] {
  if (message.length <= DATAGRAM_BYTES) return [message];
  const size = DATAGRAM_BYTES - CHUNK_HEAD_BYTES;
  const count = Math.ceil(message.length / size);
  if (count > MAX_CHUNKS) return [];
  const id = randomBytes(8);
  return Array.from({ length: count }, (_, index) =>
    Buffer.concat([
      Buffer.from([0x1e, 0x0f]),
      id,
      Buffer.from([index, count]),
      message.subarray(index * size, (index + 1) * size),
    ]),
  );
}
