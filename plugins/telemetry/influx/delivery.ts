import { hostname } from 'node:os';
import type { Log } from '#contract';
import type { Snapshot } from '../metrics/stats.ts';
import { BatchWriter } from './batch.ts';
import type { InfluxServer } from './server.ts';

/** Characters of the batches that wait: they are sent in one write, and InfluxDB takes 25 MB. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Pause between two errors in the log while the server is down, in milliseconds. */
const LOG_MS = 60_000;

/** Longest time for what is pushed at the end, in milliseconds. */
const CLOSE_MS = 1000;

/** What a push is made with: that of the configuration that serves. */
export interface Target {
  readonly server: Pick<InfluxServer, 'write'>;
  readonly snapshot: () => Snapshot;
  /** Batches that may wait. */
  readonly bufferSize: number;
  readonly log: Log;
}

/** Batches on their way to InfluxDB, one push at a time. Those that it did not take wait for a push that succeeds. */
export class Delivery {
  readonly #writer = new BatchWriter(hostname());
  readonly #closing = new AbortController();
  /** Oldest first. */
  #waiting: string[] = [];
  #pushing: Promise<void> | null = null;
  /** When the log was last told that the server is down; null while it is not. */
  #failedAt: number | null = null;

  /** Where to; null before a configuration serves. */
  target: Target | null = null;

  /** Pushes what was counted. While a push goes on there is no other. Never rejects. */
  push(): Promise<void> {
    this.#pushing ??= this.#pushOnce().finally(() => {
      this.#pushing = null;
    });
    return this.#pushing;
  }

  /** Pushes what was counted since the last push, unless the server is down; gives up after a second. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    await this.#pushing;
    if (this.#failedAt === null && !this.#closing.signal.aborted) await this.push();
    clearTimeout(timer);
    this.#closing.abort();
    this.#waiting = [];
  }

  async #pushOnce(): Promise<void> {
    const { target } = this;
    if (!target) return;
    const batch = await this.#writer.print(target.snapshot());
    if (batch === '') return;
    if (!(await this.#write(batch, target))) return this.#keep([...this.#waiting, batch], target.bufferSize);
    const late = this.#waiting;
    if (late.length === 0) return;
    this.#waiting = [];
    if (!(await this.#write(late.join(''), target))) this.#keep(late, target.bufferSize);
  }

  /** The oldest give way. */
  #keep(batches: readonly string[], bufferSize: number): void {
    const kept = bufferSize === 0 ? [] : batches.slice(-bufferSize);
    let size = kept.reduce((sum, { length }) => sum + length, 0);
    while (size > MAX_WAITING) size -= kept.shift()!.length;
    this.#waiting = kept;
  }

  async #write(lines: string, { server, log }: Target): Promise<boolean> {
    const { signal } = this.#closing;
    try {
      await server.write(lines, signal);
      if (this.#failedAt !== null) log.info('The server accepts writes again');
      this.#failedAt = null;
      return true;
    } catch (error) {
      const now = performance.now();
      if (signal.aborted || (this.#failedAt !== null && now - this.#failedAt < LOG_MS)) return false;
      this.#failedAt = now;
      log.error(`Couldn't write to server: ${(error as Error).message || (error as NodeJS.ErrnoException).code}`);
      return false;
    }
  }
}
