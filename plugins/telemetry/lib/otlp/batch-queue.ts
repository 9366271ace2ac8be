import { boundToOwner } from '#contract';
import { ExportError } from './export-error.ts';
import type { Outage } from './outage.ts';

/** Maximum number of items that wait to be sent; further ones are dropped and counted. A span takes about 2 KB, so 4 MB in all. */
const MAX_WAITING = 2048;
/** Items per batch: encoding a request with this many spans takes about a millisecond. */
const BATCH = 256;
/** Time for which an item waits for a batch to fill, in milliseconds. */
const DELAY_MS = 1000;
/** Pause before a batch is sent again, in milliseconds; doubled each time up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Collects items and sends them in batches, one at a time. Adding never waits. A batch that may be retried is sent
 * before all others; any other failed batch is dropped.
 */
export class BatchQueue<T> {
  readonly #send: (batch: readonly T[]) => Promise<void>;
  readonly #outage: Outage;
  readonly #unit: string;
  /** Batches are sent on behalf of the component that has opened the queue, not of the request whose item fills a batch. */
  readonly #start = boundToOwner(() => this.#sendNext());
  readonly #wait = boundToOwner((ms: number) => this.#arm(ms));
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #pauseMs = 0;
  #isClosed = false;

  /** @param send rejects with the reason of a failure. @param unit such as `spans`. */
  constructor(send: (batch: readonly T[]) => Promise<void>, outage: Outage, unit: string) {
    this.#send = send;
    this.#outage = outage;
    this.#unit = unit;
  }

  add(item: T): void {
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
      this.#outage.failed(this.#isClosed ? 'closed' : `more than ${MAX_WAITING} items are waiting`, 1, this.#unit);
      return;
    }
    this.#waiting.push(item);
    if (this.#sending || this.#pauseMs > 0) return;
    if (this.#waiting.length >= BATCH) this.#start();
    else this.#wait(DELAY_MS);
  }

  /** Sends waiting items for at most `mostMs` milliseconds; the rest is dropped. */
  async close(mostMs: number): Promise<void> {
    const end = performance.now() + mostMs;
    this.#isClosed = true;
    await within(mostMs, this.#sending);
    while (this.#waiting.length > 0 && performance.now() < end) {
      const before = this.#waiting.length;
      await within(end - performance.now(), this.#start());
      if (this.#waiting.length >= before) break;
    }
    this.#disarm();
    const left = this.#waiting.length;
    this.#waiting = [];
    if (left > 0) this.#outage.failed('closed before all items were sent', left, this.#unit);
  }

  #sendNext(): Promise<void> {
    this.#disarm();
    this.#sending ??= this.#sendBatch().finally(() => {
      this.#sending = null;
      if (!this.#isClosed && this.#waiting.length > 0) this.#wait(this.#pauseMs || this.#next());
    });
    return this.#sending;
  }

  #next(): number {
    return this.#waiting.length >= BATCH ? 0 : DELAY_MS;
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, BATCH);
    try {
      await this.#send(batch);
      this.#waiting.splice(0, batch.length);
      this.#pauseMs = 0;
      this.#outage.passed(this.#unit);
    } catch (error) {
      const isTransient = error instanceof ExportError && error.isTransient;
      if (!isTransient) this.#waiting.splice(0, batch.length);
      this.#pauseMs = isTransient ? Math.min(this.#pauseMs * 2 || FIRST_PAUSE_MS, LONGEST_PAUSE_MS) : 0;
      const reason = error instanceof Error ? error.message : String(error);
      this.#outage.failed(reason, isTransient ? 0 : batch.length, this.#unit);
    }
  }

  #arm(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#start();
    }, ms).unref();
  }

  #disarm(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Waits for some work, but no longer than `ms` milliseconds. */
export async function within(ms: number, work: Promise<unknown> | null): Promise<void> {
  if (!work) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
