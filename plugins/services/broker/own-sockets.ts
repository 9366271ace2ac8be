import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { DeniedAddresses } from '#contract';
import { within } from './during.ts';

const owners = new AsyncLocalStorage<OwnSockets>();

channel('net.client.socket').subscribe((message) => {
  owners.getStore()?.add((message as { readonly socket: Socket }).socket);
});

/**
 * TLS that begins over a socket without being told to whom checks the name that the socket was opened for, which Node.js keeps
 * here, and `localhost` where that was an address.
 */
function nameForTls(socket: Socket & { _host?: string | null }, address: string): void {
  socket._host ||= address;
}

/**
 * The sockets that a client library opens. Libraries give up on a server that accepts and is silent and keep its socket, and
 * leave errors of sockets without a listener, which would end the process.
 */
export class OwnSockets {
  readonly #sockets = new Set<Socket>();
  readonly #denied: DeniedAddresses;
  readonly #keepAliveMs: number;
  readonly #reason: Error | undefined;
  #isOver = false;

  /**
   * @param denied where none may lead. @param keepAliveMs of silence after which TCP asks for a sign of life; 0 for none.
   * @param reason given to sockets that are closed, for a library that ends its timers for nothing but an error.
   */
  constructor(denied: DeniedAddresses, keepAliveMs = 0, reason?: Error) {
    this.#denied = denied;
    this.#keepAliveMs = keepAliveMs;
    this.#reason = reason;
  }

  /** Runs work whose sockets are these, also those that it opens later. */
  run<T>(work: () => T): T {
    return owners.run(this, work);
  }

  add(socket: Socket): void {
    socket.on('error', () => {});
    // A library that has been given up may still have been looking for the address of a name. The socket is yet to connect.
    if (this.#isOver) return queueMicrotask(() => socket.destroy(this.#reason));
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.once('connect', () => {
      if (this.#keepAliveMs > 0) socket.setKeepAlive(true, this.#keepAliveMs);
      const { remoteAddress = '', remotePort = 0 } = socket;
      nameForTls(socket, remoteAddress);
      if (this.#denied.has(remoteAddress, remotePort)) socket.destroy(new Error("the gateway's own admin port"));
    });
  }

  /**
   * Connects in some time; whatever was opened by then is closed if that fails.
   * @param signal gives it up. @throws what `connect` throws, or Error after `timeoutMs`.
   */
  async connect<T>(timeoutMs: number, signal: AbortSignal, connect: () => Promise<T>): Promise<T> {
    const connecting = this.run(connect);
    try {
      return await within(timeoutMs, connecting, signal);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Says good-bye in some time; whatever is open then is closed. Never throws. */
  async end(timeoutMs: number, close: () => Promise<unknown>): Promise<void> {
    try {
      await within(timeoutMs, this.run(close));
    } catch {
      // It is closed all the same.
    } finally {
      this.destroy();
    }
  }

  /** Closes them, and all that are opened from now on. */
  destroy(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy(this.#reason);
  }
}
