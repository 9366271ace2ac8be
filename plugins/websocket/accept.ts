import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';

/** Longest time for a closing handshake, in milliseconds; then the connection is cut. */
export const CLOSE_MS = 5000;

/** Bounds on what a peer may send in pieces before a message is whole, and on pongs that it does not read. */
export const pieces = { maxBufferedChunks: 65_536, maxFragments: 16_384, maxPendingAutoPongs: 60 } as const;

/** What the library does once its server has written 101, which the gateway has done here. */
interface Settable {
  _protocol: string;
  setSocket(connection: Duplex, head: Buffer, options: object): void;
}

/** The server's end of a WebSocket, on a connection whose client has been told 101. Nobody listens for its errors yet. */
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
