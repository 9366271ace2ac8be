import type { AddressInfo, Server } from 'node:net';
import { type Log, timerMs } from '#contract';
import { GatewayError } from '../contract/internal.ts';
import { bindTrouble } from '../runtime/plugin-port.ts';
import { createProtocols, type PortSettings, type Serving } from './protocols.ts';

/** Where clients connect. Its life is longer than a configuration's: requests are handed to whatever serves now. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /**
   * Prepares the limits, protocols and certificates of another configuration.
   * @returns a function that takes them over and cannot fail.
   */
  prepare(settings: PortSettings): () => void;
  /** Whether connections are closed after the answer they are waiting for, so that clients go elsewhere. */
  setClosing(closing: boolean): void;
  /** Stops accepting, lets requests in flight end, then closes. @param waitMs then the rest is cut; infinite to wait. */
  close(waitMs: number): Promise<void>;
}

/** An address as it is asked for: an empty `ip` for all addresses of the machine, port 0 for any free one. */
export interface AskedAddress {
  readonly ip: string;
  readonly port: number;
}

/**
 * Opens the port.
 * @throws GatewayError LISTEN_FAILED naming the address when it is taken or not allowed.
 */
export async function listen(
  settings: PortSettings,
  asked: AskedAddress,
  serving: Serving,
  log: Log,
): Promise<Listener> {
  const protocols = createProtocols(settings, serving, log);
  const { listener: server } = protocols;
  await bind(server, asked);
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

function bind(server: Server, { ip, port }: AskedAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const address = `${ip || '*'}:${port}`;
      reject(new GatewayError('LISTEN_FAILED', `cannot listen on ${address}: ${bindTrouble(error)}`, error));
    });
    server.listen({ port, host: ip || undefined, backlog: 4096 }, () => resolve());
  });
}
