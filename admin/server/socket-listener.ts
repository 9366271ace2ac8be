import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { AdminAddress, ListenAddress } from '#contract';
import { listenOnSocket } from './unix-socket.ts';

/** Where clients connect. */
export interface SocketListener {
  /** As the command line takes it: `127.0.0.1:9180`, `unix:/path`. */
  readonly address: string;
  /** Takes no new connection, and ends those there are. @param graceMs for what is being answered. */
  close(graceMs: number): Promise<void>;
}

/** Connections at the same time; more are turned away. */
const MAX_CONNECTIONS = 512;

/**
 * Opens an address.
 * @param deny keeps the gateway's own connections away from a port, before anybody is let in.
 * @param welcome takes every connection.
 * @throws the system's error when it is taken or not allowed.
 */
export async function openSocketListener(
  address: Exclude<AdminAddress, { kind: 'off' }>,
  deny: (address: ListenAddress) => Promise<() => void>,
  welcome: (socket: Socket) => void,
): Promise<SocketListener> {
  const denied = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // A reset can come at any moment, also when nothing else listens.
    socket.on('error', ignored);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    void denied.promise.then(() => socket.destroyed || welcome(socket));
  });
  server.maxConnections = MAX_CONNECTIONS;
  if (address.kind === 'unix') await listenOnSocket(server, address.path);
  else await listenOnPort(server, address.host, address.port);
  const allow = address.kind === 'tcp' ? await deny(server.address() as AddressInfo) : () => {};
  denied.resolve();
  return {
    address: address.kind === 'unix' ? `unix:${address.path}` : printed(address.host, server),
    async close(graceMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      // Nothing was asked there, so nothing is being answered.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await promise;
      clearTimeout(cut);
      allow();
    },
  };
}

function listenOnPort(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: host || undefined, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function printed(host: string, server: Server): string {
  return `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
}

/** The connection closes; there is nobody to tell. */
function ignored(): void {}
