/** Pieces shorter than this are copied together once there are many: each takes some 200 bytes besides what is in it. */
const SHORT_BYTES = 512;
const MANY = 64;
const BLOCK_BYTES = 16_384;

/**
 * Bytes that come in pieces, cut anywhere. Holds little more than the bytes themselves, however they are cut: a body sent byte
 * by byte would take two hundred times as much.
 */
export class Pieces {
  readonly #pieces: Uint8Array[] = [];
  #block: Uint8Array = none;
  /** Of the block, what is among the pieces, and what is used. */
  #flushed = 0;
  #used = 0;
  #length = 0;

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** @param piece is not copied where it is long, or one of the first: its bytes must stay as they are. */
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

  /** All of them in one; the only one as it is. */
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
