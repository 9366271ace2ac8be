/** Capacity a first piece gets at least, in bytes. */
const FIRST_BYTES = 256;

/**
 * Collects pieces into one. Many small pieces cost no more memory than one large: they are copied, and what they came in
 * is let go.
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

  /** Everything collected; nothing is left. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = empty;
    this.#length = 0;
    return taken;
  }
}

const empty = Buffer.alloc(0);
