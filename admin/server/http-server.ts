import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { AdminPem } from '#contract';
import { handConnection, watchTimeouts } from '#kernel';
import type { RequestListener } from '../app.ts';

/** Speaks HTTP, with or without TLS, on connections that come to it. */
export interface HttpServer {
  /** Null for plain HTTP. */
  readonly pem: AdminPem | null;
  take(socket: Socket): void;
  /** Ends connections without work. */
  drain(): void;
  /** As `drain`, and watches over the timeouts of the others no more. */
  close(): void;
}

/** In milliseconds and bytes. The answer may take as long as it takes: a change waits its turn, events have no end. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // Told as any other wrong name.
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
    // The port is not its own: closing only ends the watch.
    close: () => void server.close(() => {}),
  };
}

function tlsOptions({ cert, key, ca }: AdminPem) {
  const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  return { cert, key, minVersion: 'TLSv1.2' as const, ...clients };
}
