import type { Clock, TokenPool } from '#contract';

/** How long a worker holds tokens, or remembers that there are none, before it looks again, in milliseconds. */
const HOLD_MS = 100;

/** What a worker asks of a pool: whose tokens, and how many; below 0 it gives so many back. */
export type LeaseQuestion = [of: string, tokens: number];

/** How many tokens there were, and for none the milliseconds until there is one. */
export type LeaseReply = [tokens: number, waitMs: number];

/** Asks the owner of the pool. */
export type AskForTokens = (question: LeaseQuestion) => Promise<LeaseReply>;

interface Waiting {
  resolve(waitMs: number): void;
  reject(error: Error): void;
}

interface Lease {
  tokens: number;
  /** When its tokens are released, or without any the owner may be asked again: milliseconds of the clock. */
  until: number;
  /** When there is the next token, as the owner said; 0 when nobody asked yet. */
  nextAt: number;
  /** Those who wait for the answer of the owner; null while nothing is asked. */
  waiting: Waiting[] | null;
}

/** The tokens a worker has of one pool. It asks the owner for several at once, and releases what it does not use. */
export class Leases {
  readonly #ask: AskForTokens;
  readonly #batch: number;
  readonly #clock: Clock;
  readonly #leases = new Map<string, Lease>();
  #sweeper: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(ask: AskForTokens, batch: number, clock: Clock) {
    this.#ask = ask;
    this.#batch = batch;
    this.#clock = clock;
  }

  /** As of `TakeToken`. */
  take(of: string): number | Promise<number> {
    const lease = this.#leases.get(of) ?? this.#open(of);
    if (lease.tokens > 0) {
      lease.tokens -= 1;
      return 0;
    }
    if (lease.waiting === null) {
      const now = this.#clock.now();
      if (now < lease.nextAt && now < lease.until) return lease.nextAt - now;
    }
    return new Promise((resolve, reject) => {
      const isFirst = lease.waiting === null;
      lease.waiting ??= [];
      lease.waiting.push({ resolve, reject });
      if (isFirst) void this.#fill(of, lease, lease.waiting);
    });
  }

  /** Releases what is not used; from now on nothing is held. */
  close(): void {
    this.#isClosed = true;
    if (this.#sweeper) clearInterval(this.#sweeper);
    this.#sweeper = null;
    this.#sweep(Number.POSITIVE_INFINITY);
  }

  #open(of: string): Lease {
    const lease: Lease = { tokens: 0, until: 0, nextAt: 0, waiting: null };
    this.#leases.set(of, lease);
    if (!this.#isClosed) {
      this.#sweeper ??= setInterval(() => this.#sweep(this.#clock.now()), HOLD_MS).unref();
    }
    return lease;
  }

  /** Asks until everyone who waits has a token or is told to wait. */
  async #fill(of: string, lease: Lease, waiting: Waiting[]): Promise<void> {
    try {
      while (waiting.length > 0) {
        const wanted = this.#isClosed ? waiting.length : Math.max(this.#batch, waiting.length);
        const [tokens, waitMs] = await this.#ask([of, wanted]);
        const served = waiting.splice(0, tokens > 0 ? tokens : waiting.length);
        for (const { resolve } of served) resolve(waitMs);
        const now = this.#clock.now();
        lease.tokens = Math.max(0, tokens - served.length);
        lease.until = now + HOLD_MS;
        lease.nextAt = now + waitMs;
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error as Error);
      lease.until = 0;
    }
    lease.waiting = null;
    if (this.#isClosed) this.#sweep(Number.POSITIVE_INFINITY);
  }

  /** Forgets the leases that are over. */
  #sweep(now: number): void {
    for (const [of, { tokens, until, waiting }] of this.#leases) {
      if (waiting !== null || now < until) continue;
      this.#leases.delete(of);
      // What the owner does not hear of any more comes back with time.
      if (tokens > 0) this.#ask([of, -tokens]).catch(() => {});
    }
    if (this.#leases.size > 0 || this.#sweeper === null) return;
    clearInterval(this.#sweeper);
    this.#sweeper = null;
  }
}

/** Answers a worker that asks for tokens or gives some back. */
export function serveLease<T>(pool: TokenPool<T>): (value: T, question: LeaseQuestion) => LeaseReply {
  return (value, [of, tokens]) => {
    if (tokens < 0) {
      pool.giveBack(value, -tokens, of);
      return [0, 0];
    }
    const waitMs = pool.take(value, of);
    return waitMs > 0 ? [0, waitMs] : [1 + pool.takeMore(value, tokens - 1, of), 0];
  };
}
