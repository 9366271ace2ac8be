import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import { type DataObject, isObject } from '#contract';
import { BloomFilter } from './bloom-filter.ts';
import { type HashName, type IndicesOf, indexer } from './hashes.ts';

/** What a set of filters is made for. */
export interface Sizing {
  /** Elements. */
  readonly n: number;
  /** Rate of false positives. */
  readonly p: number;
  readonly hash: HashName;
  /** Seconds between two turns of the window. */
  readonly ttl: number;
}

/** Bytes of the head of a packed set at most. */
const MAX_HEAD = 4096;

/** Bits of one filter. */
export function bitsFor({ n, p }: Pick<Sizing, 'n' | 'p'>): number {
  return Math.ceil(-(n * Math.log(p)) / Math.log(2 ** Math.LN2));
}

/** A packed set that is for another size, or none at all. */
export class Mismatch extends Error {}

/** Where an element's bits are; made once for all filters of a size. */
export function indicesFor(sizing: Sizing): IndicesOf {
  const bits = bitsFor(sizing);
  return indexer(sizing.hash, bits, Math.ceil((Math.LN2 * bits) / sizing.n));
}

/** Elements that are revoked: for more than two turns of the window, and at most three. */
export class Revocations {
  readonly #sizing: Sizing;
  readonly #bits: number;
  readonly #bytes: number;
  /** Previous, current and next: what is added stands in the last two, the first two are asked. */
  #window: readonly [BloomFilter, BloomFilter, BloomFilter];
  #turnsAt: number;
  #added = 0;

  /** @param now milliseconds, as all that follow. */
  constructor(sizing: Sizing, now: number) {
    this.#sizing = sizing;
    this.#bits = bitsFor(sizing);
    this.#bytes = Math.ceil(this.#bits / 32) * 4;
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

  /** How full the filters are together, from 0 to 1. */
  get capacity(): number {
    return this.#window.reduce((sum, { set }) => sum + set, 0) / (3 * this.#bits);
  }

  stats(now: number): { fill: number[]; capacity: number; added: number; turns_in: number } {
    const fill = this.#turned(now).map(({ set }) => set / this.#bits);
    return { fill, capacity: this.capacity, added: this.#added, turns_in: Math.ceil((this.#turnsAt - now) / 1000) };
  }

  /** Everything, for whoever starts or has missed some of it. */
  pack(now: number): Promise<Uint8Array> {
    return promisify(gzip)(Buffer.concat(this.#chunks(now)), { level: 1 });
  }

  /** As `pack`, at once; undefined for nothing. */
  packNow(now: number): Uint8Array | undefined {
    const chunks = this.#chunks(now);
    return chunks.length === 1 && this.#added === 0 ? undefined : gzipSync(Buffer.concat(chunks), { level: 1 });
  }

  /** Adds what a packed set has. @throws Mismatch */
  async unpack(packed: Uint8Array, now: number): Promise<void> {
    this.#unite(await promisify(gunzip)(packed, { maxOutputLength: this.longest }).catch(refused), now);
  }

  /** As `unpack`, at once. */
  unpackNow(packed: Uint8Array, now: number): void {
    this.#unite(gunzipSync(packed, { maxOutputLength: this.longest }), now);
  }

  /** Bytes that a set can have at most, packed or not. */
  get longest(): number {
    return 4 + MAX_HEAD + 3 * this.#bytes;
  }

  #chunks(now: number): Uint8Array[] {
    const filters = this.#turned(now).map(({ bytes }) => bytes);
    const head = Buffer.from(JSON.stringify({ ...this.#sizing, filled: filters.map((bytes) => bytes !== null) }));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    return [Buffer.concat([length, head]), ...filters.filter((bytes) => bytes !== null)];
  }

  #unite(bytes: Buffer, now: number): void {
    const length = bytes.length < 4 ? MAX_HEAD + 1 : bytes.readUInt32BE(0);
    if (length > MAX_HEAD || 4 + length > bytes.length) throw new Mismatch('it is no packed set of filters');
    const filled = this.#filledOf(readHead(bytes.toString('utf8', 4, 4 + length)));
    const count = filled.filter(Boolean).length;
    if (bytes.length !== 4 + length + count * this.#bytes) throw new Mismatch('the filters are of another length');
    const window = this.#turned(now);
    let at = 4 + length;
    for (const [index, isFilled] of filled.entries()) {
      if (!isFilled) continue;
      window[index]!.unite(bytes.subarray(at, at + this.#bytes));
      at += this.#bytes;
    }
  }

  /** Which filters follow a head. */
  #filledOf(head: DataObject | null): readonly boolean[] {
    const { n, p, hash, ttl } = this.#sizing;
    if (!head || head['n'] !== n || head['p'] !== p || head['hash'] !== hash || head['ttl'] !== ttl) {
      throw new Mismatch('N, P, hash_name or TTL are others');
    }
    const filled = head['filled'];
    if (!Array.isArray(filled) || filled.length !== 3 || filled.some((one) => typeof one !== 'boolean')) {
      throw new Mismatch('it is no packed set of filters');
    }
    return filled as boolean[];
  }

  #turned(now: number): readonly [BloomFilter, BloomFilter, BloomFilter] {
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

function refused(): never {
  throw new Mismatch('it is not compressed with gzip, or too long');
}

function readHead(text: string): DataObject | null {
  try {
    const head: unknown = JSON.parse(text);
    return isObject(head) ? head : null;
  } catch {
    return null;
  }
}
