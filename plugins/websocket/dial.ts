import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { BackendError, type DeniedAddresses, type HeaderBag, isHopByHop, timerMs } from '#contract';
import type { TlsClient } from '../clients/tls/client-tls.ts';
import { CLOSE_MS, pieces } from './accept.ts';

/** Settings for connecting to a backend. Times in milliseconds. */
export interface DialSettings {
  /** Timeout of DNS lookup and TCP connect; 0 for no limit. */
  readonly connectMs: number;
  /** Idle time after which TCP keep-alive probes are sent; negative for never. */
  readonly keepAliveMs: number;
  /** Timeout of the handshake with the backend. */
  readonly handshakeMs: number;
  /** Maximum length of a received message. */
  readonly maxBytes: number;
  readonly denied: DeniedAddresses;
  /** Returns the TLS client; called for the first encrypted connection. */
  readonly tls: () => TlsClient;
}

/** Address and handshake request of a backend connection. */
export interface DialTarget {
  /** Origin, as in `ws://host:port`, with user and password if given. */
  readonly origin: string;
  /** Encoded path and query. */
  readonly target: string;
  /** `Host` that replaces the address's host; null for none. */
  readonly host: string | null;
  readonly headers: HeaderBag | null;
  readonly subprotocols: readonly string[];
}

/** Headers that the handshake sets itself, or that belong to the client's connection. */
const own = /^(?:host|origin-agent-cluster|content-.*|expect|sec-websocket-.*)$/;

/**
 * Connects to a backend.
 * @returns a paused connection, so that no message is lost before a listener is added. Its errors already have a
 * listener.
 * @throws BackendError WEBSOCKET_DIAL, which the client receives as 502.
 */
export function dial(target: DialTarget, settings: DialSettings, signal: AbortSignal): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown, upstreamStatus?: number) =>
      reject(dialError(target.origin, reason, cause, upstreamStatus));
    if (signal.aborted) return fail('given up', signal.reason);
    let socket: WebSocket;
    try {
      socket = new WebSocket(`${target.origin}/`, [...target.subprotocols], {
        ...pieces,
        closeTimeout: CLOSE_MS,
        perMessageDeflate: false,
        followRedirects: false,
        maxPayload: settings.maxBytes,
        createConnection: (options: ConnectOptions) => openSocket(options, settings, target.origin),
        finishRequest: (request: ClientRequest) => finish(request, target),
      } as ConstructorParameters<typeof WebSocket>[2]);
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error), error);
    }
    const abort = () => socket.terminate();
    const late = () => {
      fail(`no handshake within ${Math.round(settings.handshakeMs)} ms`);
      socket.terminate();
    };
    const timer = setTimeout(late, timerMs(settings.handshakeMs));
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('open', () => {
      settle();
      socket.pause();
      resolve(socket);
    });
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      fail(`status ${response.statusCode}`, undefined, response.statusCode);
      response.destroy();
      socket.terminate();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.message || String(error.code), error));
    socket.once('close', settle);
  });
}

/** Path, host and headers are sent as given, without normalization by a URL parser. */
function finish(request: ClientRequest, { target, host, headers }: DialTarget): void {
  try {
    request.path = target;
    if (host !== null) request.setHeader('Host', host);
    for (const [name, value] of headers ?? []) {
      const lower = name.toLowerCase();
      if (!own.test(lower) && !isHopByHop(lower)) request.appendHeader(name, value);
    }
    request.end();
  } catch (error) {
    request.destroy(error as Error);
  }
}

type ConnectOptions = { readonly host: string; readonly port: number | string; readonly defaultPort: number };

function openSocket({ host, port, defaultPort }: ConnectOptions, settings: DialSettings, origin: string): Socket {
  const { connectMs, keepAliveMs, denied } = settings;
  const address = {
    host,
    port: Number(port),
    keepAlive: keepAliveMs >= 0,
    keepAliveInitialDelay: timerMs(Math.max(keepAliveMs, 0)),
    autoSelectFamily: true,
  };
  const socket =
    defaultPort === 443
      ? connectTls({ ...address, ...settings.tls(), ...(isIP(host) === 0 && { servername: host }) })
      : connect(address);
  const timer =
    connectMs > 0
      ? setTimeout(() => socket.destroy(new Error(`not connected within ${connectMs} ms`)), timerMs(connectMs))
      : undefined;
  // The address is checked before anything is sent.
  socket.prependOnceListener('connect', () => {
    clearTimeout(timer);
    if (!denied.has(socket.remoteAddress ?? '', socket.remotePort ?? 0)) return;
    socket.destroy(dialError(origin, 'the gateway does not call its own admin port'));
  });
  socket.once('close', () => clearTimeout(timer));
  return socket;
}

function dialError(origin: string, reason: string, cause?: unknown, upstreamStatus?: number): BackendError {
  if (cause instanceof BackendError) return cause;
  const message = `cannot open a WebSocket to ${withoutUser(origin)}: ${reason}`;
  return new BackendError('WEBSOCKET_DIAL', message, {
    view: { status: 502 },
    cause,
    ...(upstreamStatus !== undefined && { upstreamStatus }),
  });
}

function withoutUser(origin: string): string {
  return origin.replace(/\/\/[^/]*@/, '//');
}
