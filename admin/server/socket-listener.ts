import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { AdminAddress, ListenAddress } from '#contract';
import { beginOwned, listenOnSocket } from '#kernel';

/** A listening socket. */
export interface SocketListener {
  /** Address in command-line syntax: `127.0.0.1:9180`, `unix:/path`. */
  readonly address: string;
  /** Stops accepting connections and closes the open ones. @param graceMs grace period for responses in progress. */
  close(graceMs: number): Promise<void>;
}

/** Permissions of a Unix socket: only the user of this process may connect. */
const MODE = 0o600;

/** Maximum concurrent connections; further ones are rejected. */
const MAX_CONNECTIONS = 512;

/**
 * Opens an address.
 * @param deny prevents backend requests of the gateway from reaching the address; called before any connection is
 * accepted.
 * @param welcome handles every connection.
 * @throws the system's error when the address is in use or not permitted.
 */
export async function openSocketListener(
  address: Exclude<AdminAddress, { kind: 'off' }>,
  deny: (address: ListenAddress) => Promise<() => void>,
  welcome: (socket: Socket) => void,
): Promise<SocketListener> {
  const denied = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    beginOwned('admin', socket, () => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      void denied.promise.then(() => socket.destroyed || welcome(socket));
    }),
  );
  server.maxConnections = MAX_CONNECTIONS;
  if (address.kind === 'unix') await listenOnSocket(server, address.path, MODE);
  else await listenOnPort(server, address.host, address.port);
  const isSocket = address.kind === 'unix';
  const allow = await deny(isSocket ? { address: `unix:${address.path}`, port: 0 } : (server.address() as AddressInfo));
  denied.resolve();
  return {
    address: address.kind === 'unix' ? `unix:${address.path}` : printed(address.host, server),
    async close(graceMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      // Connections that have sent nothing are closed at once, because no response is in progress.
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
