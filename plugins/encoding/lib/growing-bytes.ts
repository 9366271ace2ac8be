/** Minimum initial capacity, in bytes. */
const FIRST_BYTES = 256;

/**
 * Collects chunks into one buffer. Many small chunks take no more memory than a large one: they are copied, and their
 * own buffers are released.
 */
export class GrowingBytes {
  #bytes: Buffer = empty;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2, FIRST_BYTES));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** Returns all collected bytes and empties the buffer. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = empty;
    this.#length = 0;
    return taken;
  }
}

const empty = Buffer.alloc(0);
