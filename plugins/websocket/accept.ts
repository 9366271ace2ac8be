import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';

/** Maximum time for a closing handshake, in milliseconds; then the connection is terminated. */
export const CLOSE_MS = 5000;

/** Limits on the fragments that a peer may send before a message is complete, and on the pongs to it that it does not read. */
export const pieces = { maxBufferedChunks: 65_536, maxFragments: 16_384, maxPendingAutoPongs: 60 } as const;

/**
 * Members of a WebSocket that the library's own server sets after it has sent the status 101. The gateway sends that
 * status itself, so it also sets the members.
 */
interface Settable {
  _protocol: string;
  setSocket(connection: Duplex, head: Buffer, options: object): void;
}

/** Server end of a WebSocket, on a connection whose client has received the status 101. Its errors have no listener yet. */
export function acceptWebSocket(connection: Duplex, head: Buffer, maxBytes: number, subprotocol: string): WebSocket {
  const options = { autoPong: true, closeTimeout: CLOSE_MS, ...pieces };
  const Constructor = WebSocket as unknown as new (address: null, protocols: undefined, given: object) => WebSocket;
  const socket = new Constructor(null, undefined, options);
  const settable = socket as unknown as Settable;
  settable._protocol = subprotocol;
  settable.setSocket(connection, head, {
    allowSynchronousEvents: true,
    maxPayload: maxBytes,
    skipUTF8Validation: false,
    ...pieces,
  });
  return socket;
}
