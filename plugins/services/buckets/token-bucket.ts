/** How many tokens a bucket holds, and up to which moment refills are counted. No limit is part of it. */
export interface Bucket {
  tokens: number;
  /** Milliseconds of the clock; `-Infinity` for a bucket nobody took from yet, which is full. */
  at: number;
}

/** What is asked of a bucket. */
export interface Limit {
  /** Tokens a full bucket holds, at least 1: the largest burst. */
  readonly capacity: number;
  /** Milliseconds after which one token more is there. */
  readonly refillMs: number;
}

/** The longest refill, for rates near 0: one token in 1e9 seconds. */
const LONGEST_REFILL_MS = 1e12;

/**
 * @param rate tokens for every `everyMs` milliseconds, above 0.
 * @param capacity 0 for the whole tokens of one second, or 1 when that is less than one.
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
 * Takes one token, after putting in those the time since the last call has earned. Parts of a refill are kept for
 * later; a full bucket keeps none, so that no burst exceeds the capacity.
 * @param now milliseconds of the clock.
 * @returns 0 when a token was taken, else the milliseconds until there is one.
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

/** Takes at most so many more, right after a `take` that got one. @returns how many. */
export function takeMore(bucket: Bucket, most: number): number {
  const taken = Math.min(most, bucket.tokens);
  bucket.tokens -= taken;
  return taken;
}

/** Puts back tokens that were not used; what the bucket has no room for is lost. */
export function giveBack(bucket: Bucket, limit: Limit, tokens: number): void {
  bucket.tokens = Math.min(bucket.tokens + tokens, limit.capacity);
}

/** Longest time of refills that one worker takes at once, in milliseconds. */
const BATCH_MS = 100;

/**
 * The tokens that one worker takes at once: a tenth of the capacity, at most what 100 ms of the rate give, at least 1. A
 * limit of less than 20 a second is asked for token by token.
 */
export function batchOf({ capacity, refillMs }: Limit): number {
  return Math.max(1, Math.floor(Math.min(capacity / 10, BATCH_MS / refillMs)));
}
