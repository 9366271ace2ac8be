import type { HashName } from './hashes.ts';

/** Dimensions of a set of filters. */
export interface Sizing {
  /** Number of elements that a filter is sized for. */
  readonly n: number;
  /** False positive rate. */
  readonly p: number;
  readonly hash: HashName;
  /** Period of the window, in seconds. */
  readonly ttl: number;
}

/** Size of one filter, in bits. */
export function bitsFor({ n, p }: Pick<Sizing, 'n' | 'p'>): number {
  return Math.ceil(-(n * Math.log(p)) / Math.log(2 ** Math.LN2));
}

/** Size of one filter in bytes, rounded up to whole words. */
export function filterBytes(sizing: Pick<Sizing, 'n' | 'p'>): number {
  return Math.ceil(bitsFor(sizing) / 32) * 4;
}
