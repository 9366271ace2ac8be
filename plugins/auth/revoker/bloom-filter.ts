/** Bloom filter: added elements are always found, others only rarely. Takes no memory while empty. */
export class BloomFilter {
  readonly #length: number;
  #words: Uint32Array | null = null;
  /** Number of bits that are set. */
  #set = 0;

  /** @param bits at most 2^32. */
  constructor(bits: number) {
    this.#length = Math.ceil(bits / 32);
  }

  get set(): number {
    return this.#set;
  }

  /** The bits as bytes; null if none is set. */
  get bytes(): Uint8Array | null {
    const words = this.#words;
    return words && new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  }

  /** The bits as 32-bit words; null if none is set. */
  get words(): Uint32Array | null {
    return this.#words;
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

  /** Merges a section of another filter of the same size. @param first index of the section's first word. */
  unite(part: Uint32Array, first: number): void {
    this.#words ??= new Uint32Array(this.#length);
    const words = this.#words;
    for (let at = 0; at < part.length; at++) {
      const before = words[first + at]!;
      const added = part[at]! & ~before;
      if (added === 0) continue;
      words[first + at] = before | added;
      this.#set += bitsIn(added);
    }
  }
}

/** Counts the bits of a word by summing pairs, then groups of four and eight, in parallel. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
