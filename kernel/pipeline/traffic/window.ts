/** Traffic within a time range, as plain data that can be sent to another process. */
export interface TrafficWindow {
  readonly calls: number;
  /** Number of calls with a status of 500 or above, except intended rejections. */
  readonly errors: number;
  /** Sum of all latencies, in nanoseconds: an integer, so that sums are exact. */
  readonly latencyNs: number;
  /** Latency histogram: bucket index, number of calls, and so on; in ascending order, without empty buckets. */
  readonly buckets: readonly number[];
}

export const noTraffic: TrafficWindow = { calls: 0, errors: 0, latencyNs: 0, buckets: [] };

/** Upper limit of the first bucket, in milliseconds. */
const FASTEST_MS = 0.05;

/** Lower limit of the last bucket, in milliseconds. */
const SLOWEST_MS = 600_000;

/**
 * Number of bits by which a 32-bit float is shifted to get its bucket number: the exponent and the first two bits of
 * the fraction remain.
 */
const FRACTION_BITS_LEFT = 21;
const float = new Float32Array([1]);
const bits = new Uint32Array(float.buffer);
const BITS_OF_ONE = bits[0]! >>> FRACTION_BITS_LEFT;

/** Returns the bucket of a latency: each power of two is divided into four, so a bucket is at most 25% wide. */
export function bucketOf(latencyMs: number): number {
  if (!(latencyMs >= FASTEST_MS)) return 0;
  float[0] = Math.min(latencyMs, SLOWEST_MS) / FASTEST_MS;
  return 1 + (bits[0]! >>> FRACTION_BITS_LEFT) - BITS_OF_ONE;
}

export const BUCKETS = bucketOf(SLOWEST_MS) + 1;

/** Returns the lowest latency of a bucket, in milliseconds. */
function lowestOf(bucket: number): number {
  if (bucket === 0) return 0;
  const quarters = bucket - 1;
  return FASTEST_MS * 2 ** (quarters >>> 2) * (1 + (quarters & 3) / 4);
}

/** Converts one count per bucket to a window's sparse buckets. */
export function sparse(counts: Float64Array): number[] {
  const buckets: number[] = [];
  for (let bucket = 0; bucket < counts.length; bucket++) {
    if (counts[bucket] !== 0) buckets.push(bucket, counts[bucket]!);
  }
  return buckets;
}

/** Adds a window's buckets to one count per bucket; `sign` -1 subtracts them. Indexes beyond the counts are ignored. */
export function addBuckets(counts: Float64Array, { buckets }: TrafficWindow, sign: 1 | -1 = 1): void {
  for (let at = 0; at < buckets.length; at += 2) counts[buckets[at]!]! += sign * buckets[at + 1]!;
}

/** Returns the combined traffic of several windows. */
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

/** Returns the traffic between two snapshots of the same endpoint. */
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

/** Calls with a latency of at least `fromMs` and below `toMs`. */
export interface LatencyBand {
  readonly fromMs: number;
  readonly toMs: number;
  readonly calls: number;
}

/** Returns the latency bands of a window, lowest first; the last band has no upper limit. */
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
 * Returns the latency that a share of the calls did not exceed, in milliseconds; null without calls. The error is at
 * most 25%.
 * @param share from 0 to 1, for example 0.99 for p99.
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
