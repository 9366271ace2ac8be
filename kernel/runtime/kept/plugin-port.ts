import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { PortAddress, PortHandler } from '#contract';
import { beginOwned } from '../../contract/internal.ts';

/** Maximum size of the request head on a plugin's port, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Request timeout, in milliseconds, and the interval at which it is checked. */
const REQUEST_MS = 30_000;
const CHECK_MS = 1000;

/** A port that a plugin listens on. It outlives configurations: the serving one handles its requests. */
export class PluginPort {
  /** The current handler; null while no configuration has one. */
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

  /** Opens the port once; all callers share the outcome. @throws the system's error. */
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
    ownConnections(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        // A connection that could not be accepted does not affect other connections.
        server.on('error', () => {});
        resolve();
      });
    });
  }

  #answer(message: IncomingMessage, response: ServerResponse): void {
    // Errors are ignored, because a client may disconnect at any time.
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

  /** Stops accepting requests and closes every connection. */
  close(): Promise<void> {
    const server = this.#server;
    if (!server) return Promise.resolve();
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

/** Makes each connection the owner of what Node's HTTP server registers on it. */
function ownConnections(server: Server): void {
  const [accept] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => beginOwned('plugin port', socket, () => accept!.call(server, socket)));
}

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'not an address of this machine',
};

/** Explains briefly why an address cannot be listened on. @param error the system's error. */
export function bindErrorReason({ code = '', message }: NodeJS.ErrnoException): string {
  return problems[code] ?? message;
}
