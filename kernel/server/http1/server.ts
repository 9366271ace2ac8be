import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ServiceConfig, timerMs } from '#contract';
import { runUnowned } from '../../contract/internal.ts';
import { pauseOf } from '../port/progress.ts';
import type { LogRefusedQuery } from '../port/refused-queries.ts';
import { portTimeouts } from '../port/timeouts.ts';
import { Connection, type ConnectionRules } from './connection.ts';
import { deferContinue } from './expectation.ts';

/** HTTP/1 server without a port of its own: it gets connections through `connection` events. */
export interface Http1 {
  readonly server: Server;
  /** Number of open connections. */
  readonly size: number;
  /** Applies the timeouts and the header limit of another configuration. */
  adjust(config: ServiceConfig): void;
  /** Sets whether connections are closed after their pending response. */
  setClosing(closing: boolean): void;
  /** Accepts no further requests: responses in progress are completed, idle connections are closed now. */
  drain(): void;
  /** Closes all connections immediately. */
  cut(): void;
  /** Whether a connection has no request in progress. */
  isFree(socket: Duplex): boolean;
  /** Accepts a request whose connection was detached from Node's HTTP server. */
  accept(message: IncomingMessage, response: ServerResponse): void;
  /** Detaches a connection that switches to another protocol. */
  release(socket: Duplex): void;
}

/** Interval at which Node checks for timed-out connections, in milliseconds: the maximum delay of a timeout. */
const CHECK_INTERVAL_MS = 500;

const DEFAULT_HEADER_BYTES = 1024 * 1024;

export function createHttp1(
  config: ServiceConfig,
  serve: (message: IncomingMessage, response: ServerResponse) => void,
  logRefusedQuery: LogRefusedQuery,
): Http1 {
  const server = createServer({
    ...limits(config),
    keepAliveTimeoutBuffer: 0,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    insecureHTTPParser: false,
    // Node would reject these requests itself; instead, `Connection` does, so that no request after them runs.
    requireHostHeader: false,
  });
  // Node silently drops headers beyond this count.
  server.maxHeadersCount = 0;
  const rules: ConnectionRules = { serve, logRefusedQuery, ...connectionLimits(config), closing: false };
  const connections = new Map<Duplex, Connection>();
  let watching: NodeJS.Timeout | undefined;
  /**
   * Checks all open connections periodically. The timer belongs to the server, not to the client or change that has
   * started it.
   */
  const watch = (): void => {
    clearTimeout(watching);
    if (!(rules.sendTimeoutMs > 0)) return;
    watching = runUnowned(() => setTimeout(look, pauseOf(rules.sendTimeoutMs)).unref());
  };
  const look = (): void => {
    // The next check is scheduled first, so that an error does not end the checks.
    watch();
    const now = performance.now();
    for (const connection of connections.values()) connection.checkProgress(now);
  };
  const release = (socket: Duplex): void => {
    connections.delete(socket);
    if (connections.size === 0) clearTimeout(watching);
  };
  server.on('connection', (socket: Socket) => {
    // Reading the address now makes Node keep it, so that it is available after the client has disconnected.
    void socket.remoteAddress;
    connections.set(socket, new Connection(socket, rules));
    socket.once('close', () => release(socket));
    if (connections.size === 1) watch();
  });
  server.on('request', (message, response) => connections.get(message.socket)?.accept(message, response));
  server.on('checkContinue', (message, response) => {
    deferContinue(message, response);
    connections.get(message.socket)?.accept(message, response);
  });
  server.on('checkExpectation', (message) => connections.get(message.socket)?.refuse(417));
  server.on('connect', (_message, socket) => connections.get(socket)?.refuse(405));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (hasLeft(error) || !socket.writable) socket.destroy();
    else connections.get(socket)?.refuse(statusOf(error));
  });
  return {
    server,
    get size() {
      return connections.size;
    },
    adjust(next) {
      Object.assign(server, limits(next));
      Object.assign(rules, connectionLimits(next));
      if (connections.size > 0) watch();
    },
    setClosing(closing) {
      rules.closing = closing;
    },
    drain() {
      rules.closing = true;
      // Node regards a connection that never sent a complete request as neither idle nor busy, so each connection is
      // closed individually and none delays shutdown.
      for (const connection of connections.values()) connection.drain();
    },
    cut() {
      for (const connection of connections.values()) connection.cut();
    },
    isFree: (socket) => connections.get(socket)?.free ?? false,
    accept: (message, response) => connections.get(message.socket)?.accept(message, response),
    release,
  };
}

/** Limits of Node's server, in milliseconds and bytes; a timeout of 0 disables it. */
function limits(config: ServiceConfig) {
  const { requestMs, headMs, idleMs } = portTimeouts(config);
  return {
    requestTimeout: timerMs(requestMs),
    headersTimeout: timerMs(headMs),
    keepAliveTimeout: timerMs(idleMs),
    maxHeaderSize: config.max_header_bytes || DEFAULT_HEADER_BYTES,
  };
}

function connectionLimits(config: ServiceConfig): Omit<ConnectionRules, 'serve' | 'logRefusedQuery' | 'closing'> {
  return {
    writeTimeoutMs: config.write_timeout,
    sendTimeoutMs: config.send_timeout,
    restTimeoutMs: portTimeouts(config).idleMs,
    maxRequests: config.max_requests_per_connection,
  };
}

/** Whether the connection broke, or ended within a request. */
function hasLeft({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE';
}

/** Status for bytes that are not a valid request. */
function statusOf(error: NodeJS.ErrnoException): number {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    default:
      return 400;
  }
}
