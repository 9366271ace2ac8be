import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PortAddress, PortHandler } from '#contract';

/** Longest head of a request to a plugin's port, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Longest time for a request, in milliseconds, and how often it is looked at. */
const REQUEST_MS = 30_000;
const CHECK_MS = 1000;

/** A port that a plugin listens on. It outlives configurations: whichever serves answers. */
export class PluginPort {
  /** What answers now; null while no configuration does. */
  handler: PortHandler | null = null;
  readonly #address: PortAddress;
  #server: Server | null = null;
  #opening: Promise<void> | null = null;

  constructor(address: PortAddress) {
    this.#address = address;
  }

  get port(): number {
    return (this.#server?.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Opens it once; every caller waits for the same outcome. @throws the error of the system. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  #open(): Promise<void> {
    const { host, port, headerTimeoutMs = REQUEST_MS } = this.#address;
    const limits = { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS, headersTimeout: headerTimeoutMs };
    const server = createServer({ ...limits, connectionsCheckingInterval: CHECK_MS }, (message, response) =>
      this.#answer(message, response),
    );
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        // A connection that could not be taken concerns nobody else.
        server.on('error', () => {});
        resolve();
      });
    });
  }

  #answer(message: IncomingMessage, response: ServerResponse): void {
    // A client that leaves is no fault.
    message.on('error', () => {});
    response.on('error', () => {});
    try {
      if (this.handler) this.handler(message, response);
      else response.writeHead(503).end();
    } catch {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    }
  }

  /** Takes no more requests and ends every connection. */
  close(): Promise<void> {
    const server = this.#server;
    if (!server) return Promise.resolve();
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

const troubles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'not an address of this machine',
};

/** Why an address cannot be listened on, in a few words. @param error of the system. */
export function bindTrouble({ code = '', message }: NodeJS.ErrnoException): string {
  return troubles[code] ?? message;
}
