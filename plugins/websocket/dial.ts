import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { BackendError, type DeniedAddresses, type HeaderBag, isHopByHop, timerMs } from '#contract';
import type { TlsClient } from '../services/client-tls.ts';
import { CLOSE_MS, pieces } from './accept.ts';

/** How connections to a backend are made. Times in milliseconds. */
export interface DialSettings {
  /** Longest time for name look-up and TCP connect; 0 for no limit. */
  readonly connectMs: number;
  /** Silence after which TCP probes the other end; negative for never. */
  readonly keepAliveMs: number;
  /** Longest time until the backend has answered the handshake. */
  readonly handshakeMs: number;
  /** Longest message taken from it. */
  readonly maxBytes: number;
  readonly denied: DeniedAddresses;
  /** Asked for at the first encrypted connection. */
  readonly tls: () => TlsClient;
}

/** What is asked of a backend. */
export interface DialTarget {
  /** As in `ws://host:port`, with user and password where they are written. */
  readonly origin: string;
  /** Encoded path and query. */
  readonly target: string;
  /** `Host` in the place of that of the address. */
  readonly host: string | null;
  readonly headers: HeaderBag | null;
  readonly subprotocols: readonly string[];
}

/** What the handshake says by itself, or what belongs to the client's connection. */
const own = /^(?:host|origin-agent-cluster|content-.*|expect|sec-websocket-.*)$/;

/**
 * Connects to a backend.
 * @returns a connection that is paused, so that nothing is lost before somebody listens. Its errors are listened for.
 * @throws BackendError WEBSOCKET_DIAL, for the client 502.
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

/** Path, host and headers as they are, whatever a URL would make of them. */
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
      ? setTimeout(() => socket.destroy(new Error(`no connection within ${connectMs} ms`)), timerMs(connectMs))
      : undefined;
  // Before anything is sent.
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
  const message = `no WebSocket to ${withoutUser(origin)}: ${reason}`;
  return new BackendError('WEBSOCKET_DIAL', message, {
    view: { status: 502 },
    cause,
    ...(upstreamStatus !== undefined && { upstreamStatus }),
  });
}

function withoutUser(origin: string): string {
  return origin.replace(/\/\/[^/]*@/, '//');
}
