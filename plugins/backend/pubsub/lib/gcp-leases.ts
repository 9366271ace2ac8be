import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#contract';

/** Duration of a message lease, in seconds. */
export const LEASE_S = 60;
/** Interval at which leases are renewed, in milliseconds. */
const RENEWAL_MS = 20_000;
/** Maximum number of messages that one request acknowledges or returns. */
const BATCH = 1000;

/** Operations that acknowledge or return messages. Each rejects if the server has not performed it. */
export interface Settling {
  acknowledge(ackIds: string[]): Promise<unknown>;
  /** @param seconds new lease duration, starting now; 0 to redeliver the messages. */
  modifyAckDeadline(ackIds: string[], seconds: number): Promise<unknown>;
}

/**
 * Leases of received messages. They are renewed until a request takes the message. Acknowledgements and returns are
 * sent to the server as soon as it is connected, even over a different connection than the one that delivered the
 * message.
 */
export class Leases {
  readonly #log: () => Log | null;
  /** Expiry of each lease, in milliseconds of `performance.now()`. */
  readonly #held = new Map<string, number>();
  readonly #accepted = new Map<string, number>();
  readonly #returned = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #settling: Settling | null = null;
  #sending: Promise<void> | null = null;

  constructor(log: () => Log | null) {
    this.#log = log;
    this.#timer = setInterval(() => void this.#renew(), RENEWAL_MS).unref();
  }

  /** Sets the current connection to the server; null without one. */
  use(settling: Settling | null): void {
    this.#settling = settling;
    this.#flush();
  }

  add(ackId: string): void {
    this.#held.set(ackId, performance.now() + LEASE_S * 1000);
  }

  /** Whether the lease is still valid. Otherwise the server redelivers the message. */
  isHeld(ackId: string): boolean {
    return (this.#held.get(ackId) ?? 0) > performance.now();
  }

  /** Acknowledges a message. */
  accept(ackId: string): void {
    this.#settle(ackId, this.#accepted);
  }

  /** Returns a message for redelivery. */
  giveBack(ackId: string): void {
    this.#settle(ackId, this.#returned);
  }

  /** Sends pending acknowledgements and returns, for at most `ms` milliseconds. Messages whose acknowledgement is not sent by then are redelivered. */
  async end(ms: number): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    if (this.#sending) await Promise.race([this.#sending, pause(ms, undefined, { ref: false })]);
    this.#settling = null;
  }

  #settle(ackId: string, settled: Map<string, number>): void {
    const until = this.#held.get(ackId);
    if (until === undefined) return;
    this.#held.delete(ackId);
    settled.set(ackId, until);
    this.#flush();
  }

  #flush(): void {
    if (!this.#settling || this.#accepted.size + this.#returned.size === 0) return;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  /** Sends requests one at a time, each with all acknowledgements and returns since the last one. */
  async #send(): Promise<void> {
    // Collects the acknowledgements and returns of one turn of the event loop into a single request.
    await Promise.resolve();
    let isSent = true;
    while (isSent && this.#settling && this.#accepted.size + this.#returned.size > 0) {
      const settling = this.#settling;
      const both = await Promise.all([
        this.#sendSome(this.#accepted, (ids) => settling.acknowledge(ids)),
        this.#sendSome(this.#returned, (ids) => settling.modifyAckDeadline(ids, 0)),
      ]);
      isSent = both.every(Boolean);
    }
  }

  /** @returns false if the request failed. It is retried later, until the leases expire. */
  async #sendSome(settled: Map<string, number>, send: (ackIds: string[]) => Promise<unknown>): Promise<boolean> {
    const some = [...settled].slice(0, BATCH);
    if (some.length === 0) return true;
    for (const [ackId] of some) settled.delete(ackId);
    try {
      await send(some.map(([ackId]) => ackId));
      return true;
    } catch (error) {
      const now = performance.now();
      const left = some.filter(([, until]) => until > now);
      for (const [ackId, until] of left) settled.set(ackId, until);
      if (left.length < some.length && settled === this.#accepted) {
        const count = some.length - left.length;
        this.#log()?.warning(`${count} messages could not be acknowledged and will be redelivered: ${String(error)}`);
      }
      return false;
    }
  }

  async #renew(): Promise<void> {
    const now = performance.now();
    const ids: string[] = [];
    for (const [ackId, until] of this.#held) {
      if (until > now) ids.push(ackId);
      else this.#held.delete(ackId);
    }
    this.#flush();
    if (ids.length === 0) return;
    try {
      await this.#settling?.modifyAckDeadline(ids, LEASE_S);
    } catch {
      // If this fails, the leases are still valid: they are renewed at the next interval, or the messages are
      // redelivered.
      return;
    }
    if (this.#settling) for (const ackId of ids) if (this.#held.has(ackId)) this.#held.set(ackId, now + LEASE_S * 1000);
  }
}
