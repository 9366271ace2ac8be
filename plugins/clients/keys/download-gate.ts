import { DOWNLOAD_MS } from './key-server.ts';

/** Shortest interval between downloads for unknown names, and after a failed one, in milliseconds. */
const INTERVAL_MS = 5000;

/** Reason for a download, or its outcome. */
export type Requested = 'stale' | 'unknown' | 'done' | 'failed';

/** Returned while another worker is downloading. */
export const BUSY = -1;

/** Decides which worker may download a key set, and limits downloads of all workers, because clients can invent key names. */
export class DownloadGate {
  #unknownAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #busyUntil = Number.NEGATIVE_INFINITY;

  /** @returns 0 for permission to download, `BUSY`, or the milliseconds until the next attempt makes sense. */
  ask(requested: Requested, now: number): number {
    if (requested === 'done' || requested === 'failed') {
      this.#busyUntil = Number.NEGATIVE_INFINITY;
      if (requested === 'failed') this.#failedAt = now;
      return 0;
    }
    if (now < this.#busyUntil) return BUSY;
    const last = requested === 'unknown' ? Math.max(this.#unknownAt, this.#failedAt) : this.#failedAt;
    const wait = last + INTERVAL_MS - now;
    if (wait > 0) return wait;
    if (requested === 'unknown') this.#unknownAt = now;
    // Permission expires after a time, because the worker that has it may die before it reports.
    this.#busyUntil = now + 2 * DOWNLOAD_MS;
    return 0;
  }
}
