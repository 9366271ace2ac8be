import { randomInt } from 'node:crypto';

/** Strategy to choose the partition of a record. */
export type Partitioner = 'standard' | 'sarama' | 'random' | 'roundrobin';

/** Chooses non-negative integers for records that are written together; the partition is each of them modulo the number of partitions. */
type Choose = (keys: readonly (Buffer | undefined)[]) => number[];

/** @param murmur2 hash of keys, as in the Java client. */
export function partitionerOf(partitioner: Partitioner, murmur2: (key: Buffer) => number): Choose {
  const random = () => randomInt(2 ** 31);
  let next = 0;
  const choices: Readonly<Record<Partitioner, Choose>> = {
    standard: byKey((key) => murmur2(key) & 0x7fff_ffff, random),
    sarama: byKey((key) => Math.abs(fnv1a(key)), random),
    random: (keys) => keys.map(random),
    roundrobin: (keys) =>
      keys.map(() => {
        next = (next + 1) % 2 ** 31;
        return next;
      }),
  };
  return choices[partitioner];
}

/** Records without a key that are written together go to the same partition, as with the Java client. */
function byKey(hash: (key: Buffer) => number, random: () => number): Choose {
  return (keys) => {
    const anywhere = random();
    return keys.map((key) => (key ? hash(key) : anywhere));
  };
}

/** 32-bit FNV-1a hash, signed. */
function fnv1a(bytes: Buffer): number {
  let hash = 0x811c_9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x0100_0193);
  return hash | 0;
}
