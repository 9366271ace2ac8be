import { boundToOwner, type Clock, type TokenPool } from '#contract';

/** Time for which a worker holds tokens, or remembers that none are available, in milliseconds. */
const HOLD_MS = 100;

/** Request of a worker to a token pool: the key, and the number of tokens to take; a negative number returns tokens. */
export type LeaseQuestion = [of: string, tokens: number];

/** Number of tokens granted, and, if 0, the time until the next token in milliseconds. */
export type LeaseReply = [tokens: number, waitMs: number];

/** Sends a request to the owner of the pool. */
export type RequestTokens = (question: LeaseQuestion) => Promise<LeaseReply>;

interface Waiting {
  resolve(waitMs: number): void;
  reject(error: Error): void;
}

interface Lease {
  tokens: number;
  /**
   * Time on the clock, in milliseconds, at which unused tokens of the lease are returned or, without tokens, the owner
   * can be asked again.
   */
  until: number;
  /** Time of the next token, as reported by the owner; 0 before the first request. */
  nextAt: number;
  /** Callers that wait for the owner's response; null while no request is pending. */
  waiting: Waiting[] | null;
}

/** A worker's tokens of one pool. Requests several at once from the owner, and releases unused ones. */
export class Leases {
  readonly #ask: RequestTokens;
  readonly #batch: number;
  readonly #clock: Clock;
  readonly #leases = new Map<string, Lease>();
  #sweeper: NodeJS.Timeout | null = null;
  /** The timer belongs to the component, not to the request that takes the first token. */
  readonly #startSweeper = boundToOwner(() => setInterval(() => this.#sweep(this.#clock.now()), HOLD_MS).unref());
  #isClosed = false;

  constructor(ask: RequestTokens, batch: number, clock: Clock) {
    this.#ask = ask;
    this.#batch = batch;
    this.#clock = clock;
  }

  /** Takes a token. @returns 0 if a token was available, otherwise the milliseconds until one is. */
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

  /** Releases unused tokens; no tokens are held from now on. */
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
      this.#sweeper ??= this.#startSweeper();
    }
    return lease;
  }

  /** Sends requests until every waiting caller has a token or a time to wait. */
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

  /** Removes expired leases. */
  #sweep(now: number): void {
    for (const [of, { tokens, until, waiting }] of this.#leases) {
      if (waiting !== null || now < until) continue;
      this.#leases.delete(of);
      // An error is ignored, because tokens that are not returned to the owner are refilled over time.
      if (tokens > 0) this.#ask([of, -tokens]).catch(() => {});
    }
    if (this.#leases.size > 0 || this.#sweeper === null) return;
    clearInterval(this.#sweeper);
    this.#sweeper = null;
  }
}

/** Handles requests of a worker to take or return tokens. */
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
