import type { IncomingMessage, Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { SecureContext, Server as TlsServer } from 'node:tls';
import Koa from 'koa';

// All that is used of Node.js and Koa beyond what they document. Each has a test of its own, which fails when a release
// of theirs changes it.

/** Lets an HTTP server that owns no port watch over the timeouts of the connections it is handed. */
export function watchTimeouts(server: Server): void {
  server.emit('listening');
}

/** Lets a server speak on a connection that was accepted elsewhere. */
export function handConnection(server: Server | TlsServer | Http2Server, connection: unknown): void {
  server.emit('connection', connection);
}

/** Replaces the context that a TLS server makes by itself, which leaves `allowPartialTrustChain` out. */
export function useContext(server: TlsServer, context: SecureContext): void {
  Object.assign(server, { _sharedCreds: context });
}

/** Bytes of a write under way that the system has not taken yet. */
export function untaken(socket: Socket): number {
  return (socket as Socket & { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

/** Decides which requests with `Upgrade` are handed out as connections; Node 22 decides by itself. */
export function decideUpgrades(server: Server, isUpgrade: (message: IncomingMessage) => boolean): void {
  Object.assign(server, { shouldUpgradeCallback: isUpgrade });
}

/** Calls something when a stream, whose class knows how to read, is first read from; then it reads on. */
export function beforeFirstRead(stream: Readable, run: () => void): void {
  stream._read = (size) => {
    forgetFirstRead(stream);
    run();
    stream._read(size);
  };
}

/** What was to be called at the first read is not called any more. */
export function forgetFirstRead(stream: Readable): void {
  Reflect.deleteProperty(stream, '_read');
}

/** Koa's own way from a context to its answer, for an application that goes another way of its own. */
export const respondByKoa: (context: object, run: (context: never) => Promise<void>) => Promise<void> = (
  Koa.prototype as unknown as { handleRequest: typeof respondByKoa }
).handleRequest;
