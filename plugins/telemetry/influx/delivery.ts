import { hostname } from 'node:os';
import type { Log } from '#contract';
import type { Snapshot } from '../metrics/stats.ts';
import { BatchWriter } from './batch.ts';
import type { InfluxServer } from './server.ts';

/** Maximum size of the waiting batches, in characters: they are sent in one write, and InfluxDB accepts 25 MB. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Minimum interval between two logged errors while the server is down, in milliseconds. */
const LOG_MS = 60_000;

/** Timeout for the last push on shutdown, in milliseconds. */
const CLOSE_MS = 1000;

/** Settings of a push, from the active configuration. */
export interface Target {
  readonly server: Pick<InfluxServer, 'write'>;
  readonly snapshot: () => Snapshot;
  /** Maximum number of waiting batches. */
  readonly bufferSize: number;
  readonly log: Log;
}

/** Delivers batches to InfluxDB, one push at a time. Batches that InfluxDB did not accept wait for the next successful push. */
export class Delivery {
  readonly #writer = new BatchWriter(hostname());
  readonly #closing = new AbortController();
  /** Waiting batches, oldest first. */
  #waiting: string[] = [];
  #pushing: Promise<void> | null = null;
  /** Time at which the log last reported that the server is down; null while it is up. */
  #failedAt: number | null = null;

  /** Destination; null until a configuration is active. */
  target: Target | null = null;

  /** Pushes the counts. Does nothing while another push is running. Never rejects. */
  push(): Promise<void> {
    this.#pushing ??= this.#pushOnce().finally(() => {
      this.#pushing = null;
    });
    return this.#pushing;
  }

  /** Pushes the counts since the last push, unless the server is down. Stops waiting after one second. */
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

  /** Drops the oldest batches first. */
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
