import { hash } from 'node:crypto';
import { type Bucket, fullBucket, type Limit, take } from './token-bucket.ts';

interface ClientBucket extends Bucket {
  /** When the client was last seen, in milliseconds of the clock. */
  usedAt: number;
}

/** Clients counted at once. Beyond it those known longest are forgotten: memory has a bound under any flood. */
const MAX_CLIENTS = 1_000_000;

/** A longer identity, such as a token, is kept as its digest. */
const MAX_IDENTITY_LENGTH = 128;

/** Clients looked at by one turn of a sweep: well under a millisecond. */
const SWEEP_SLICE = 10_000;

/** One bucket for each client. About 200 bytes a client with a short identity. */
export class ClientBuckets {
  readonly #buckets = new Map<string, ClientBucket>();
  readonly #maxClients: number;

  constructor(maxClients = MAX_CLIENTS) {
    this.#maxClients = maxClients;
  }

  /** Clients counted. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Takes a token from a client's bucket.
   * @param idleMs a client not seen for so long starts with a full bucket again.
   * @returns 0 when a token was taken, else the milliseconds until there is one.
   */
  take(identity: string, limit: Limit, idleMs: number, now: number): number {
    const key = identity.length > MAX_IDENTITY_LENGTH ? hash('sha256', identity, 'base64url') : identity;
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      if (this.#buckets.size >= this.#maxClients) this.#forgetOldest();
      bucket = { ...fullBucket(), usedAt: now };
      // A copy of its own: a part of a header would hold on to the whole header.
      this.#buckets.set(Buffer.from(key).toString(), bucket);
    } else if (now - bucket.usedAt >= idleMs) {
      bucket.at = Number.NEGATIVE_INFINITY;
    }
    bucket.usedAt = now;
    return take(bucket, limit, now);
  }

  /** Forgets the clients not seen for `idleMs`, a slice at a time so that no request waits. */
  sweep(idleMs: number, now: number): void {
    this.#sweepSlice(idleMs, now, this.#buckets.entries());
  }

  #sweepSlice(idleMs: number, now: number, entries: MapIterator<[string, ClientBucket]>): void {
    for (let left = SWEEP_SLICE; left > 0; left--) {
      const { value: entry } = entries.next();
      if (!entry) return;
      if (now - entry[1].usedAt >= idleMs) this.#buckets.delete(entry[0]);
    }
    setImmediate(() => this.#sweepSlice(idleMs, now, entries)).unref();
  }

  #forgetOldest(): void {
    let left = Math.ceil(this.#maxClients / 16);
    for (const key of this.#buckets.keys()) {
      this.#buckets.delete(key);
      if (--left === 0) return;
    }
  }
}
