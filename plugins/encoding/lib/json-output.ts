/** Bytes put together from pieces of others. */
export class JsonOutput {
  readonly #bytes: Buffer;
  length = 0;

  /** @param size bytes it takes at most. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  byte(code: number): void {
    this.#bytes[this.length++] = code;
  }

  /** Adds `from[start]` up to `from[end]`, that one not included. */
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

/** Up to so many bytes are copied one by one, which costs less than a call. */
const SHORT = 32;
