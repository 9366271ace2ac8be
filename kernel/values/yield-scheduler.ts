import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work between two turns of the event loop, in milliseconds. */
const SLICE_MS = 0.5;

/**
 * Divides long work into short parts, so that requests go on being served.
 *
 * @example for (const item of items) { work(item); if (scheduler.due) await scheduler.yield(); }
 */
export class YieldScheduler {
  #since = performance.now();

  /** The event loop is due a turn. */
  get due(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everything else that waits have its turn. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
