import { createHash } from 'node:crypto';

/** Cuts digests into values of 64 bits, as pairs of 32: the lower half first. */
type Values = readonly (readonly [low: number, high: number])[];

/** The values of a hash for some bytes. */
type Hash = (bytes: Uint8Array) => Values;

/** Where the bits of an element are. */
export type IndicesOf = (element: string) => Uint32Array;

export const hashNames = ['optimal', 'default'] as const;

export type HashName = (typeof hashNames)[number];

/** @param bits of the filter, at most 2^32. @param count of hashes that its rate of false positives wants. */
export function indexer(name: HashName, bits: number, count: number): IndicesOf {
  return name === 'optimal' ? optimal(bits, count) : common(bits, count);
}

/** Two values and their sums: as good as so many hashes. */
function optimal(bits: number, count: number): IndicesOf {
  return (element) => {
    const [first, second] = fnv128(Buffer.from(element)) as [Values[0], Values[0]];
    const indices = new Uint32Array(count);
    let [low, high] = first;
    for (let at = 0; at < count; at++) {
      indices[at] = remainder(low, high, bits);
      const sum = low + second[0];
      high = (high + second[1] + (sum > 0xffff_ffff ? 1 : 0)) >>> 0;
      low = sum >>> 0;
    }
    return indices;
  };
}

/** All values of the first of some usual hashes. */
function common(bits: number, count: number): IndicesOf {
  const hashes = [digest('md5'), crc64, digest('sha1'), fnv64, fnv128].slice(0, count);
  return (element) => {
    const bytes = Buffer.from(element);
    return Uint32Array.from(hashes.flatMap((hash) => hash(bytes).map(([low, high]) => remainder(low, high, bits))));
  };
}

/** The remainder of a value of 64 bits, in steps that stay exact. */
function remainder(low: number, high: number, divisor: number): number {
  let rest = high % divisor;
  rest = (rest * 65_536 + (low >>> 16)) % divisor;
  return (rest * 65_536 + (low & 0xffff)) % divisor;
}

function digest(name: string): Hash {
  return (bytes) => cut(createHash(name).update(bytes).digest());
}

/** Pieces of 8 bytes, read with the lowest byte first; what is left over is dropped. */
function cut(bytes: Buffer): Values {
  const values: [number, number][] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 8) values.push([bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]);
  return values;
}

/** FNV-1 of 128 bits, in four parts of 32: the product with the prime 2^88 + 0x13b needs no more than 53 bits so. */
function fnv128(bytes: Uint8Array): Values {
  let [a, b, c, d] = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e];
  for (const byte of bytes) {
    const low = a * 0x13b;
    const second = b * 0x13b + Math.floor(low / 2 ** 32);
    const third = c * 0x13b + Math.floor(second / 2 ** 32) + ((a << 24) >>> 0);
    d = (d * 0x13b + Math.floor(third / 2 ** 32) + (a >>> 8) + ((b << 24) >>> 0)) >>> 0;
    a = (low ^ byte) >>> 0;
    b = second >>> 0;
    c = third >>> 0;
  }
  const digested = Buffer.alloc(16);
  [d, c, b, a].forEach((part, at) => {
    digested.writeUInt32BE(part, at * 4);
  });
  return cut(digested);
}

const ALL_64 = 0xffff_ffff_ffff_ffffn;

function fnv64(bytes: Uint8Array): Values {
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (const byte of bytes) hash = ((hash * 0x100_0000_01b3n) & ALL_64) ^ BigInt(byte);
  return ofBigInt(hash);
}

/** CRC-64 with the polynomial of ECMA-182, reversed. */
function crc64(bytes: Uint8Array): Values {
  crcTable ??= Array.from({ length: 256 }, (_, byte) => {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0xc96c_5795_d787_0f42n : crc >> 1n;
    return crc;
  });
  let crc = ALL_64;
  for (const byte of bytes) crc = crcTable[Number((crc ^ BigInt(byte)) & 0xffn)]! ^ (crc >> 8n);
  return ofBigInt(crc ^ ALL_64);
}

let crcTable: readonly bigint[] | undefined;

function ofBigInt(value: bigint): Values {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return cut(bytes);
}
