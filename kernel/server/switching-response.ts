import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log, Upgrade } from '#contract';
import { endPolitely } from './refusal.ts';

/** Longest time that a connection may take to end in order, in milliseconds. */
const END_MS = 5000;

/**
 * The response to a request whose client wants to go on in another protocol. Node's HTTP has let go of the connection: it is
 * handed to the other protocol, or ends with an ordinary answer.
 */
export class SwitchingResponse extends ServerResponse {
  /** What the client asks for, in lower case. */
  readonly protocol: string;
  readonly #connection: Socket;
  readonly #head: Buffer;

  /** @param head bytes that came behind the request. */
  constructor(message: IncomingMessage, connection: Socket, head: Buffer, protocol: string) {
    super(message);
    this.protocol = protocol;
    this.#connection = connection;
    this.#head = head;
    this.shouldKeepAlive = false;
    this.assignSocket(connection);
    connection.on('drain', this.#onDrain);
    this.once('finish', () => {
      this.#release();
      endPolitely(connection);
      process.nextTick(() => this.emit('close'));
    });
  }

  readonly #onDrain = (): void => void this.emit('drain');

  #release(): void {
    this.#connection.off('drain', this.#onDrain);
    this.detachSocket(this.#connection);
  }

  /**
   * Answers 101 and hands the connection over. The response goes on until the connection has closed.
   * @returns ends the connection in order.
   */
  switchTo(upgrade: Upgrade, headers: string[], log: Log): () => void {
    const connection = this.#connection;
    this.writeHead(101, headers);
    this.flushHeaders();
    this.#release();
    this.emit('switched');
    connection.setTimeout(0);
    connection.allowHalfOpen = false;
    let cut: NodeJS.Timeout | undefined;
    let isClean = false;
    Object.defineProperty(this, 'writableFinished', { get: () => isClean });
    connection.once('close', (hadError) => {
      clearTimeout(cut);
      isClean = !hadError;
      this.emit('close');
    });
    const guarded = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        log.error(() => `a component failed at a connection: ${error instanceof Error ? error.stack : error}`);
        connection.destroy();
      }
    };
    guarded(() => upgrade.take(connection, this.#head));
    return () => {
      if (cut || connection.destroyed) return;
      cut = setTimeout(() => connection.destroy(), END_MS);
      guarded(() => (upgrade.end ? upgrade.end() : connection.end()));
    };
  }
}
