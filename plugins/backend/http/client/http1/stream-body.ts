import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { aborted, lengthMismatch } from '../errors.ts';

/** A request body that comes bit by bit, on its way to a socket. */
export class StreamBody {
  readonly #body: Readable;
  readonly #socket: Socket;
  /** Not yet sent. */
  #head: string;
  /** Bytes announced that have not come; undefined for chunks. */
  #left: number | undefined;
  #isOver = false;

  /**
   * @param head of the request with all its headers but that of chunks. @param length announced in it; undefined for chunks.
   * @param settled told once: the body is sent, or why it is not.
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

  /** The socket takes more. */
  drained(): void {
    if (!this.#isOver) this.#body.resume();
  }

  /** Nobody wants the rest. */
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
