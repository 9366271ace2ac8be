import type { AddressInfo, Server } from 'node:net';
import { type Log, timerMs } from '#contract';
import { GatewayError } from '../../contract/internal.ts';
import { bindErrorReason } from '../../runtime/kept/plugin-port.ts';
import { createProtocols, type PortSettings, type Serving } from './protocols.ts';
import type { HeaderFaults } from './proxy-protocol.ts';

/** The listening port. It outlives configurations: requests go to the current one. */
export interface Listener {
  readonly host: string;
  readonly port: number;
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

/** A requested address: an empty `ip` for all addresses of the machine, port 0 for any free port. */
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
  await bind(server, requested);
  const address = server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    prepare: (next) => protocols.prepare(next),
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

function bind(server: Server, { ip, port }: RequestedAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const address = `${ip || '*'}:${port}`;
      reject(new GatewayError('LISTEN_FAILED', `cannot listen on ${address}: ${bindErrorReason(error)}`, error));
    });
    server.listen({ port, host: ip || undefined, backlog: 4096 }, () => resolve());
  });
}
