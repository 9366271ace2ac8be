import { decode, nearest } from './vectors.ts';

/** Maximum size of all entries, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Size of an entry without its vector, in bytes. */
const ENTRY_BYTES = 400;

/** Maximum number of vectors that a request is compared with. */
export const MAX_LISTED = 2000;

/** A vector with the hash of its text. */
interface Listed {
  readonly text: string;
  readonly vector: Float32Array;
}

interface List {
  readonly entries: Map<string, Listed>;
  /** ID of the last entry that was read from Redis. */
  last: string;
  bytes: number;
}

/** Vectors that were read from Redis, by variant: a copy for comparisons. The least recently used variants are dropped. */
export class VectorLists {
  readonly #lists = new Map<string, List>();
  #bytes = 0;

  /** Number of variants that have vectors. */
  get size(): number {
    return this.#lists.size;
  }

  /** Returns the ID of the last entry of a variant that was read from Redis. */
  last(variant: string): string {
    return this.#lists.get(variant)?.last ?? '0-0';
  }

  add(variant: string, id: string, text: string, encoded: string): void {
    const list = this.#lists.get(variant) ?? { entries: new Map<string, Listed>(), last: id, bytes: 0 };
    this.#lists.delete(variant);
    this.#lists.set(variant, list);
    list.last = id;
    this.#remove(list, text);
    if (list.entries.size >= MAX_LISTED) this.#remove(list, list.entries.keys().next().value!);
    const vector = decode(encoded);
    list.entries.set(text, { text, vector });
    list.bytes += vector.byteLength + ENTRY_BYTES;
    this.#bytes += vector.byteLength + ENTRY_BYTES;
    for (const [name, oldest] of this.#lists) {
      if (this.#bytes <= MAX_BYTES || oldest === list) break;
      this.#lists.delete(name);
      this.#bytes -= oldest.bytes;
    }
  }

  /** Returns the hash of the text with the nearest vector within the distance. */
  nearest(variant: string, encoded: string, distance: number): string | undefined {
    const list = this.#lists.get(variant);
    return list && nearest(list.entries.values(), decode(encoded), distance)?.text;
  }

  /** Removes a vector whose response has expired. */
  drop(variant: string, text: string): void {
    const list = this.#lists.get(variant);
    if (list) this.#remove(list, text);
  }

  #remove(list: List, text: string): void {
    const known = list.entries.get(text);
    if (!known) return;
    list.entries.delete(text);
    list.bytes -= known.vector.byteLength + ENTRY_BYTES;
    this.#bytes -= known.vector.byteLength + ENTRY_BYTES;
  }
}
