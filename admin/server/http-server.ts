import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { AdminPem } from '#contract';
import { handConnection, watchTimeouts } from '#kernel';
import type { RequestListener } from '../app.ts';

/** HTTP server, with or without TLS, for connections accepted elsewhere. */
export interface HttpServer {
  /** TLS certificate and key; null for plain HTTP. */
  readonly pem: AdminPem | null;
  take(socket: Socket): void;
  /** Closes idle connections. */
  drain(): void;
  /** Like `drain`, and also stops enforcing timeouts on the other connections. */
  close(): void;
}

/** Limits, in milliseconds and bytes. Responses have no time limit: a change waits for earlier ones, and event streams do not end. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // Node.js does not check the Host header, because the host guard rejects a missing one like any other wrong host
  // name.
  requireHostHeader: false,
};

export function createHttpServer(respond: RequestListener, pem: AdminPem | null): HttpServer {
  const server: Server = pem
    ? createTlsServer({ ...limits, ...tlsOptions(pem) }, respond)
    : createServer(limits, respond);
  watchTimeouts(server);
  return {
    pem,
    take: (socket) => handConnection(server, socket),
    drain: () => server.closeIdleConnections(),
    // The server does not own the port, so closing only stops the server's checks of connections.
    close: () => void server.close(() => {}),
  };
}

function tlsOptions({ cert, key, ca }: AdminPem) {
  const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  return { cert, key, minVersion: 'TLSv1.2' as const, ...clients };
}
