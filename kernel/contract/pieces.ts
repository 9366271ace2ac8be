/**
 * Maximum length of a piece, in bytes, that is merged with others once there are many. Each piece takes about 200 bytes
 * of overhead.
 */
const SHORT_BYTES = 512;
const MANY = 64;
const BLOCK_BYTES = 16_384;

/**
 * Collects bytes that arrive in chunks. Takes little more memory than the bytes themselves, regardless of chunk sizes;
 * separate buffers for single bytes would take two hundred times as much.
 */
export class Pieces {
  readonly #pieces: Uint8Array[] = [];
  #block: Uint8Array = none;
  /** Number of bytes of the current block that are already part of a piece, and number of bytes used in it. */
  #flushed = 0;
  #used = 0;
  #length = 0;

  /** Number of bytes collected. */
  get length(): number {
    return this.#length;
  }

  /** @param piece not copied if it is long or one of the first, so its bytes must not change. */
  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#pieces.length < MANY || piece.length >= SHORT_BYTES) {
      this.#flush();
      this.#pieces.push(piece);
      return;
    }
    if (this.#used + piece.length > this.#block.length) {
      this.#flush();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#flushed = 0;
      this.#used = 0;
    }
    this.#block.set(piece, this.#used);
    this.#used += piece.length;
  }

  /** All bytes in one buffer; a single piece is returned as is. */
  join(): Uint8Array {
    this.#flush();
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#length);
  }

  #flush(): void {
    if (this.#used === this.#flushed) return;
    this.#pieces.push(this.#block.subarray(this.#flushed, this.#used));
    this.#flushed = this.#used;
  }
}

const none = new Uint8Array(0);
