import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#contract';

/** How long the server leaves a message with the gateway unless that asks for more, in seconds. */
export const LEASE_S = 60;
/** How often more time is asked for, in milliseconds. */
const RENEWAL_MS = 20_000;
/** Messages that are settled by one request. */
const BATCH = 1000;

/** What settles messages; each function rejects where the server has not done it. */
export interface Settling {
  acknowledge(ackIds: string[]): Promise<unknown>;
  /** @param seconds from now on; 0 to have the messages handed over again. */
  modifyAckDeadline(ackIds: string[], seconds: number): Promise<unknown>;
}

/**
 * Messages that are with the gateway: their leases are renewed for as long as no request has taken them. What becomes of them
 * is told to the server as soon as there is one, also over another connection than the one they came by.
 */
export class Leases {
  readonly #log: () => Log | null;
  /** When each lease is over, in milliseconds of `performance.now()`. */
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

  /** By which the server is reached from now on; null while it is not. */
  use(settling: Settling | null): void {
    this.#settling = settling;
    this.#flush();
  }

  add(ackId: string): void {
    this.#held.set(ackId, performance.now() + LEASE_S * 1000);
  }

  /** False for a message whose lease is over: the server hands it over again. */
  isHeld(ackId: string): boolean {
    return (this.#held.get(ackId) ?? 0) > performance.now();
  }

  /** A message is done. */
  accept(ackId: string): void {
    this.#settle(ackId, this.#accepted);
  }

  /** A message is to be handed over again. */
  giveBack(ackId: string): void {
    this.#settle(ackId, this.#returned);
  }

  /** Tells the server what it has not been told, in some time; what it does not hear by then comes again. */
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

  /** One request after another, each with what has been settled meanwhile. */
  async #send(): Promise<void> {
    // What is settled at the same time goes together.
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

  /** @returns false where that failed: it is tried again later, for as long as the leases last. */
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
      // They last a while yet, and are renewed next time or handed over again.
      return;
    }
    if (this.#settling) for (const ackId of ids) if (this.#held.has(ackId)) this.#held.set(ackId, now + LEASE_S * 1000);
  }
}
