import { isIP, type OnReadOpts, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls, type TLSSocket } from 'node:tls';
import { BackendError, type ConnectionTimes, type DeniedAddresses, openOwned, timerMs } from '#contract';
import type { TlsClient } from '../../../clients/tls/client-tls.ts';
import { connectionLost, TransportError } from './errors.ts';
import type { Preamble } from './proxy-header.ts';
import { isSocketAddress, pathOfSocket, urlOf } from './socket-address.ts';

/** Connection settings. Times in milliseconds. */
export interface DialSettings {
  /** Timeout for name lookup and TCP connect. */
  readonly timeoutMs: number;
  /** Interval between TCP keep-alive probes; a negative value disables them. */
  readonly keepAliveMs: number;
  /** Delay before the next address of a name is tried. */
  readonly fallbackDelayMs: number;
}

/** Timeout of a TLS handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;

/** Marks the next request as the first one on its connection. */
export interface FreshMark {
  /** Times of opening the connection; set only while the connection gets its first requests. */
  fresh: ConnectionTimes | null;
}

/** Receiver of a connection's bytes that bypasses the socket's stream. */
export interface Reading {
  /** Buffer to read into. */
  readonly buffer: Buffer;
  /** Called with the number of bytes at the start of the buffer. They are valid until this returns. */
  read(length: number): void;
}

/** Opens a connection. @param reading null to read from the socket's stream. */
export type Connect = (reading: Reading | null, callback: (error: Error | null, socket: Socket | null) => void) => void;

/**
 * Opens connections to one address, with separate timeouts for dialing and the TLS handshake. A connection to a denied
 * address of the gateway itself fails before anything is sent. SNI and certificate verification use the host of the
 * address, regardless of `Host`.
 * @param address such as `https://host:port` or `unix:///path`.
 * @param tls called at the first encrypted connection.
 * @param mark set while the callback runs.
 * @param offersHttp2 over TLS, to servers that support both.
 * @param preamble sent before anything else, unencrypted.
 */
export function connector(
  address: string,
  dial: DialSettings,
  denied: DeniedAddresses,
  tls: () => TlsClient,
  mark: FreshMark,
  offersHttp2 = false,
  preamble: Preamble | null = null,
): Connect {
  const path = isSocketAddress(address) ? pathOfSocket(address) : null;
  const { protocol, hostname, port } = urlOf(address);
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
  /** TLS session for resumption by the next handshake. */
  let session: Buffer | undefined;
  const encrypt = (options: EncryptOptions): TLSSocket => {
    const socket = openTls({ ...common, ...encrypted, ...tls(), ...(session && { session }), ...options });
    return socket.on('session', (fresh: Buffer) => {
      session = fresh;
    });
  };
  const isDirect = secure && !preamble;
  const dialed: Connect = (reading, callback) => {
    const start = performance.now();
    const onread = reading ? { onread: onreadOf(reading) } : {};
    const open = () =>
      isDirect ? encrypt({ ...onread }) : openTcp({ ...(path === null ? common : { path }), ...onread });
    const socket = openOwned('backend connection', hostname, open);
    const times = timing(socket, start, isDirect);
    const settle = (error: Error | null) => {
      // The listeners are removed, so that nothing on the socket still refers to the first request.
      socket.off(opened, ready).off('error', settle).off('close', lost);
      socket.on('error', ignoreError);
      if (error) return callback(error, null);
      const { remoteAddress = '', remotePort = 0 } = socket;
      if (path === null ? denied.has(remoteAddress, remotePort) : denied.hasSocket(path)) {
        socket.destroy();
        return callback(deniedError(path ?? hostname), null);
      }
      if (preamble) socket.write(preamble(socket));
      mark.fresh = times();
      try {
        callback(null, socket);
      } finally {
        mark.fresh = null;
      }
    };
    const opened = isDirect ? 'secureConnect' : 'connect';
    const ready = () => settle(null);
    const lost = () => settle(connectionLost());
    socket.on(opened, ready).on('error', settle).on('close', lost);
    limit(socket, dial.timeoutMs, isDirect, hostname);
  };
  return secure && preamble ? encrypting(dialed, encrypt, hostname, mark) : dialed;
}

/** TLS options in addition to the address. */
interface EncryptOptions {
  /** Open connection to use; by default a new one. */
  readonly socket?: Socket;
  readonly onread?: OnReadOpts;
}

/** Starts TLS on connections that are open. */
function encrypting(
  dialed: Connect,
  encrypt: (options: EncryptOptions) => TLSSocket,
  host: string,
  mark: FreshMark,
): Connect {
  return (reading, callback) =>
    dialed(null, (failure, carrier) => {
      if (!carrier) return callback(failure, null);
      const times = mark.fresh!;
      const start = performance.now();
      const socket = openOwned('backend connection', host, () => encrypt({ socket: carrier }));
      if (reading) socket.on('data', (chunk: Buffer) => readChunk(reading, chunk));
      const timer = handshakeLimit(socket, host);
      const settle = (error: Error | null) => {
        clearTimeout(timer);
        socket.off('secureConnect', ready).off('error', settle).off('close', lost);
        socket.on('error', ignoreError);
        if (error) return callback(error, null);
        mark.fresh = { ...times, tlsMs: performance.now() - start };
        try {
          callback(null, socket);
        } finally {
          mark.fresh = null;
        }
      };
      const ready = () => settle(null);
      const lost = () => settle(connectionLost());
      socket.on('secureConnect', ready).on('error', settle).on('close', lost);
    });
}

/** Passes on a chunk of a socket that cannot read into a given buffer: TLS on an open connection ignores `onread`. */
function readChunk(reading: Reading, chunk: Buffer): void {
  const { buffer } = reading;
  for (let at = 0; at < chunk.length; at += buffer.length) reading.read(chunk.copy(buffer, 0, at));
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

/** Prevents an uncaught error: the end of the socket is detected separately. */
const ignoreError = () => {};

/** Error of a call that would reach the gateway's own admin port. Code: `BACKEND_DENIED`. */
export function deniedError(host: string): BackendError {
  return new BackendError('BACKEND_DENIED', `backend ${host}: the gateway does not call its own admin port`);
}

/** Records when a socket has resolved its address and connected. @returns a function that returns the times once the socket is ready. */
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
  let timer = limited(socket, dialMs, `no connection to ${host} within ${dialMs} ms`);
  const disarm = () => clearTimeout(timer);
  socket.once('connect', () => {
    disarm();
    if (secure) timer = handshakeLimit(socket, host);
  });
  if (secure) socket.once('secureConnect', disarm);
  socket.once('close', disarm);
}

function handshakeLimit(socket: Socket, host: string): NodeJS.Timeout {
  return limited(socket, HANDSHAKE_MS, `no TLS handshake with ${host} within ${HANDSHAKE_MS} ms`);
}

function limited(socket: Socket, ms: number, message: string): NodeJS.Timeout {
  return setTimeout(() => socket.destroy(new TransportError('CONNECT_TIMEOUT', message)), timerMs(ms));
}
