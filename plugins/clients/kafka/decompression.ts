import { gunzipSync, zstdDecompressSync } from 'node:zlib';

type Library = typeof import('@platformatic/kafka');
export type Decompress = (data: Buffer) => Buffer;

/** Largest decompressed size of the records of one batch, in bytes. */
export const LONGEST_BYTES = 64 * 1024 * 1024;
/**
 * Decompression functions, by the compression number in the attributes of a batch. They reject a batch in which a
 * kilobyte would expand to gigabytes, and throw an Error with the reason.
 */
export function decompressors({ compressionsAlgorithmsByBitmask: algorithms }: Library): Decompress[] {
  const standard = (mask: number): Decompress => algorithms[mask]!.decompressSync;
  return [
    (data) => data,
    (data) => gunzipSync(data, { maxOutputLength: LONGEST_BYTES }),
    (data) => demandShort(snappyBytes(data), data, standard(2)),
    (data) => demandShort(lz4Bytes(data), data, standard(3)),
    (data) => zstdDecompressSync(data, { maxOutputLength: LONGEST_BYTES }),
    unknown,
    unknown,
    unknown,
  ];
}

function unknown(): never {
  throw new Error('unknown compression');
}

/** @throws Error if there are too many bytes. */
function demandShort(bytes: number, data: Buffer, decompress: Decompress): Buffer {
  if (bytes > LONGEST_BYTES) throw new Error(`more than ${LONGEST_BYTES} bytes once decompressed`);
  return decompress(data);
}

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEAD_BYTES = 16;

/** Decompressed size declared by snappy: at the start of the data, or of each block in the framing of the Java client. */
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

/** Largest decompressed size of LZ4 frames: all blocks but the last have the size that the frame declares. */
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
