/** A stretch of a filter's words, as processes of one gateway tell one another. */
export interface Section {
  /** Which of the three filters. */
  readonly filter: number;
  /** Index of the first word. */
  readonly first: number;
  readonly words: Uint32Array;
}

const HEAD_WORDS = 3;

/** Sections one behind the other: filter, first word and count of each, and the words in this machine's order of bytes. */
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

/** @param bytes of `encodeSections`. */
export function* decodeSections(bytes: Uint8Array): Generator<Section> {
  // Bytes of a message may begin anywhere.
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const all = new Uint32Array(buffer, byteOffset, length / 4);
  for (let at = 0; at < all.length; ) {
    const [filter, first, count] = all.subarray(at, at + HEAD_WORDS) as unknown as [number, number, number];
    at += HEAD_WORDS;
    yield { filter, first, words: all.subarray(at, at + count) };
    at += count;
  }
}
