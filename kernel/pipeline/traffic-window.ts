/** What was served in some range of time, as plain data that can be sent to another process. */
export interface TrafficWindow {
  readonly calls: number;
  /** Calls answered with a status of 500 or above, other than on purpose. */
  readonly errors: number;
  /** All latencies together, in nanoseconds: a whole number, so that sums of sums are exact. */
  readonly latencyNs: number;
  /**
   * Latencies: the index of a bucket, then how many calls fell into it, and so on; indexes grow, empty buckets are left
   * out.
   */
  readonly buckets: readonly number[];
}

export const noTraffic: TrafficWindow = { calls: 0, errors: 0, latencyNs: 0, buckets: [] };

/** Calls faster than this, in milliseconds, share the first bucket. */
const FASTEST_MS = 0.05;

/** Calls slower than this, in milliseconds, share the last bucket. */
const SLOWEST_MS = 600_000;

/** Where the bucket number stands in a 32-bit float: its exponent and the first two bits of its fraction. */
const FRACTION_BITS_LEFT = 21;
const float = new Float32Array([1]);
const bits = new Uint32Array(float.buffer);
const BITS_OF_ONE = bits[0]! >>> FRACTION_BITS_LEFT;

/** The bucket of a latency: each power of two is cut in four, so that a bucket is at most a quarter wide. */
export function bucketOf(latencyMs: number): number {
  if (!(latencyMs >= FASTEST_MS)) return 0;
  float[0] = Math.min(latencyMs, SLOWEST_MS) / FASTEST_MS;
  return 1 + (bits[0]! >>> FRACTION_BITS_LEFT) - BITS_OF_ONE;
}

export const BUCKETS = bucketOf(SLOWEST_MS) + 1;

/** The shortest latency that falls into a bucket, in milliseconds. */
function lowestOf(bucket: number): number {
  if (bucket === 0) return 0;
  const quarters = bucket - 1;
  return FASTEST_MS * 2 ** (quarters >>> 2) * (1 + (quarters & 3) / 4);
}

/** The buckets of a window, from one count for every bucket. */
export function sparse(counts: Float64Array): number[] {
  const buckets: number[] = [];
  for (let bucket = 0; bucket < counts.length; bucket++) {
    if (counts[bucket] !== 0) buckets.push(bucket, counts[bucket]!);
  }
  return buckets;
}

/** Adds the buckets of a window to one count for every bucket; what does not belong into one is left out. */
export function addBuckets(counts: Float64Array, { buckets }: TrafficWindow, sign: 1 | -1 = 1): void {
  for (let at = 0; at < buckets.length; at += 2) counts[buckets[at]!]! += sign * buckets[at + 1]!;
}

/** The traffic of several windows together. */
export function joined(windows: Iterable<TrafficWindow>): TrafficWindow {
  const counts = new Float64Array(BUCKETS);
  let calls = 0;
  let errors = 0;
  let latencyNs = 0;
  for (const window of windows) {
    calls += window.calls;
    errors += window.errors;
    latencyNs += window.latencyNs;
    addBuckets(counts, window);
  }
  return { calls, errors, latencyNs, buckets: sparse(counts) };
}

/** What was served between two snapshots of the same traffic. */
export function between(earlier: TrafficWindow, later: TrafficWindow): TrafficWindow {
  const counts = new Float64Array(BUCKETS);
  addBuckets(counts, later);
  addBuckets(counts, earlier, -1);
  return {
    calls: later.calls - earlier.calls,
    errors: later.errors - earlier.errors,
    latencyNs: later.latencyNs - earlier.latencyNs,
    buckets: sparse(counts),
  };
}

/** Calls whose latency is from `fromMs` to below `toMs`. */
export interface LatencyBand {
  readonly fromMs: number;
  readonly toMs: number;
  readonly calls: number;
}

/** The latencies of a window, shortest first; the last band has no end. */
export function latencyBands({ buckets }: TrafficWindow): LatencyBand[] {
  const bands: LatencyBand[] = [];
  for (let at = 0; at < buckets.length; at += 2) {
    const bucket = buckets[at]!;
    const toMs = bucket === BUCKETS - 1 ? Number.POSITIVE_INFINITY : lowestOf(bucket + 1);
    bands.push({ fromMs: lowestOf(bucket), toMs, calls: buckets[at + 1]! });
  }
  return bands;
}

/**
 * The latency that a share of the calls did not exceed, in milliseconds; null when there were no calls. It is at most a
 * quarter off.
 * @param share from 0 to 1, as in 0.99 for p99.
 */
export function quantile({ calls, buckets }: TrafficWindow, share: number): number | null {
  let rank = share * calls;
  for (let at = 0; at < buckets.length; at += 2) {
    const count = buckets[at + 1]!;
    if (rank <= count) {
      const lowest = lowestOf(buckets[at]!);
      return lowest + (lowestOf(buckets[at]! + 1) - lowest) * (rank / count);
    }
    rank -= count;
  }
  return null;
}
