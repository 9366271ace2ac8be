import type { Socket } from 'node:net';
import fc from 'fast-check';
import { type OpenServer, reset, startTcp } from './stage.ts';

/** Distortion of one of a server's messages. */
export interface Distortion {
  /** Index of the message, counted over all connections. */
  readonly at: number;
  readonly act: 'edit' | 'cut' | 'double' | 'noise' | 'endless' | 'silence' | 'end' | 'reset' | 'drip';
  /** Start of an edit, modulo the length of the message. */
  readonly offset: number;
  /** Number of bytes that an edit replaces. */
  readonly length: number;
  /** Replacement, in hexadecimal. */
  readonly put: string;
}

const pieces = fc.oneof(
  fc.constantFrom(
    '00',
    '01',
    '7f',
    '80',
    'ff',
    '0d0a',
    '30',
    '2d31',
    '7fffffff',
    'ffffffff',
    '39393939393939393939',
    '',
  ),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('hex')),
);

/** Distortions of a hostile server, in the order of its messages. @param messages highest index of a distorted message. */
export const distortionsUpTo = (messages: number): fc.Arbitrary<Distortion[]> =>
  fc.array(
    fc.record({
      at: fc.nat({ max: messages }),
      act: fc.constantFrom(
        'edit',
        'edit',
        'edit',
        'edit',
        'edit',
        'cut',
        'double',
        'noise',
        'endless',
        'silence',
        'end',
        'reset',
        'drip',
      ),
      offset: fc.nat({ max: 400 }),
      length: fc.nat({ max: 4 }),
      put: pieces,
    }),
    { minLength: 1, maxLength: 4 },
  );

/** Sends a message as a well-behaved server would. */
export type Say = (message: Buffer | string) => void;

/** Serves one connection correctly. */
export type Dialect = (socket: Socket, say: Say) => void;

/** A server that implements a protocol correctly, except for the distortions. */
export interface HostileServer extends OpenServer {
  /** Sets the distortions and restarts the message count. */
  distort(list: readonly Distortion[]): void;
  /** Simulates a restart: closes all connections, then behaves correctly. */
  heal(): void;
}

/** @param start starts the server on a transport. Default: TCP. */
export async function startHostile(dialect: Dialect, start: typeof startTcp = startTcp): Promise<HostileServer> {
  let list: readonly Distortion[] = [];
  let said = 0;
  const server = await start((socket) => {
    let isSilent = false;
    dialect(socket, (message) => {
      if (isSilent || socket.destroyed) return;
      const bytes = Buffer.from(message as string, 'latin1');
      const own = list.filter(({ at }) => at === said);
      said++;
      isSilent = own.some(({ act }) => act === 'silence' || act === 'endless');
      if (own.length === 0) socket.write(bytes);
      else for (const distortion of own) say(socket, bytes, distortion);
    });
  });
  return {
    ...server,
    distort(given) {
      list = given;
      said = 0;
    },
    heal() {
      list = [];
      for (const socket of server.sockets) socket.destroy();
    },
  };
}

function say(socket: Socket, bytes: Buffer, { act, offset, length, put }: Distortion): void {
  const start = offset % (bytes.length + 1);
  const piece = Buffer.from(put, 'hex');
  const acts: Readonly<Record<Distortion['act'], () => void>> = {
    edit: () => socket.write(Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(start + length)])),
    cut: () => socket.write(bytes.subarray(0, start)),
    double: () => socket.write(Buffer.concat([bytes, bytes])),
    noise: () => socket.write(Buffer.concat(Array.from({ length: 50 }, () => Buffer.of(...piece, offset & 255)))),
    endless: () =>
      pour(socket, Buffer.concat([bytes.subarray(0, start), Buffer.alloc(16_384, piece.length ? piece : 97)])),
    silence: () => {},
    end: () => socket.end(bytes.subarray(0, start)),
    reset: () => reset(socket),
    drip: () => void drip(socket, bytes),
  };
  acts[act]();
}

/** Writes the same data repeatedly, as fast as it is accepted. */
function pour(socket: Socket, bytes: Buffer): void {
  if (!socket.destroyed) socket.write(bytes, (error) => error || setImmediate(pour, socket, bytes));
}

async function drip(socket: Socket, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at++) {
    socket.write(bytes.subarray(at, at + 1));
    await new Promise(setImmediate);
  }
}
