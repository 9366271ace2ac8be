import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work between two turns of the event loop, in milliseconds. */
const SLICE_MS = 0.5;

/** What others have between two slices while they have something to do, in milliseconds. */
const REST_MS = 1;

/** A turn of the event loop that takes longer had something to do, in milliseconds. */
const IDLE_TURN_MS = 0.1;

/** For how long after such a turn others are taken to be at work, in milliseconds. */
const BUSY_MS = 20;

/** When work of this turn of the event loop first asked; null where none has. */
let began: number | null = null;
const nextBegins = (): void => {
  began = null;
};

/** When the event loop was last seen at work for others. */
let busyAt = Number.NEGATIVE_INFINITY;

/**
 * Divides long work into short parts, so that requests go on being served: while there are any, they have two thirds of the
 * time. There is one event loop, and so one of these: short work of several kinds, one after another, is long work.
 *
 * @example for (const item of items) { work(item); if (scheduler.due) await scheduler.yield(); }
 */
export const scheduler = {
  /** The event loop is due a turn. */
  get due(): boolean {
    const now = performance.now();
    if (began !== null) return now - began > SLICE_MS;
    began = now;
    setImmediate(nextBegins);
    return false;
  },

  /** Lets everything else that waits have its turn. */
  async yield(): Promise<void> {
    const before = performance.now();
    await nextTurn();
    const now = performance.now();
    if (now - before > IDLE_TURN_MS) busyAt = now;
    if (now - busyAt < BUSY_MS) await delay(REST_MS);
    began = null;
  },
};
