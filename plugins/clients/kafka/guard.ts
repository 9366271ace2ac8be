import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Connection } from '@platformatic/kafka';
import { connectionOwner, ownEvents } from '#contract';

/** A response consists of its length and its content, which begins with the correlation id. */
const LENGTH_BYTES = 4;
const SHORTEST_BYTES = 4;
/** Longest response, in addition to the requested bytes. */
const LONGEST_BYTES = 64 * 1024 * 1024;
/** Shortest session lifetime that is renewed, in milliseconds; for a shorter one the connection is reopened. */
const SHORTEST_SESSION_MS = 1000;

/**
 * Guards a connection of the library, which buffers a response of any declared length, ends the process with errors
 * thrown for an invalid response, and renews sessions of more than 24 days in a tight loop.
 * @param name the broker, in the log. @param requestedBytes limit of record bytes requested in one response.
 * @param refuse called once the connection is unusable.
 */
export function guard(
  connection: Connection,
  name: string,
  requestedBytes: number,
  refuse: (error: Error) => void,
): void {
  let renewedAt = performance.now();
  const { reauthenticate } = connection;
  connection.reauthenticate = () => {
    const isDue = performance.now() - renewedAt >= SHORTEST_SESSION_MS;
    if (!isDue || !connection.isConnected()) return;
    renewedAt = performance.now();
    reauthenticate.call(connection);
  };
  connection.on('connecting', () => {
    // The socket exists only after the listeners of this event have been called.
    queueMicrotask(() => {
      const { socket } = connection;
      const fail = (error: Error) => {
        refuse(error);
        socket.destroy(error);
      };
      // The listeners are owned by the connection, not by the request that opened it.
      ownEvents(socket, connectionOwner('broker connection', name, fail));
      const isOpen = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
      socket.once(isOpen, () => guardSocket(socket, LONGEST_BYTES + requestedBytes, fail));
    });
  });
}

function guardSocket(socket: Socket, longestBytes: number, fail: (error: Error) => void): void {
  const readers = socket.listeners('data') as ((chunk: Buffer) => void)[];
  const lengths = new ResponseLengths(longestBytes);
  const read = (chunk: Buffer) => {
    if (socket.destroyed) return;
    try {
      lengths.follow(chunk);
      for (const reader of readers) reader(chunk);
    } catch (cause) {
      fail(cause instanceof NoResponse ? cause : new Error('a response that cannot be read', { cause }));
    }
  };
  for (const reader of readers) socket.off('data', reader);
  socket.on('data', read);
}

class NoResponse extends Error {}

/** Tracks the lengths in a stream of responses. */
class ResponseLengths {
  readonly #longestBytes: number;
  /** Bytes of the current response that have not arrived yet. */
  #leftBytes = 0;
  /** Bytes of a length received so far. */
  #length = 0;
  #lengthBytes = 0;

  constructor(longestBytes: number) {
    this.#longestBytes = longestBytes;
  }

  /** @throws NoResponse for an invalid length. */
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
