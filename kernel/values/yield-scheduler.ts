import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work between two turns of the event loop, in milliseconds: the longer requests take, the less they notice of it. */
const SLICE_MS = { least: 0.5, most: 3 };

/** As many times as long as a slice have requests between two of them. */
const REQUESTS_TIMES = 4;

/** What requests have between two slices at least, in milliseconds. */
const REST_MS = 1;

/** For how long after a request requests are taken to be served, in milliseconds. */
const BUSY_MS = 20;

/** When work of this turn of the event loop first asked; null where none has. */
let began: number | null = null;
const nextBegins = (): void => {
  began = null;
};

let sliceMs = SLICE_MS.least;

/** A request has come since that was last asked. */
let isAsked = false;
/** When that was last so. */
let askedAt = Number.NEGATIVE_INFINITY;

/**
 * Divides long work into short parts, so that requests go on being served: while some come, they have most of the time.
 * There is one event loop, and so one of these: short work of several kinds, one after another, is long work.
 *
 * @example for (const item of items) { work(item); if (scheduler.due) await scheduler.yield(); }
 */
export const scheduler = {
  /** The event loop is due a turn. */
  get due(): boolean {
    const now = performance.now();
    if (began !== null) return now - began > sliceMs;
    began = now;
    setImmediate(nextBegins);
    return false;
  },

  /** Lets everything else that waits have its turn. */
  async yield(): Promise<void> {
    const before = performance.now();
    await nextTurn();
    if (isAsked) askedAt = performance.now();
    isAsked = false;
    if (performance.now() - askedAt < BUSY_MS) await delay(REST_MS);
    const othersMs = performance.now() - before;
    sliceMs = Math.min(Math.max(othersMs / REQUESTS_TIMES, SLICE_MS.least), SLICE_MS.most);
    began = null;
  },

  /** A request has come. */
  noticeRequest(): void {
    isAsked = true;
  },
};
