import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Connection } from '@platformatic/kafka';

/** A response is its length and its content, which begins with the number of the request. */
const LENGTH_BYTES = 4;
const SHORTEST_BYTES = 4;
/** The longest response, but for what was asked for. */
const LONGEST_BYTES = 64 * 1024 * 1024;
/** A session that the broker lets end after less, in milliseconds, is not renewed: its connection is made again. */
const SHORTEST_SESSION_MS = 1000;

/**
 * Guards a connection of the library, which collects whatever length a broker promises, ends the process by what it throws
 * over a response that is none, and renews sessions of more than 24 days without a pause.
 * @param askedBytes of records in one response. @param refuse called once it is of no use.
 */
export function guard(connection: Connection, askedBytes: number, refuse: (error: Error) => void): void {
  let renewedAt = performance.now();
  const { reauthenticate } = connection;
  connection.reauthenticate = () => {
    const isDue = performance.now() - renewedAt >= SHORTEST_SESSION_MS;
    if (!isDue || !connection.isConnected()) return;
    renewedAt = performance.now();
    reauthenticate.call(connection);
  };
  connection.on('connecting', () => {
    // Its socket is there once those who listen have been called.
    queueMicrotask(() => {
      const { socket } = connection;
      const isOpen = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
      socket.once(isOpen, () => guardSocket(socket, LONGEST_BYTES + askedBytes, refuse));
    });
  });
}

function guardSocket(socket: Socket, longestBytes: number, refuse: (error: Error) => void): void {
  const readers = socket.listeners('data') as ((chunk: Buffer) => void)[];
  const lengths = new ResponseLengths(longestBytes);
  const read = (chunk: Buffer) => {
    if (socket.destroyed) return;
    try {
      lengths.follow(chunk);
      for (const reader of readers) reader(chunk);
    } catch (cause) {
      const error = cause instanceof NoResponse ? cause : new Error('a response that cannot be read', { cause });
      refuse(error);
      socket.destroy(error);
    }
  };
  for (const reader of readers) socket.off('data', reader);
  socket.on('data', read);
}

class NoResponse extends Error {}

/** Follows a stream of responses. */
class ResponseLengths {
  readonly #longestBytes: number;
  /** Bytes of the present response that are to come. */
  #leftBytes = 0;
  /** Of a length, what has come of it. */
  #length = 0;
  #lengthBytes = 0;

  constructor(longestBytes: number) {
    this.#longestBytes = longestBytes;
  }

  /** @throws NoResponse for a length that no response has. */
  follow(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const taken = Math.min(this.#leftBytes, chunk.length - at);
      this.#leftBytes -= taken;
      at += taken;
      if (this.#leftBytes > 0 || at === chunk.length) return;
      this.#length = (this.#length << 8) | chunk[at++]!;
      this.#lengthBytes++;
      if (this.#lengthBytes === LENGTH_BYTES) this.#begin();
    }
  }

  #begin(): void {
    const length = this.#length;
    if (length < SHORTEST_BYTES)
      throw new NoResponse(`the server does not speak the Kafka protocol: a response of ${length} bytes`);
    if (length > this.#longestBytes) {
      throw new NoResponse(
        `the server does not speak the Kafka protocol, or its response is too large: ${length} bytes`,
      );
    }
    this.#leftBytes = length;
    this.#length = 0;
    this.#lengthBytes = 0;
  }
}
