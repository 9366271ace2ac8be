import type { IncomingMessage, Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import type { Socket, Server as TcpServer } from 'node:net';
import type { Readable } from 'node:stream';
import type { SecureContext, TLSSocket, Server as TlsServer } from 'node:tls';
import Koa from 'koa';

// All undocumented behavior of Node.js and Koa that the gateway relies on. Each item has its own test, which fails when
// a release changes it.

/** Makes an HTTP server without a port check the timeouts of the connections that are passed to it. */
export function watchTimeouts(server: Server): void {
  server.emit('listening');
}

/** Passes a connection that was accepted elsewhere to a server. */
export function handConnection(server: Server | TlsServer | Http2Server, connection: unknown): void {
  server.emit('connection', connection);
}

/** Number of open connections that a server accepted. */
export function openConnections(server: TcpServer): number {
  return (server as TcpServer & { _connections: number })._connections;
}

/** Replaces the context that a TLS server creates itself, which ignores `allowPartialTrustChain`. */
export function useContext(server: TlsServer, context: SecureContext): void {
  Object.assign(server, { _sharedCreds: context });
}

/** The connection beneath an encrypted one. */
export function carrierOf(encrypted: TLSSocket): Socket {
  return (encrypted as unknown as { _parent: Socket })._parent;
}

/** Number of bytes of a write in progress that the operating system has not accepted yet. */
export function untaken(socket: Socket): number {
  return (socket as Socket & { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

/** Whether the operating system has closed a connection, as after a reset, even if nothing is read from it. */
export function isDisconnected(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & { _handle?: { getpeername?(address: object): number } | null };
  // Connections of a Unix socket do not have this function.
  return handle ? (handle.getpeername?.({}) ?? 0) !== 0 : true;
}

/** Resumes reading from a connection after Node.js has stopped. */
export function readAgain(socket: Socket): void {
  (socket as Socket & { _handle?: { readStart?(): number } | null })._handle?.readStart?.();
}

/** Sets which requests with `Upgrade` are detached as connections; Node 22 decides this itself. */
export function decideUpgrades(server: Server, isUpgrade: (message: IncomingMessage) => boolean): void {
  Object.assign(server, { shouldUpgradeCallback: isUpgrade });
}

/** Calls a function on the first read from a stream whose class implements `_read`; reading then continues. */
export function beforeFirstRead(stream: Readable, run: () => void): void {
  stream._read = (size) => {
    forgetFirstRead(stream);
    run();
    stream._read(size);
  };
}

/** Cancels the function set with `beforeFirstRead`. */
export function forgetFirstRead(stream: Readable): void {
  Reflect.deleteProperty(stream, '_read');
}

/** Calls Koa's own `handleRequest` on behalf of a `KoaApp`, which overrides it. */
export const respondByKoa: (context: object, run: (context: never) => Promise<void>) => Promise<void> = (
  Koa.prototype as unknown as { handleRequest: typeof respondByKoa }
).handleRequest;
