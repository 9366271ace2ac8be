import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PortHandler } from '#contract';

/** Longest head of a request to a plugin's port, in bytes, and longest time for it, in milliseconds. */
const MAX_HEADER_BYTES = 16 * 1024;
const REQUEST_MS = 30_000;

/** A port that a plugin listens on. It outlives configurations: whichever serves answers. */
export class PluginPort {
  /** What answers now; null while no configuration does. */
  handler: PortHandler | null = null;
  readonly #host: string | undefined;
  readonly #asked: number;
  #server: Server | null = null;
  #opening: Promise<void> | null = null;

  constructor(host: string | undefined, port: number) {
    this.#host = host;
    this.#asked = port;
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
    const server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
      (message, response) => this.#answer(message, response),
    );
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: this.#host, port: this.#asked }, () => {
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
