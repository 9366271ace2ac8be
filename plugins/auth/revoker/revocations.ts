import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BloomFilter } from './bloom-filter.ts';
import { type IndicesOf, indexer } from './hashes.ts';
import { packedHead } from './packed-set.ts';
import { decodeSections, encodeSections } from './sections.ts';
import { bitsFor, type Sizing } from './sizing.ts';

type Window = readonly [previous: BloomFilter, current: BloomFilter, next: BloomFilter];

/** Returns the index function shared by all filters of a size. */
export function indicesFor(sizing: Sizing): IndicesOf {
  const bits = bitsFor(sizing);
  return indexer(sizing.hash, bits, Math.ceil((Math.LN2 * bits) / sizing.n));
}

/** Set of revoked elements. An element is kept for two to three periods of the window. */
export class Revocations {
  readonly #sizing: Sizing;
  readonly #bits: number;
  /** Filters of the window: new elements are added to the last two of them, and lookups use the first two. */
  #window: Window;
  /**
   * Filters in which a union began. All of its parts are added to them, even if the window has moved since. Null if no
   * union is running.
   */
  #united: Window | null = null;
  #turnsAt: number;
  #added = 0;

  /** @param now milliseconds, like the `now` parameters of the methods. */
  constructor(sizing: Sizing, now: number) {
    this.#sizing = sizing;
    this.#bits = bitsFor(sizing);
    this.#window = [this.#empty(), this.#empty(), this.#empty()];
    this.#turnsAt = now + sizing.ttl * 1000;
  }

  add(elements: readonly Uint32Array[], now: number): void {
    const [, current, next] = this.#turned(now);
    for (const indices of elements) {
      current.add(indices);
      next.add(indices);
    }
    this.#added += elements.length;
  }

  has(indices: Uint32Array, now: number): boolean {
    const [previous, current] = this.#turned(now);
    return current.has(indices) || previous.has(indices);
  }

  /** Fill level of all filters together, from 0 to 1. */
  get capacity(): number {
    return this.#window.reduce((sum, { set }) => sum + set, 0) / (3 * this.#bits);
  }

  stats(now: number): { fill: number[]; capacity: number; added: number; turns_in: number } {
    const fill = this.#turned(now).map(({ set }) => set / this.#bits);
    return { fill, capacity: this.capacity, added: this.#added, turns_in: Math.ceil((this.#turnsAt - now) / 1000) };
  }

  /** Packs all filters, for a gateway that starts or has missed updates. */
  pack(now: number): Promise<Uint8Array> {
    const filters = this.#turned(now).map(({ bytes }) => bytes);
    const head = packedHead(
      this.#sizing,
      filters.map((bytes) => bytes !== null),
    );
    const chunks = [head, ...filters.filter((bytes) => bytes !== null)];
    return promisify(gzip)(Buffer.concat(chunks), { level: 1 });
  }

  /**
   * Encodes all filters as sections, for a process that starts. Not compressed, because compression takes ten times as
   * long.
   */
  sections(now: number): Uint8Array {
    const filters = this.#turned(now);
    return encodeSections(filters.flatMap(({ words }, filter) => (words ? [{ filter, first: 0, words }] : [])));
  }

  /** Begins a union: all sections until its end form one set, which belongs to the current window. */
  beginUnion(now: number): void {
    this.#united = this.#turned(now);
  }

  endUnion(): void {
    this.#united = null;
  }

  /** Adds the revocations of another process. @param sections output of `encodeSections`. */
  unite(sections: Uint8Array, now: number): void {
    const window = this.#united ?? this.#turned(now);
    for (const { filter, first, words } of decodeSections(sections)) window[filter]!.unite(words, first);
  }

  #turned(now: number): Window {
    const { ttl } = this.#sizing;
    while (now >= this.#turnsAt) {
      const isLong = now - this.#turnsAt > 3 * ttl * 1000;
      this.#window = [
        isLong ? this.#empty() : this.#window[1],
        isLong ? this.#empty() : this.#window[2],
        this.#empty(),
      ];
      this.#turnsAt += isLong ? Math.floor((now - this.#turnsAt) / (ttl * 1000)) * ttl * 1000 : ttl * 1000;
    }
    return this.#window;
  }

  #empty(): BloomFilter {
    return new BloomFilter(this.#bits);
  }
}
