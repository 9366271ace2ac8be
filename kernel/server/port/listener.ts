import { chmodSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { type Log, timerMs } from '#contract';
import { GatewayError } from '../../contract/internal.ts';
import { socketPath } from '../../net/address-range.ts';
import { bindErrorReason } from '../../runtime/kept/plugin-port.ts';
import { fileMode, listenOnSocket } from '../../runtime/kept/unix-socket.ts';
import { openConnections } from './internals.ts';
import { createProtocols, type PortSettings, type Serving } from './protocols.ts';
import type { HeaderFaults } from './proxy-protocol.ts';

/** The listening port. It outlives configurations: requests go to the current one. */
export interface Listener {
  /** IP address, or `unix:/path`. */
  readonly host: string;
  /** Port number; 0 for a Unix socket. */
  readonly port: number;
  /** Open connections. */
  readonly connections: number;
  /**
   * Prepares the limits, protocols and certificates of another configuration.
   * @returns a function that applies them; it never throws.
   */
  prepare(settings: PortSettings): () => void;
  /** Sets whether connections are closed after their pending response, so that clients reconnect elsewhere. */
  setClosing(closing: boolean): void;
  /**
   * Stops accepting connections, completes requests in flight, then closes. @param waitMs time after which remaining
   * connections are closed; infinite to wait.
   */
  close(waitMs: number): Promise<void>;
}

/** A requested address: `unix:/path`, or an empty `ip` for all addresses of the machine and port 0 for any free port. */
export interface RequestedAddress {
  readonly ip: string;
  readonly port: number;
}

/**
 * Opens the port.
 * @throws GatewayError LISTEN_FAILED with the address, when it is in use or not allowed.
 */
export async function listen(
  settings: PortSettings,
  requested: RequestedAddress,
  serving: Serving,
  log: Log,
  faults: HeaderFaults,
): Promise<Listener> {
  const protocols = createProtocols(settings, serving, log, faults);
  const { listener: server } = protocols;
  const path = socketPath(requested.ip);
  await bind(server, requested, path, settings.config.socket_mode);
  const { address, port } = path === null ? (server.address() as AddressInfo) : { address: requested.ip, port: 0 };
  return {
    host: address,
    port,
    get connections() {
      return openConnections(server);
    },
    prepare(next) {
      const adjust = protocols.prepare(next);
      return () => {
        adjust();
        if (path !== null) changeMode(path, next.config.socket_mode, log);
      };
    },
    setClosing: (closing) => protocols.setClosing(closing),
    close: (waitMs) =>
      new Promise((resolve) => {
        const cut = Number.isFinite(waitMs) ? setTimeout(() => protocols.cut(), timerMs(waitMs)) : null;
        server.close(() => {
          if (cut) clearTimeout(cut);
          resolve();
        });
        protocols.drain();
      }),
  };
}

/** Maximum number of connections that wait to be accepted. */
const BACKLOG = 4096;

async function bind(server: Server, requested: RequestedAddress, path: string | null, mode: string): Promise<void> {
  try {
    await (path === null ? bindPort(server, requested) : listenOnSocket(server, path, fileMode(mode), BACKLOG));
  } catch (error) {
    const { ip, port } = requested;
    const address = path === null ? `${ip || '*'}:${port}` : ip;
    const reason = bindErrorReason(error as NodeJS.ErrnoException);
    throw new GatewayError('LISTEN_FAILED', `cannot listen on ${address}: ${reason}`, error);
  }
}

function bindPort(server: Server, { ip, port }: RequestedAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: ip || undefined, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function changeMode(path: string, mode: string, log: Log): void {
  try {
    chmodSync(path, fileMode(mode));
  } catch (error) {
    log.warning(`the permissions of ${path} could not be changed: ${(error as Error).message}`);
  }
}
