import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { reset } from './stage.ts';

/** A client's connection. */
export interface Line {
  readonly stream: Duplex;
  /** Name of the event that the stream emits when more data can be sent. */
  readonly ready: string;
  /** Resets the TCP connection. */
  reset(): void;
}

/** Opens a connection to a port of the loopback interface. */
export type Dial = (port: number) => Line;

export const dialTcp: Dial = (port) => {
  const stream = connect(port, '127.0.0.1');
  return { stream, ready: 'connect', reset: () => reset(stream) };
};

/** Opens a TLS connection for HTTP/2. Node.js cannot reset it, only the TCP connection below. */
export const dialTls: Dial = (port) => {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const stream = connectTls({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false });
  return { stream, ready: 'secureConnect', reset: () => reset(socket) };
};
