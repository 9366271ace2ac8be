import type { IncomingMessage } from 'node:http';

/**
 * Keeps the bytes of a request's body that arrive while somebody else may be reading them, for the one who is to have all
 * of them. Bytes that nobody reads are held back by the message itself.
 */
export class PassingBytes {
  readonly limitBytes: number;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #ended = false;
  #reader: ((chunk: Uint8Array | null) => void) | null = null;

  /** @param limitBytes beyond it nothing is kept, and the body is too large for whoever is to have it. */
  constructor(message: IncomingMessage, limitBytes: number) {
    this.limitBytes = limitBytes;
    const { push } = message;
    message.push = (chunk: Uint8Array | string | null, encoding?: BufferEncoding) => {
      this.#arrived(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
      return push.call(message, chunk, encoding);
    };
  }

  /** More has passed than may be kept. */
  get isTooLarge(): boolean {
    return this.#keptBytes > this.limitBytes;
  }

  /** All of the body has arrived. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Hands on what was kept, and from now on what arrives; null is the end. */
  open(reader: (chunk: Uint8Array | null) => void): void {
    this.#reader = reader;
    for (const chunk of this.#kept.splice(0)) reader(chunk);
    if (this.#ended) reader(null);
  }

  /** Nobody is to have the rest. */
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

/** Bytes that nobody wants. */
function ignored(): void {}
