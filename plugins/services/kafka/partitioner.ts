import { randomInt } from 'node:crypto';

/** How the partition of a record is chosen. */
export type Partitioner = 'standard' | 'sarama' | 'random' | 'roundrobin';

/** Whole numbers from 0 on for records that are written together; a partition is one of them modulo the number of partitions. */
type Choose = (keys: readonly (Buffer | undefined)[]) => number[];

/** @param murmur2 hash of keys, as the Java client has it. */
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

/** Records without a key that are written together stay together, as with the Java client. */
function byKey(hash: (key: Buffer) => number, random: () => number): Choose {
  return (keys) => {
    const anywhere = random();
    return keys.map((key) => (key ? hash(key) : anywhere));
  };
}

/** FNV-1a of 32 bits, signed. */
function fnv1a(bytes: Buffer): number {
  let hash = 0x811c_9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x0100_0193);
  return hash | 0;
}
