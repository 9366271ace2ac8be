import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { aborted, lengthMismatch } from '../errors.ts';

/** Writes a streamed request body to a socket. */
export class StreamBody {
  readonly #body: Readable;
  readonly #socket: Socket;
  /** Head that has not been sent yet. */
  #head: string;
  /** Announced bytes that have not arrived yet; undefined for a chunked body. */
  #left: number | undefined;
  #isOver = false;

  /**
   * @param head request head with all headers except `Transfer-Encoding`.
   * @param length announced length; undefined for a chunked body.
   * @param settled called once, with null when the body has been sent, or with the error.
   */
  constructor(
    socket: Socket,
    head: string,
    body: Readable,
    length: number | undefined,
    settled: (error: Error | null) => void,
  ) {
    this.#socket = socket;
    this.#body = body;
    this.#left = length;
    this.#head = length === undefined ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`;
    const over = (error: Error | null) => {
      if (this.#isOver) return;
      this.#isOver = true;
      settled(error);
    };
    body.on('data', (chunk: Uint8Array) => this.#isOver || this.#send(chunk, over));
    body.once('end', () => this.#isOver || this.#end(over));
    body.on('error', over);
    body.once('close', () => over(body.errored ?? aborted()));
    if (body.destroyed) over(body.errored ?? aborted());
  }

  /** Called when the socket is ready for more data. */
  drained(): void {
    if (!this.#isOver) this.#body.resume();
  }

  /** Stops sending and discards the rest of the body. */
  stop(): void {
    this.#isOver = true;
    this.#body.destroy();
  }

  #send(chunk: Uint8Array, over: (error: Error) => void): void {
    if (chunk.length === 0) return;
    if (this.#left !== undefined) {
      this.#left -= chunk.length;
      if (this.#left < 0) return over(lengthMismatch());
    }
    const socket = this.#socket;
    socket.cork();
    const isChunk = this.#left === undefined;
    const before = this.#takeHead() + (isChunk ? `${chunk.length.toString(16)}\r\n` : '');
    if (before !== '') socket.write(before, 'latin1');
    let takesMore = socket.write(chunk);
    if (isChunk) takesMore = socket.write('\r\n', 'latin1');
    socket.uncork();
    if (!takesMore) this.#body.pause();
  }

  #end(over: (error: Error | null) => void): void {
    if (this.#left !== undefined && this.#left > 0) return over(lengthMismatch());
    const rest = this.#takeHead() + (this.#left === undefined ? '0\r\n\r\n' : '');
    if (rest !== '') this.#socket.write(rest, 'latin1');
    over(null);
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }
}
