import type { IncomingMessage } from 'node:http';

/**
 * Buffers the bytes of a request body that arrive while other code may be reading them, for a later reader that needs
 * all of them. Unread bytes stay buffered in the message itself.
 */
export class PassingBytes {
  readonly limitBytes: number;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #ended = false;
  #reader: ((chunk: Uint8Array | null) => void) | null = null;

  /**
   * @param limitBytes maximum number of bytes to keep. Beyond it nothing is kept, and the body counts as too large for
   * the later reader.
   */
  constructor(message: IncomingMessage, limitBytes: number) {
    this.limitBytes = limitBytes;
    const { push } = message;
    message.push = (chunk: Uint8Array | string | null, encoding?: BufferEncoding) => {
      this.#arrived(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
      return push.call(message, chunk, encoding);
    };
  }

  /** Whether more bytes have passed than may be kept. */
  get isTooLarge(): boolean {
    return this.#keptBytes > this.limitBytes;
  }

  /** Whether the whole body has arrived. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Delivers the kept bytes, and from now on those that arrive; null marks the end. */
  open(reader: (chunk: Uint8Array | null) => void): void {
    this.#reader = reader;
    for (const chunk of this.#kept.splice(0)) reader(chunk);
    if (this.#ended) reader(null);
  }

  /** Discards the kept bytes and all that follow. */
  close(): void {
    this.#reader = ignored;
    this.#kept = [];
  }

  #arrived(chunk: Uint8Array | null): void {
    if (chunk === null) this.#ended = true;
    if (this.#reader) {
      this.#reader(chunk);
    } else if (chunk !== null && !this.isTooLarge) {
      this.#keptBytes += chunk.length;
      if (this.isTooLarge) this.#kept = [];
      else this.#kept.push(chunk);
    }
  }
}

function ignored(): void {}
