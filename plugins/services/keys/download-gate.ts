import { DOWNLOAD_MS } from './key-server.ts';

/** Shortest time between two downloads for unknown names, and after one that failed, in milliseconds. */
const INTERVAL_MS = 5000;

/** Why a download is wanted, or how one has ended. */
export type Asked = 'stale' | 'unknown' | 'done' | 'failed';

/** Somebody else is downloading already. */
export const BUSY = -1;

/** Says who may download a key set, once for all workers: names of keys are the client's to invent. */
export class DownloadGate {
  #unknownAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #busyUntil = Number.NEGATIVE_INFINITY;

  /** @returns 0 for leave to download, `BUSY`, or the milliseconds until it is worth asking again. */
  ask(asked: Asked, now: number): number {
    if (asked === 'done' || asked === 'failed') {
      this.#busyUntil = Number.NEGATIVE_INFINITY;
      if (asked === 'failed') this.#failedAt = now;
      return 0;
    }
    if (now < this.#busyUntil) return BUSY;
    const last = asked === 'unknown' ? Math.max(this.#unknownAt, this.#failedAt) : this.#failedAt;
    const wait = last + INTERVAL_MS - now;
    if (wait > 0) return wait;
    if (asked === 'unknown') this.#unknownAt = now;
    // Whoever has leave may die with it.
    this.#busyUntil = now + 2 * DOWNLOAD_MS;
    return 0;
  }
}
