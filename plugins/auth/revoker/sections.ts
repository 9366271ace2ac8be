/** A range of words of a filter, exchanged between the processes of a gateway. */
export interface Section {
  /** Index of the filter, 0 to 2. */
  readonly filter: number;
  /** Index of the first 32-bit word of the range in the filter. */
  readonly first: number;
  readonly words: Uint32Array;
}

const HEAD_WORDS = 3;

/** Encodes sections in sequence: filter, first word and word count of each, then the words in native byte order. */
export function encodeSections(sections: readonly Section[]): Uint8Array {
  const encoded = new Uint32Array(sections.reduce((sum, { words }) => sum + HEAD_WORDS + words.length, 0));
  let at = 0;
  for (const { filter, first, words } of sections) {
    encoded.set([filter, first, words.length], at);
    encoded.set(words, at + HEAD_WORDS);
    at += HEAD_WORDS + words.length;
  }
  return new Uint8Array(encoded.buffer);
}

/** @param bytes output of `encodeSections`. */
export function* decodeSections(bytes: Uint8Array): Generator<Section> {
  // Copied, because the bytes of a message may not be aligned to words.
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const all = new Uint32Array(buffer, byteOffset, length / 4);
  for (let at = 0; at < all.length; ) {
    const [filter, first, count] = all.subarray(at, at + HEAD_WORDS) as unknown as [number, number, number];
    at += HEAD_WORDS;
    yield { filter, first, words: all.subarray(at, at + count) };
    at += count;
  }
}
