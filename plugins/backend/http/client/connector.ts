import { isIP, type OnReadOpts, connect as openTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls } from 'node:tls';
import { BackendError, type ConnectionTimes, type DeniedAddresses, openOwned, timerMs } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';
import { connectionLost, TransportError } from './errors.ts';

/** How connections are made. Times in milliseconds. */
export interface DialSettings {
  /** Time limit for name lookup and TCP connect. */
  readonly timeoutMs: number;
  /** Pause between TCP keep-alive probes; negative for none. */
  readonly keepAliveMs: number;
  /** Wait before the next address of a name is tried. */
  readonly fallbackDelayMs: number;
}

/** Longest time for a TLS handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;

/** Where it is noted that the request being written is the first on its connection. */
export interface FreshMark {
  /** How long the connection took to open; set only while it is handed its first requests. */
  fresh: ConnectionTimes | null;
}

/** Where bytes of a connection go, past the stream that it is. */
export interface Reading {
  /** What they are read into. */
  readonly buffer: Buffer;
  /** They stand at the beginning of the buffer until this returns. */
  read(length: number): void;
}

/** Opens a connection. @param reading null for the stream. */
export type Connect = (reading: Reading | null, callback: (error: Error | null, socket: Socket | null) => void) => void;

/**
 * Makes the connections to one address: dial and handshake have limits of their own. One that came out at an address of the
 * gateway itself that is denied fails before anything is sent. The name that is asked for, and that the certificate must
 * have, is that of the address, whatever `Host` is sent.
 * @param address as in `https://host:port`. @param tls asked for at the first encrypted connection.
 * @param mark is set while the callback runs. @param offersHttp2 to servers that have a choice, over TLS.
 */
export function connector(
  address: string,
  dial: DialSettings,
  denied: DeniedAddresses,
  tls: () => TlsClient,
  mark: FreshMark,
  offersHttp2 = false,
): Connect {
  const { protocol, hostname, port } = new URL(address);
  const secure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const common = {
    host,
    port: Number(port) || (secure ? 443 : 80),
    noDelay: true,
    keepAlive: dial.keepAliveMs >= 0,
    keepAliveInitialDelay: timerMs(Math.max(dial.keepAliveMs, 0)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: timerMs(Math.max(dial.fallbackDelayMs, 10)),
  };
  const ALPNProtocols = offersHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'];
  const encrypted = isIP(host) === 0 ? { ALPNProtocols, servername: host } : { ALPNProtocols };
  /** What the next handshake can go on with. */
  let session: Buffer | undefined;
  const open = (onread: OnReadOpts | undefined): Socket => {
    if (!secure) return openTcp({ ...common, ...(onread && { onread }) });
    const options: ConnectionOptions = { ...common, ...encrypted, ...tls(), ...(session && { session }) };
    const socket = openTls({ ...options, ...(onread && { onread }) });
    return socket.on('session', (fresh: Buffer) => {
      session = fresh;
    });
  };
  return (reading, callback) => {
    const start = performance.now();
    const socket = openOwned('backend connection', hostname, () => open(reading ? onreadOf(reading) : undefined));
    const times = timing(socket, start, secure);
    const settle = (error: Error | null) => {
      // Nothing on the socket knows the first request any more.
      socket.off(opened, ready).off('error', settle).off('close', lost);
      socket.on('error', unheard);
      if (error) return callback(error, null);
      if (denied.has(socket.remoteAddress ?? '', socket.remotePort ?? 0)) {
        socket.destroy();
        return callback(deniedError(hostname), null);
      }
      mark.fresh = times();
      try {
        callback(null, socket);
      } finally {
        mark.fresh = null;
      }
    };
    const opened = secure ? 'secureConnect' : 'connect';
    const ready = () => settle(null);
    const lost = () => settle(connectionLost());
    socket.on(opened, ready).on('error', settle).on('close', lost);
    limit(socket, dial.timeoutMs, secure, hostname);
  };
}

function onreadOf(reading: Reading): OnReadOpts {
  return {
    buffer: reading.buffer,
    callback: (length) => {
      reading.read(length);
      return true;
    },
  };
}

/** Of a socket whose end is seen by itself. */
const unheard = () => {};

/** What a call fails with that would reach the gateway's own admin port. Code: `BACKEND_DENIED`. */
export function deniedError(host: string): BackendError {
  return new BackendError('BACKEND_DENIED', `backend ${host}: the gateway does not call its own admin port`);
}

/** Notes when a socket has its address and its connection. @returns what tells the times once it can be used. */
function timing(socket: Socket, start: number, secure: boolean): () => ConnectionTimes {
  let match = start;
  let connected = 0;
  socket.once('lookup', () => {
    match = performance.now();
  });
  if (secure) {
    socket.once('connect', () => {
      connected = performance.now();
    });
  }
  return () => {
    const now = performance.now();
    if (!secure) connected = now;
    return { dnsMs: match - start, connectMs: connected - match, tlsMs: now - connected };
  };
}

function limit(socket: Socket, dialMs: number, secure: boolean, host: string): void {
  let timer: NodeJS.Timeout | undefined;
  const arm = (ms: number, message: string) => {
    timer = setTimeout(() => socket.destroy(new TransportError('CONNECT_TIMEOUT', message)), timerMs(ms));
  };
  const disarm = () => clearTimeout(timer);
  arm(dialMs, `no connection to ${host} within ${dialMs} ms`);
  socket.once('connect', () => {
    disarm();
    if (secure) arm(HANDSHAKE_MS, `no TLS handshake with ${host} within ${HANDSHAKE_MS} ms`);
  });
  if (secure) socket.once('secureConnect', disarm);
  socket.once('close', disarm);
}
