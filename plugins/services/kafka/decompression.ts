import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Reader } from '@platformatic/kafka';

type Library = typeof import('@platformatic/kafka');
type Decompress = (data: Buffer) => Buffer;

/** The longest that the records of one batch may be once they are decompressed, in bytes. */
const LONGEST_BYTES = 64 * 1024 * 1024;
/** Records of a batch that cannot be read; with more the response is of no use. */
const MOST_RECORDS = 100_000;

/**
 * Name of the only header of records that stand for those of a batch which cannot be decompressed, or is too long then. The
 * value says why.
 */
export const UNREADABLE: Buffer = Buffer.from('unreadable');

/**
 * Has the library decompress no more than 64 MiB of a batch: whoever writes to a topic could end the process by a kilobyte.
 * What cannot be decompressed comes as records that say so, so that what follows can be read.
 */
export function boundDecompression({ Reader: Own, compressionsAlgorithmsByBitmask: algorithms }: Library): void {
  const reasons = new WeakMap<object, string>();
  const standard: readonly Decompress[] = [1, 2, 3, 4].map((mask) => algorithms[mask]!.decompressSync);
  const [, snappy, lz4] = standard;
  const bounded: readonly Decompress[] = [
    (data) => gunzipSync(data, { maxOutputLength: LONGEST_BYTES }),
    (data) => demandShort(snappyBytes(data), data, snappy!),
    (data) => demandShort(lz4Bytes(data), data, lz4!),
    (data) => zstdDecompressSync(data, { maxOutputLength: LONGEST_BYTES }),
    unknown,
    unknown,
    unknown,
  ];
  for (const [index, decompress] of bounded.entries()) {
    const decompressSync = (data: Parameters<Decompress>[0] | { readonly buffer: Buffer }): Buffer => {
      try {
        return decompress(Buffer.isBuffer(data) ? data : data.buffer);
      } catch (error) {
        const nothing = Buffer.alloc(0);
        reasons.set(nothing, (error as Error).message);
        return nothing;
      }
    };
    Object.assign(algorithms, { [index + 1]: { ...algorithms[index + 1], decompressSync } });
  }
  const { from } = Own;
  /** Reads as many records as the library asks for. */
  class Unreadable extends Own {
    readonly #reason: Buffer;
    #records = 0;

    constructor(reason: string) {
      super(from(Buffer.alloc(0)).buffer);
      this.#reason = Buffer.from(reason);
    }

    override readVarInt = () => 0;
    override readVarInt64 = () => 0n;
    override readInt8 = () => 0;
    override readVarIntBytes = (): never => null as never;
    override readVarIntArray = (): never[] => {
      if (++this.#records > MOST_RECORDS) throw new Error('a batch of records that cannot be read');
      return [[UNREADABLE, this.#reason] as never];
    };
  }
  Own.from = (buffer): Reader => {
    const reason = reasons.get(buffer);
    return reason === undefined ? from(buffer) : new Unreadable(reason);
  };
}

function unknown(): never {
  throw new Error('the compression is not known');
}

/** @throws Error for too many bytes. */
function demandShort(bytes: number, data: Buffer, decompress: Decompress): Buffer {
  if (bytes > LONGEST_BYTES) throw new Error(`more than ${LONGEST_BYTES} bytes once decompressed`);
  return decompress(data);
}

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEAD_BYTES = 16;

/** What snappy says that it will be: in front of all, or of each block in the framing of the Java client. */
function snappyBytes(data: Buffer): number {
  if (!data.subarray(0, XERIAL.length).equals(XERIAL)) return varint(data);
  let bytes = 0;
  for (let at = XERIAL_HEAD_BYTES; at + 4 <= data.length; at += 4 + data.readUInt32BE(at)) {
    bytes += varint(data.subarray(at + 4));
  }
  return bytes;
}

function varint(data: Buffer): number {
  let value = 0;
  for (let at = 0; at < 5 && at < data.length; at++) {
    value += (data[at]! & 0x7f) * 2 ** (7 * at);
    if (data[at]! < 0x80) break;
  }
  return value;
}

const LZ4_DESCRIPTOR = 4;
const LZ4_BLOCKS = 7;

/** The most that frames of LZ4 can be: their blocks are as long as the frame says, but for the last one. */
function lz4Bytes(data: Buffer): number {
  if (data.length < LZ4_BLOCKS) return 0;
  const flags = data[LZ4_DESCRIPTOR]!;
  const blockBytes = 2 ** (8 + 2 * ((data[LZ4_DESCRIPTOR + 1]! >> 4) & 7));
  const checksumBytes = flags & 0x10 ? 4 : 0;
  let blocks = 0;
  let at = LZ4_BLOCKS + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  while (at + 4 <= data.length) {
    const length = data.readUInt32LE(at) & 0x7fff_ffff;
    if (length === 0) break;
    blocks++;
    at += 4 + length + checksumBytes;
  }
  return (blocks - 1) * blockBytes;
}
