import { hash } from 'node:crypto';
import { type Bucket, fullBucket, giveBack, type Limit, take, takeMore } from './token-bucket.ts';

interface ClientBucket extends Bucket {
  /** Time at which the client was last seen, in milliseconds of the clock. */
  usedAt: number;
}

/**
 * Maximum number of clients tracked at once. Beyond it the oldest entries are dropped, which limits the memory even
 * during an attack.
 */
const MAX_CLIENTS = 1_000_000;

/** A longer identity, such as a token, is stored as its digest. */
const MAX_IDENTITY_LENGTH = 128;

/** Number of clients checked in one step of a sweep, which takes about a millisecond. */
const SWEEP_SLICE = 2000;

/**
 * Number of maps. A single map of a million entries grows in steps of up to 100 ms; many small maps grow in short
 * steps. Must be a power of two.
 */
const SHARDS = 64;

type Shard = Map<string, ClientBucket>;

/** One token bucket per client. Uses about 180 bytes per client with a short identity. */
export class ClientBuckets {
  readonly #shards: (Shard | undefined)[] = new Array(SHARDS).fill(undefined);
  readonly #maxClients: number;
  #size = 0;

  constructor(maxClients = MAX_CLIENTS) {
    this.#maxClients = maxClients;
  }

  /** Number of tracked clients. */
  get size(): number {
    return this.#size;
  }

  /**
   * Takes a token from a client's bucket.
   * @param idleMs a client not seen for this long starts with a full bucket again.
   * @returns 0 when a token was taken, otherwise the milliseconds until one is available.
   */
  take(identity: string, limit: Limit, idleMs: number, now: number): number {
    const key = keyOf(identity);
    const index = shardOf(key);
    const bucket = this.#shards[index]?.get(key) ?? this.#admit(key, index, now);
    if (now - bucket.usedAt >= idleMs) bucket.at = Number.NEGATIVE_INFINITY;
    bucket.usedAt = now;
    return take(bucket, limit, now);
  }

  /** Takes up to `most` more tokens of a client, directly after a `take` that succeeded. */
  takeMore(identity: string, most: number): number {
    const bucket = this.#find(identity);
    return bucket ? takeMore(bucket, most) : 0;
  }

  /** Returns unused tokens of a client; those of a client no longer tracked are lost. */
  giveBack(identity: string, limit: Limit, tokens: number): void {
    const bucket = this.#find(identity);
    if (bucket) giveBack(bucket, limit, tokens);
  }

  #find(identity: string): ClientBucket | undefined {
    const key = keyOf(identity);
    return this.#shards[shardOf(key)]?.get(key);
  }

  /** Drops clients not seen for `idleMs`, a slice at a time so that no request waits. */
  sweep(idleMs: number, now: number): void {
    this.#sweepFrom(0, this.#shards[0]?.entries(), idleMs, now);
  }

  #admit(key: string, index: number, now: number): ClientBucket {
    this.#shards[index] ??= new Map();
    const shard = this.#shards[index];
    if (this.#size >= this.#maxClients) this.#forgetOldest(shard);
    const bucket = { ...fullBucket(), usedAt: now };
    // Copies the key, because a slice of a header would keep the whole header in memory.
    shard.set(Buffer.from(key).toString(), bucket);
    this.#size++;
    return bucket;
  }

  #sweepFrom(
    index: number,
    entries: MapIterator<[string, ClientBucket]> | undefined,
    idleMs: number,
    now: number,
  ): void {
    let shard = index;
    let rest = entries;
    for (let left = SWEEP_SLICE; left > 0; left--) {
      const entry = rest?.next().value;
      if (!entry) {
        if (++shard === SHARDS) return;
        rest = this.#shards[shard]?.entries();
      } else if (now - entry[1].usedAt >= idleMs) {
        this.#shards[shard]!.delete(entry[0]);
        this.#size--;
      }
    }
    setImmediate(() => this.#sweepFrom(shard, rest, idleMs, now)).unref();
  }

  #forgetOldest(shard: Shard): void {
    let left = Math.ceil(shard.size / 16);
    for (const key of shard.keys()) {
      if (left-- === 0) return;
      shard.delete(key);
      this.#size--;
    }
  }
}

function keyOf(identity: string): string {
  return identity.length > MAX_IDENTITY_LENGTH ? hash('sha256', identity, 'base64url') : identity;
}

/** Uses the last characters of an identity, because they differ most between identities. */
function shardOf(key: string): number {
  let sum = key.length;
  for (let at = key.length - 1, last = Math.max(0, at - 3); at >= last; at--) sum = (sum * 31 + key.charCodeAt(at)) | 0;
  return sum & (SHARDS - 1);
}
