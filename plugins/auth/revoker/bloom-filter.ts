/** Bits that elements set: one that was added is always found, another one seldom. Takes no memory while it is empty. */
export class BloomFilter {
  readonly #length: number;
  #words: Uint32Array | null = null;
  /** Bits that are set. */
  #set = 0;

  /** @param bits at most 2^32. */
  constructor(bits: number) {
    this.#length = Math.ceil(bits / 32);
  }

  get set(): number {
    return this.#set;
  }

  /** Its bits; null where none is set. */
  get bytes(): Uint8Array | null {
    const words = this.#words;
    return words && new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  }

  add(indices: Uint32Array): void {
    this.#words ??= new Uint32Array(this.#length);
    const words = this.#words;
    for (const index of indices) {
      const before = words[index >>> 5]!;
      const after = (before | (1 << (index & 31))) >>> 0;
      if (after === before) continue;
      words[index >>> 5] = after;
      this.#set++;
    }
  }

  has(indices: Uint32Array): boolean {
    const words = this.#words;
    if (!words) return false;
    for (const index of indices) if (!(words[index >>> 5]! & (1 << (index & 31)))) return false;
    return true;
  }

  /** Adds what another filter of the same size has. @param other its bytes. */
  unite(other: Uint8Array): void {
    this.#words ??= new Uint32Array(this.#length);
    const words = this.#words;
    // Bytes of a message may begin anywhere.
    const aligned = other.byteOffset % 4 === 0 ? other : new Uint8Array(other);
    const more = new Uint32Array(aligned.buffer, aligned.byteOffset, this.#length);
    for (let at = 0; at < more.length; at++) {
      const added = more[at]! & ~words[at]!;
      if (added === 0) continue;
      words[at] = (words[at]! | added) >>> 0;
      this.#set += bitsIn(added);
    }
  }
}

function bitsIn(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}
