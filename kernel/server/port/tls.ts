import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Log } from '#contract';
import type { ServerTls } from '../../runtime/tls.ts';
import { endPolitely, refusal } from '../response/refusal.ts';
import { keepCertificate } from './client-certificate.ts';
import { readFirst } from './first-bytes.ts';
import { carrierOf, handConnection, useContext } from './internals.ts';
import { inheritAddress } from './proxy-protocol.ts';

/** TLS handshakes with clients. */
export interface Handshakes {
  readonly fingerprint: string;
  /** Starts TLS on an accepted connection. */
  take(socket: Socket): void;
  /** Closes every connection whose handshake is not complete. */
  abort(): void;
}

/** Default handshake timeout, in milliseconds. */
const HANDSHAKE_MS = 30_000;

/**
 * @param waitMs handshake timeout; 0 for the default.
 * @param established called with each connection once it is encrypted and its protocol negotiated.
 */
export function createHandshakes(
  tls: ServerTls,
  waitMs: number,
  established: (socket: TLSSocket) => void,
  log: Log,
): Handshakes {
  const pending = new Set<Socket>();
  const server = createServer({
    ...tls.options,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: waitMs || HANDSHAKE_MS,
  });
  useContext(server, tls.context);
  server.on('secureConnection', (socket) => {
    const carrier = carrierOf(socket);
    pending.delete(carrier);
    inheritAddress(socket, carrier);
    socket.on('error', ignored);
    if (tls.options.requestCert) keepCertificate(socket);
    established(socket);
  });
  const refusePlain = (socket: Socket): void => {
    const { remoteAddress, remotePort } = socket;
    log.debug(() => `plain HTTP on the port for HTTPS from ${remoteAddress}:${remotePort}`);
    socket.write(refusal(400, 'This port speaks HTTPS.\n'));
    endPolitely(socket);
  };
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { remoteAddress, remotePort } = carrierOf(socket);
    log.debug(() => `TLS handshake error from ${remoteAddress}:${remotePort}: ${error.code ?? error.message}`);
    socket.destroy();
  });
  return {
    fingerprint: tls.fingerprint,
    take(socket) {
      pending.add(socket);
      socket.allowHalfOpen = false;
      socket.once('close', () => pending.delete(socket));
      readFirst(socket, waitMs || HANDSHAKE_MS, (bytes) => {
        const isPlain = beginsRequest(bytes);
        if (isPlain === undefined) return null;
        return { bytes, done: () => (isPlain ? refusePlain(socket) : handConnection(server, socket)) };
      });
    },
    abort() {
      for (const socket of pending) socket.destroy();
    },
  };
}

/** Whether bytes begin a plain-text request, which a handshake never does; undefined when more are needed. */
function beginsRequest(bytes: Buffer): boolean | undefined {
  const start = bytes.toString('latin1', 0, LONGEST_METHOD + 1);
  if (/^[A-Z]+ /.test(start)) return true;
  return start.length <= LONGEST_METHOD && /^[A-Z]*$/.test(start) ? undefined : false;
}

const LONGEST_METHOD = 'UNSUBSCRIBE'.length;

/** The error needs no handling because the connection closes after it. */
function ignored(): void {}
