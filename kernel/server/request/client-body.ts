import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { CancelledError } from '#contract';
import { PayloadTooLarge } from '../../contract/internal.ts';
import { forgoContinue } from '../http1/expectation.ts';
import { endPolitely } from '../response/refusal.ts';
import type { PassingBytes } from './passing-bytes.ts';

/** Largest remainder of an unread body that is read and discarded to keep the connection open, in bytes. */
const REST_LIMIT_BYTES = 256 * 1024;

/**
 * The body of a client's request. Destroying it does not close the client's connection, as destroying Node's message
 * would: the response is still sent there.
 */
export class ClientBody extends Readable {
  /** Declared length (`Content-Length`), in bytes; undefined when not declared. */
  readonly length: number | undefined;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #passing: PassingBytes | null;
  #open = false;
  #settled = false;

  /** @param passing buffers the bytes that other code has read before; null if no other code can read the body. */
  constructor(message: IncomingMessage, response: ServerResponse, passing: PassingBytes | null) {
    super();
    const declared = message.headers['content-length'];
    this.length = declared === undefined ? undefined : Number(declared);
    this.#passing = passing;
    this.#message = message;
    this.#response = response;
    // The reader receives the error; without a reader, the error must not end the process.
    this.on('error', ignored);
  }

  override _read(): void {
    const message = this.#message;
    if (this.#open) {
      message.resume();
      return;
    }
    this.#open = true;
    const passing = this.#passing;
    if (passing?.isTooLarge) {
      this.destroy(new PayloadTooLarge(passing.limitBytes));
      return;
    }
    if (message.destroyed && !passing?.ended) {
      this.destroy(new CancelledError());
      return;
    }
    message.once('error', () => this.destroy(new CancelledError()));
    if (passing) {
      passing.open(this.#onData);
      message.resume();
    } else {
      message.on('data', this.#onData);
      message.once('end', () => this.push(null));
    }
  }

  readonly #onData = (chunk: Uint8Array | null): void => {
    if (!this.push(chunk)) this.#message.pause();
  };

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const message = this.#message;
    message.off('data', this.#onData);
    this.#passing?.close();
    if (this.#response.headersSent) dropRest(message, this.#response);
    else message.pause();
    done(error);
  }

  /**
   * Called when the response is about to be written: fails any reader with `CancelledError` and discards the rest of
   * the body. A long rest closes the client's connection.
   * @param streams whether the response is a stream; the body can then still be read meanwhile.
   */
  settle(streams: boolean): void {
    if (this.#settled || (streams && this.#open && !this.destroyed)) return;
    this.#settled = true;
    const message = this.#message;
    const response = this.#response;
    if (!this.destroyed) this.destroy(new CancelledError());
    forgoContinue(message);
    const isOver = message.complete !== false || message.httpVersionMajor >= 2;
    if (Number(message.headers['content-length'] ?? 0) > REST_LIMIT_BYTES) response.shouldKeepAlive &&= isOver;
    if (isOver || response.shouldKeepAlive) {
      dropRest(message, response);
    } else {
      const { socket } = message;
      socket.destroySoon = () => endPolitely(socket);
      message.resume();
    }
  }
}

function ignored(): void {}

/** Reads and discards the rest of a body. A client that keeps sending is disconnected after the response. */
function dropRest(message: IncomingMessage, response: ServerResponse): void {
  if (message.complete !== false || message.httpVersionMajor >= 2) {
    message.resume();
    return;
  }
  let left = REST_LIMIT_BYTES;
  const count = (chunk: Uint8Array): void => {
    left -= chunk.length;
    if (left >= 0) return;
    message.off('data', count);
    const { socket } = message;
    if (response.writableFinished) {
      endPolitely(socket);
    } else {
      message.pause();
      response.once('close', () => endPolitely(socket));
    }
  };
  message.on('data', count);
  message.resume();
}
