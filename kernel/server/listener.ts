import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, type ServiceConfig } from '#contract';
import { Connection, type ConnectionRules } from './connection.ts';
import { deferContinue } from './expectation.ts';

/** Where clients connect. Its life is longer than a configuration's: requests are handed to whatever serves now. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** What was asked for when it was opened. */
  readonly asked: { readonly ip: string; readonly port: number };
  /** Takes over the timeouts and the header limit of another configuration. */
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
    ...limits(config),
    keepAliveTimeoutBuffer: 0,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    noDelay: true,
    insecureHTTPParser: false,
    // Refusals are the connection's own, so that nothing sent after one runs.
    requireHostHeader: false,
  });
  // Node silently drops the headers beyond its count.
  server.maxHeadersCount = 0;
  const rules: ConnectionRules = { serve, writeTimeoutMs: config.write_timeout, closing: false };
  const connections = new Map<Duplex, Connection>();
  server.on('connection', (socket: Socket) => {
    // Read now, it is still known when the client has left.
    void socket.remoteAddress;
    connections.set(socket, new Connection(socket, rules));
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (message, response) => connections.get(message.socket)?.accept(message, response));
  server.on('checkContinue', (message, response) => {
    deferContinue(message, response);
    connections.get(message.socket)?.accept(message, response);
  });
  server.on('checkExpectation', (message) => connections.get(message.socket)?.refuse(417));
  server.on('connect', (_message, socket) => connections.get(socket)?.refuse(405));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else connections.get(socket)?.refuse(statusOf(error));
  });
  await bind(server, port, config.listen_ip);
  const address = server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    asked: { ip: config.listen_ip, port },
    adjust(next) {
      Object.assign(server, limits(next));
      rules.writeTimeoutMs = next.write_timeout;
    },
    close(waitMs) {
      rules.closing = true;
      return closeServer(server, connections, waitMs);
    },
  };
}

/** The server's limits, in milliseconds and bytes; timeouts of 0 are none (service-settings rule 3). */
function limits(config: ServiceConfig) {
  const { read_timeout: whole, read_header_timeout: head, idle_timeout: idle, max_header_bytes: headerBytes } = config;
  return {
    requestTimeout: whole,
    // Node takes no longer time for a part than for the whole.
    headersTimeout: head > 0 && whole > 0 ? Math.min(head, whole) : head || whole,
    keepAliveTimeout: idle || whole,
    maxHeaderSize: headerBytes || DEFAULT_HEADER_BYTES,
  };
}

/** What a client is told whose bytes are no request. */
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

function closeServer(server: Server, connections: ReadonlyMap<Duplex, Connection>, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = Number.isFinite(waitMs)
      ? setTimeout(() => {
          for (const socket of connections.keys()) socket.destroy();
        }, waitMs)
      : null;
    server.close(() => {
      if (cut) clearTimeout(cut);
      resolve();
    });
    // A connection that never sent a whole request counts neither as idle nor as busy for Node: it must not hold up the end.
    for (const connection of connections.values()) connection.drain();
  });
}
