import { createHash } from 'node:crypto';

/** 64-bit values cut from a digest, as pairs of 32-bit halves, lower half first. */
type Values = readonly (readonly [low: number, high: number])[];

/** Hashes bytes to 64-bit values. */
type Hash = (bytes: Uint8Array) => Values;

/** Computes the bit indexes of an element. */
export type IndicesOf = (element: string) => Uint32Array;

export const hashNames = ['optimal', 'default'] as const;

export type HashName = (typeof hashNames)[number];

/** @param bits size of the filter, at most 2^32. @param count number of hashes required by its false positive rate. */
export function indexer(name: HashName, bits: number, count: number): IndicesOf {
  return name === 'optimal' ? optimal(bits, count) : common(bits, count);
}

/** Derives all indexes from two hash values and their sums (double hashing), which is as good as independent hashes. */
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

/** Uses all values of the first `count` of several standard hashes. */
function common(bits: number, count: number): IndicesOf {
  const hashes = [digest('md5'), crc64, digest('sha1'), fnv64, fnv128].slice(0, count);
  return (element) => {
    const bytes = Buffer.from(element);
    return Uint32Array.from(hashes.flatMap((hash) => hash(bytes).map(([low, high]) => remainder(low, high, bits))));
  };
}

/** Remainder of a 64-bit value, computed in steps that stay exact. */
function remainder(low: number, high: number, divisor: number): number {
  let rest = high % divisor;
  rest = (rest * 65_536 + (low >>> 16)) % divisor;
  return (rest * 65_536 + (low & 0xffff)) % divisor;
}

function digest(name: string): Hash {
  return (bytes) => cut(createHash(name).update(bytes).digest());
}

/** Splits a digest into little-endian 64-bit values. Remaining bytes are dropped. */
function cut(bytes: Buffer): Values {
  const values: [number, number][] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 8) values.push([bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]);
  return values;
}

/** 128-bit FNV-1, in four 32-bit limbs so that the product with the prime 2^88 + 0x13b fits in 53 bits. */
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

/** CRC-64 with the reversed ECMA-182 polynomial. */
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
