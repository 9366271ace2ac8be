import type { HashName } from './hashes.ts';

/** Dimensions of a set of filters. */
export interface Sizing {
  /** Elements. */
  readonly n: number;
  /** Rate of false positives. */
  readonly p: number;
  readonly hash: HashName;
  /** Seconds between two turns of the window. */
  readonly ttl: number;
}

/** Bits of one filter. */
export function bitsFor({ n, p }: Pick<Sizing, 'n' | 'p'>): number {
  return Math.ceil(-(n * Math.log(p)) / Math.log(2 ** Math.LN2));
}

/** Bytes of one filter, whole words. */
export function filterBytes(sizing: Pick<Sizing, 'n' | 'p'>): number {
  return Math.ceil(bitsFor(sizing) / 32) * 4;
}
