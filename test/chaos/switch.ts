import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Outage } from '../../scripts/chaos/components.ts';

/** A response that is invalid in every protocol, HTTP included. */
const NONSENSE = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>';

/** A port in front of a server, through which the server seems to fail. */
export class Switch {
  #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #outage: Outage | 'mute' | null = null;
  port = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  static async open(target: number): Promise<Switch> {
    const self = new Switch(target);
    await self.#listen();
    return self;
  }

  /** Makes new connections lead to another server. */
  retarget(port: number): void {
    this.#target = port;
  }

  /** Begins an outage, which includes open connections. With `mute`, the server receives data, but its responses are dropped. */
  async fail(outage: Outage | 'mute'): Promise<void> {
    this.#outage = outage;
    if (outage === 'gone') await this.#shut();
    // Resets open connections too, so that each client detects the failure with the next byte at the latest.
    if (outage === 'resets') for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async mend(): Promise<void> {
    const outage = this.#outage;
    this.#outage = null;
    for (const socket of this.#sockets) socket.destroy();
    if (outage === 'gone') await this.#listen();
  }

  async close(): Promise<void> {
    await this.#shut();
  }

  async #listen(): Promise<void> {
    const server = createServer((client) => this.#accept(client));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
  }

  async #shut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const closed = new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(client: Socket): void {
    this.#follow(client);
    if (this.#outage === 'resets') return void client.resetAndDestroy();
    const upstream = connect(this.#target, '127.0.0.1');
    this.#follow(upstream);
    client.on('data', (bytes) => {
      if (this.#outage === null || this.#outage === 'mute') upstream.write(bytes);
      if (this.#outage === 'nonsense') client.write(NONSENSE);
    });
    upstream.on('data', (bytes) => {
      if (this.#outage === null) client.write(bytes);
    });
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  }

  #follow(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
  }
}
