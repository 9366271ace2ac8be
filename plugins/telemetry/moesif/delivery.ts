import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Log } from '#contract';
import { type Outgoing, send } from '../lib/outgoing.ts';

/** Timeout for a push, in milliseconds. */
const PUSH_MS = 10_000;
/** Timeout for the last push on shutdown, in milliseconds. */
const CLOSE_MS = 5000;
/** Maximum size of the waiting events, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Minimum interval between two warnings of the same kind, in milliseconds. */
const WARN_MS = 60_000;

const compress = promisify(gzip);

export interface DeliveryOptions extends Outgoing {
  readonly url: string;
  readonly applicationId: string;
  /** Maximum number of events per push. */
  readonly batchSize: number;
  /** Maximum number of waiting events. */
  readonly queueSize: number;
  readonly log: Log;
  /** Logs every push at DEBUG. */
  readonly debug: boolean;
  /** Timeout for the last push on shutdown, in milliseconds. Default: 5 seconds. */
  readonly closeMs?: number;
  /** Timeout for a push, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number;
}

/** Delivers events to Moesif from a bounded queue, in batches, one push at a time. */
export class Delivery {
  options: DeliveryOptions;
  #events: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #pushing: Promise<void> | null = null;
  readonly #closing = new AbortController();
  /** Whether the last push failed. The next push then waits for the timer, regardless of how many events arrive. */
  #isDown = false;

  constructor(options: DeliveryOptions) {
    this.options = options;
  }

  /** Number of events dropped because the queue was full. */
  get dropped(): number {
    return this.#dropped;
  }

  add(event: string): void {
    const { batchSize, queueSize } = this.options;
    if (this.#events.length >= queueSize || this.#bytes + event.length > MAX_BYTES) {
      this.#drop();
      return;
    }
    this.#events.push(event);
    this.#bytes += event.length;
    if (this.#events.length >= batchSize && !this.#isDown) void this.flush();
  }

  /** Pushes the queued events. Never rejects; resolves when the queue is empty or a push has failed. */
  flush(): Promise<void> {
    this.#pushing ??= this.#pushAll().finally(() => {
      this.#pushing = null;
    });
    return this.#pushing;
  }

  /** Pushes the queued events. Stops waiting after the timeout. */
  async close(): Promise<void> {
    const { closeMs = CLOSE_MS } = this.options;
    const timer = setTimeout(() => this.#closing.abort(), closeMs);
    await this.flush();
    clearTimeout(timer);
  }

  async #pushAll(): Promise<void> {
    while (this.#events.length > 0) {
      const batch = this.#events.splice(0, this.options.batchSize);
      for (const event of batch) this.#bytes -= event.length;
      this.#isDown = !(await this.#push(batch));
      if (!this.#isDown) continue;
      this.#putBack(batch);
      return;
    }
  }

  /** @returns false if the push should be retried. */
  async #push(batch: readonly string[]): Promise<boolean> {
    const { options } = this;
    const { signal } = this.#closing;
    const { url, applicationId, log, debug, timeoutMs = PUSH_MS } = options;
    try {
      const headers = {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'x-moesif-application-id': applicationId,
      };
      const body = await compress(`[${batch.join(',')}]`);
      const statusCode = await send(url, { method: 'POST', headers, body, timeoutMs, signal }, options);
      if (statusCode >= 200 && statusCode <= 299) {
        if (debug) log.debug(() => `${batch.length} events pushed`);
        return true;
      }
      this.#fail(`status ${statusCode}`);
      return statusCode < 500 && statusCode !== 429;
    } catch (error) {
      this.#fail((error as Error).message || String((error as NodeJS.ErrnoException).code));
      return false;
    }
  }

  /** Events of a failed push are the oldest: they return to the front of the queue unless the queue is full. */
  #putBack(batch: string[]): void {
    const fitting = batch.filter((event) => {
      const fits =
        this.#events.length + batch.length <= this.options.queueSize && this.#bytes + event.length <= MAX_BYTES;
      if (fits) this.#bytes += event.length;
      else this.#drop();
      return fits;
    });
    this.#events = [...fitting, ...this.#events];
  }

  #drop(): void {
    this.#dropped++;
    const now = performance.now();
    if (now - this.#warnedAt < WARN_MS) return;
    this.#warnedAt = now;
    this.options.log.warning(`the queue of events is full: ${this.#dropped} dropped so far`);
  }

  #fail(reason: string): void {
    const now = performance.now();
    if (now - this.#failedAt < WARN_MS) return;
    this.#failedAt = now;
    this.options.log.error(`events cannot be pushed: ${reason}`);
  }
}
