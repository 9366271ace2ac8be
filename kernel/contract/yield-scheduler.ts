import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest stretch of work between two turns of the event loop, in milliseconds. */
const SLICE_MS = 4;

/**
 * Divides long work into short stretches, so that requests go on being served.
 *
 * @example for (const item of items) { work(item); if (slices.over) await slices.next(); }
 */
export class YieldScheduler {
  #since = performance.now();

  /** The present stretch has lasted long enough. */
  get over(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everything else that waits have its turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
