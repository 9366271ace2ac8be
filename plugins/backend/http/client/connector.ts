import { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import { BackendError, type ConnectionTimes, type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';

/** How connections are made. Times in milliseconds. */
export interface DialSettings {
  /** Longest time for name look-up and TCP connect; 0 for no limit. */
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

/**
 * Makes the connections of one pool: dial and handshake have limits of their own. One that came out at an address of the
 * gateway itself that is denied fails before anything is sent.
 * @param tls asked for at the first encrypted connection. @param offersHttp2 to servers that have a choice, over TLS.
 */
export function connector(
  dial: DialSettings,
  denied: DeniedAddresses,
  tls: () => TlsClient,
  mark: FreshMark,
  offersHttp2 = false,
): buildConnector.connector {
  const common = {
    timeout: 0,
    allowH2: offersHttp2,
    preferH2: offersHttp2,
    keepAlive: dial.keepAliveMs >= 0,
    keepAliveInitialDelay: timerMs(Math.max(dial.keepAliveMs, 0)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: timerMs(Math.max(dial.fallbackDelayMs, 10)),
  };
  const plain = buildConnector(common);
  let encrypted: buildConnector.connector | null = null;
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    if (secure) encrypted ??= buildConnector({ ...common, ...tls() });
    const connect = secure ? encrypted! : plain;
    const settled: buildConnector.Callback = (...result) => {
      const [, socket] = result;
      if (socket && denied.has(socket.remoteAddress ?? '', socket.remotePort ?? 0)) {
        socket.destroy();
        return callback(deniedError(options.hostname), null);
      }
      mark.fresh = times();
      try {
        callback(...result);
      } finally {
        mark.fresh = null;
      }
    };
    let times = unknownTimes;
    const start = performance.now();
    // The name that is asked for, and that the certificate must have, is that of the address, whatever `Host` is sent.
    const { servername: _, ...address } = options;
    const socket: unknown = connect(address, settled);
    if (socket instanceof Socket) times = timing(socket, start, secure);
    if (socket instanceof Socket) limit(socket, dial.timeoutMs, secure, options.hostname);
  };
}

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

const unknownTimes = (): ConnectionTimes => ({ dnsMs: 0, connectMs: 0, tlsMs: 0 });

function limit(socket: Socket, dialMs: number, secure: boolean, host: string): void {
  let timer: NodeJS.Timeout | undefined;
  const arm = (ms: number, message: string) => {
    timer = setTimeout(() => socket.destroy(new errors.ConnectTimeoutError(message)), timerMs(ms));
  };
  const disarm = () => clearTimeout(timer);
  if (dialMs > 0) arm(dialMs, `no connection to ${host} within ${dialMs} ms`);
  socket.once('connect', () => {
    disarm();
    if (secure) arm(HANDSHAKE_MS, `no TLS handshake with ${host} within ${HANDSHAKE_MS} ms`);
  });
  if (secure) socket.once('secureConnect', disarm);
  socket.once('close', disarm);
}
