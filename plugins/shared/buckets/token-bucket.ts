/** State of a token bucket: the tokens it holds, and the time up to which refills are counted. Independent of any limit. */
export interface Bucket {
  tokens: number;
  /** Time up to which refills are counted, in milliseconds of the clock; `-Infinity` for an unused bucket, which is full. */
  at: number;
}

/** Capacity and refill rate of a bucket. */
export interface Limit {
  /** Tokens in a full bucket, at least 1: the largest burst. */
  readonly capacity: number;
  /** Milliseconds to refill one token. */
  readonly refillMs: number;
}

/** Longest refill interval, for rates near 0: one token in 1e9 seconds. */
const LONGEST_REFILL_MS = 1e12;

/**
 * @param rate tokens per `everyMs` milliseconds, above 0.
 * @param capacity maximum number of tokens; 0 means the tokens of one second, rounded down, but at least 1.
 */
export function limitOf(rate: number, everyMs: number, capacity: number): Limit {
  return {
    capacity: capacity > 0 ? capacity : Math.max(1, Math.floor((rate * 1000) / everyMs)),
    refillMs: Math.min(everyMs / rate, LONGEST_REFILL_MS),
  };
}

export function fullBucket(): Bucket {
  return { tokens: 0, at: Number.NEGATIVE_INFINITY };
}

/**
 * Takes one token, after adding those earned since the last call. Fractions of a refill are carried over, except in a
 * full bucket, so that no burst exceeds the capacity.
 * @param now milliseconds of the clock.
 * @returns 0 when a token was taken, otherwise the milliseconds until one is available.
 */
export function take(bucket: Bucket, limit: Limit, now: number): number {
  const refills = Math.floor((now - bucket.at) / limit.refillMs);
  const tokens = bucket.tokens + refills;
  if (tokens >= limit.capacity) {
    bucket.tokens = limit.capacity - 1;
    bucket.at = now;
    return 0;
  }
  bucket.at += refills * limit.refillMs;
  if (tokens < 1) return Math.max(bucket.at + limit.refillMs - now, Number.MIN_VALUE);
  bucket.tokens = tokens - 1;
  return 0;
}

/** Number of tokens that a bucket holds. @param now milliseconds of the clock. */
export function availableIn(bucket: Bucket, limit: Limit, now: number): number {
  return Math.min(limit.capacity, bucket.tokens + Math.floor((now - bucket.at) / limit.refillMs));
}

/** Takes up to `most` more tokens, directly after a `take` that succeeded. @returns the number taken. */
export function takeMore(bucket: Bucket, most: number): number {
  const taken = Math.min(most, bucket.tokens);
  bucket.tokens -= taken;
  return taken;
}

/** Returns unused tokens; those that exceed the capacity are lost. */
export function giveBack(bucket: Bucket, limit: Limit, tokens: number): void {
  bucket.tokens = Math.min(bucket.tokens + tokens, limit.capacity);
}

/** Longest refill time covered by one batch of a worker, in milliseconds. */
const BATCH_MS = 100;

/**
 * Batch size: the tokens that one worker takes at once. A tenth of the capacity, at most what the rate yields in 100
 * ms, at least 1. Limits below 20 per second are taken token by token.
 */
export function batchOf({ capacity, refillMs }: Limit): number {
  return Math.max(1, Math.floor(Math.min(capacity / 10, BATCH_MS / refillMs)));
}
