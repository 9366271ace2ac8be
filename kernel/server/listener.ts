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

/**
 * Opens the port.
 * @throws GatewayError LISTEN_FAILED naming the address when it is taken or not allowed.
 */
export async function listen(settings: PortSettings, port: number, serving: Serving, log: Log): Promise<Listener> {
  const protocols = createProtocols(settings, serving, log);
  const { listener: server } = protocols;
  const { listen_ip: ip } = settings.config;
  await bind(server, port, ip);
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

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const address = `${host || '*'}:${port}`;
      reject(new GatewayError('LISTEN_FAILED', `cannot listen on ${address}: ${bindTrouble(error)}`, error));
    });
    server.listen({ port, host: host || undefined, backlog: 4096 }, () => resolve());
  });
}
