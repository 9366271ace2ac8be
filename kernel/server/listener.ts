import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, type ServiceConfig } from '#contract';

/** Where clients connect. Its life is longer than a configuration's: requests are handed to whatever serves now. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** What was asked for when it was opened. */
  readonly asked: { readonly ip: string; readonly port: number };
  /** Takes over the timeouts of another configuration. */
  adjust(config: ServiceConfig): void;
  /** Stops accepting, lets requests in flight end, then closes. @param waitMs then the rest is cut; infinite to wait. */
  close(waitMs: number): Promise<void>;
}

/** How often Node looks for connections over their time, in milliseconds: no timeout is later than this. */
const CHECK_INTERVAL_MS = 500;

const DEFAULT_HEADER_BYTES = 1024 * 1024;

/**
 * Opens the port.
 * @throws GatewayError LISTEN_FAILED naming the address when it is taken or not allowed.
 */
export async function listen(
  config: ServiceConfig,
  port: number,
  serve: (message: IncomingMessage, response: ServerResponse) => void,
): Promise<Listener> {
  const server = createServer({
    ...timeouts(config),
    maxHeaderSize: config.max_header_bytes || DEFAULT_HEADER_BYTES,
    keepAliveTimeoutBuffer: 0,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    noDelay: true,
  });
  // Node silently drops the headers beyond a count; the size limit is the one that holds.
  server.maxHeadersCount = 0;
  const inFlight = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (message, response) => {
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
    if (closing) response.shouldKeepAlive = false;
    if (isAmbiguous(message)) return refuse(message.socket, 400);
    serve(message, response);
  });
  server.on('clientError', answerClientError);
  await bind(server, port, config.listen_ip);
  const address = server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    asked: { ip: config.listen_ip, port },
    adjust(next) {
      Object.assign(server, timeouts(next));
    },
    close(waitMs) {
      closing = true;
      for (const response of inFlight) response.shouldKeepAlive = false;
      return closeServer(server, sockets, inFlight, waitMs);
    },
  };
}

/** The server's timeouts in milliseconds, 0 for none (service-settings rule 3). */
function timeouts(config: ServiceConfig) {
  return {
    requestTimeout: config.read_timeout,
    headersTimeout: config.read_header_timeout || config.read_timeout,
    keepAliveTimeout: config.idle_timeout || config.read_timeout,
  };
}

/** HTTP/1.0 knows no chunks: framing that two readers could read differently is refused (decision 26). */
function isAmbiguous(message: IncomingMessage): boolean {
  const { headers } = message;
  return (
    headers['transfer-encoding'] !== undefined &&
    (message.httpVersion === '1.0' || headers['content-length'] !== undefined)
  );
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') refuse(socket, 431);
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') refuse(socket, 408);
  else refuse(socket, 400);
}

/** Answers where no request could be read, and ends the connection. */
function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  );
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const address = `${host || '*'}:${port}`;
      const why =
        error.code === 'EADDRINUSE'
          ? 'is taken'
          : error.code === 'EACCES'
            ? 'is not allowed'
            : `failed: ${error.message}`;
      reject(new GatewayError('LISTEN_FAILED', `listening on ${address} ${why}`, error));
    });
    server.listen({ port, host: host || undefined, backlog: 4096 }, () => resolve());
  });
}

function closeServer(
  server: Server,
  sockets: ReadonlySet<Socket>,
  inFlight: ReadonlySet<ServerResponse>,
  waitMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const cut = Number.isFinite(waitMs) ? setTimeout(() => server.closeAllConnections(), waitMs) : null;
    server.close(() => {
      if (cut) clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
    // A connection that never sent a request counts neither as idle nor as busy: it must not hold up the end.
    const busy = new Set(Array.from(inFlight, (response) => response.socket));
    for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon();
  });
}
