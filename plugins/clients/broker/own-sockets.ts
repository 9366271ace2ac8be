import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { DeniedAddresses } from '#contract';
import { within } from '../../shared/calls/during.ts';

const owners = new AsyncLocalStorage<OwnSockets>();

channel('net.client.socket').subscribe((message) => {
  owners.getStore()?.add((message as { readonly socket: Socket }).socket);
});

/**
 * Sets the host name that TLS verifies when it starts over a socket without a server name: the name that the socket was
 * opened for, which Node.js keeps here, or `localhost` if that was an address.
 */
function nameForTls(socket: Socket & { _host?: string | null }, address: string): void {
  socket._host ||= address;
}

/**
 * Tracks the sockets that a client library opens. Libraries give up on a server that accepts a connection but stays
 * silent, and leak its socket; they also leave socket errors without a listener, which would end the process.
 */
export class OwnSockets {
  readonly #sockets = new Set<Socket>();
  readonly #denied: Pick<DeniedAddresses, 'has'>;
  readonly #keepAliveMs: number;
  readonly #reason: Error | undefined;
  #isOver = false;

  /**
   * @param denied destinations that sockets must not reach. @param keepAliveMs silence after which TCP sends keep-alive
   * probes, in milliseconds; 0 disables them.
   * @param reason error for sockets that are closed, for a library that stops its timers only on an error.
   */
  constructor(denied: Pick<DeniedAddresses, 'has'>, keepAliveMs = 0, reason?: Error) {
    this.#denied = denied;
    this.#keepAliveMs = keepAliveMs;
    this.#reason = reason;
  }

  /** Runs work and tracks the sockets it opens, including later ones. */
  run<T>(work: () => T): T {
    return owners.run(this, work);
  }

  add(socket: Socket): void {
    socket.on('error', () => {});
    // A library whose attempt was abandoned may still resolve a host name and then open a socket, which is destroyed
    // before it connects.
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
   * Connects within a time limit; on failure all sockets opened so far are closed.
   * @param signal cancels the attempt. @throws the error of `connect`, or Error after `timeoutMs`.
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

  /** Closes the connection cleanly within a time limit; then destroys the remaining sockets. Never throws. */
  async end(timeoutMs: number, close: () => Promise<unknown>): Promise<void> {
    try {
      await within(timeoutMs, this.run(close));
    } catch {
      // The sockets are destroyed in any case.
    } finally {
      this.destroy();
    }
  }

  /** Destroys all sockets, and those that are opened later. */
  destroy(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy(this.#reason);
  }
}
