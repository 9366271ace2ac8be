import { createGunzip } from 'node:zlib';
import { type DataObject, isObject } from '#contract';
import { encodeSections } from './sections.ts';
import { filterBytes, type Sizing } from './sizing.ts';

/** Maximum size of the header of a packed set, in bytes. */
const MAX_HEAD = 4096;
/** Bytes of a filter processed in one turn of the event loop. */
const PART_BYTES = 64 * 1024;

/** The data is not a packed set, or a set of another size. */
export class Mismatch extends Error {}

/** Maximum size of a packed set in bytes, compressed or not. */
export function longestPacked(sizing: Sizing): number {
  return 4 + MAX_HEAD + 3 * filterBytes(sizing);
}

/** Header of a packed set. @param filled which of the three filters are included. */
export function packedHead(sizing: Sizing, filled: readonly boolean[]): Uint8Array {
  const head = Buffer.from(JSON.stringify({ ...sizing, filled }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head]);
}

/** A packed set in chunks as received. Joining them would block requests. */
export type Packed = readonly Uint8Array[];

/** Reads a whole packed set to validate it. @throws Mismatch */
export async function checkPacked(packed: Packed, sizing: Sizing): Promise<void> {
  for await (const _part of partsOf(packed, sizing));
}

/**
 * Splits a packed set into sections, skipping parts without set bits. Decompresses it off the event loop, one piece at
 * a time.
 * @throws Mismatch, possibly after valid parts.
 */
export async function* partsOf(packed: Packed, sizing: Sizing): AsyncGenerator<Uint8Array> {
  const source = createGunzip({ chunkSize: PART_BYTES });
  const reader = new Reader(source[Symbol.asyncIterator]() as AsyncIterator<Buffer>);
  for (const piece of packed) source.write(piece);
  source.end();
  try {
    const length = new DataView((await reader.take(4)).buffer).getUint32(0);
    if (length > MAX_HEAD) throw new Mismatch('not a packed set of filters');
    const filled = filledOf(readHead(Buffer.from(await reader.take(length)).toString()), sizing);
    for (const [filter, isFilled] of filled.entries()) {
      const end = isFilled ? filterBytes(sizing) : 0;
      for (let at = 0; at < end; at += PART_BYTES) {
        const part = new Uint32Array((await reader.take(Math.min(PART_BYTES, end - at))).buffer);
        if (part.some((word) => word !== 0)) yield encodeSections([{ filter, first: at / 4, words: part }]);
      }
    }
    if (!(await reader.isOver())) throw new Mismatch('the filters have another length');
  } finally {
    source.destroy();
  }
}

/** Reads a requested number of bytes at a time, whatever the size of the chunks. */
class Reader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  /** @returns the bytes in a buffer of their own. @throws Mismatch if fewer bytes are left. */
  async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const taken = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      if (await this.isOver()) throw new Mismatch('the filters have another length');
      const piece = this.#rest.subarray(0, length - at);
      taken.set(piece, at);
      at += piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
    return taken;
  }

  async isOver(): Promise<boolean> {
    if (this.#rest.length > 0) return false;
    const { done, value } = await this.#chunks.next().catch(refused);
    if (!done) this.#rest = value;
    return done === true;
  }
}

function refused(): never {
  throw new Mismatch('the set is not compressed with gzip');
}

/** Reads from the header which filters follow. @throws Mismatch */
function filledOf(head: DataObject | null, { n, p, hash, ttl }: Sizing): readonly boolean[] {
  if (!head || head['n'] !== n || head['p'] !== p || head['hash'] !== hash || head['ttl'] !== ttl) {
    throw new Mismatch('N, P, hash_name or TTL differ');
  }
  const filled = head['filled'];
  if (!Array.isArray(filled) || filled.length !== 3 || filled.some((one) => typeof one !== 'boolean')) {
    throw new Mismatch('not a packed set of filters');
  }
  return filled as boolean[];
}

function readHead(text: string): DataObject | null {
  try {
    const head: unknown = JSON.parse(text);
    return isObject(head) ? head : null;
  } catch {
    return null;
  }
}
