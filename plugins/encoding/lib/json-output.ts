/** Output buffer assembled from pieces of other buffers. */
export class JsonOutput {
  readonly #bytes: Buffer;
  length = 0;

  /** @param size capacity, in bytes. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  byte(code: number): void {
    this.#bytes[this.length++] = code;
  }

  /** Appends the bytes from `from[start]` up to, but not including, `from[end]`. */
  add(from: Uint8Array, start = 0, end = from.length): void {
    const bytes = this.#bytes;
    if (end - start > SHORT) {
      bytes.set(from.subarray(start, end), this.length);
      this.length += end - start;
    } else {
      for (let at = start; at < end; at++) bytes[this.length++] = from[at]!;
    }
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

/** Maximum number of bytes copied one by one, which is cheaper than a call. */
const SHORT = 32;
